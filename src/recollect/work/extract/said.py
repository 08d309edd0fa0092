"""What the person says: corrections, preferences, conventions, decisions, warnings.

A sentence that asks, guesses or is merely polite is none of them; `cues` says what the others are.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import replace

from recollect.memory.write.word_tables import FAMILIES
from recollect.model import INJECTED_MARK, Source
from recollect.text.sentences import clip, is_guess, is_question, prose, sentences, statement
from recollect.work.extract import cues
from recollect.work.extract.commands import parse
from recollect.work.extract.cues import Cue
from recollect.work.extract.known import Known
from recollect.work.extract.note import USER_CORRECTION, USER_INTENT, Note
from recollect.work.extract.places import within
from recollect.work.transcripts.event import USER, Event
from recollect.work.transcripts.tools import EDIT, WRITE, command_of, family_of, path_of

_MAX_SAID = 2000  # characters; longer ones are specifications and pastes
_MAX_NOTES = 3  # from one message
_MAX_TOGETHER = 320  # characters of sentences that belong together
_BESIDE = 160  # characters of the request that a correction is about

_SLASH = re.compile(r"/(?!remember\b)[a-z][\w:-]*(?:\s|$)")  # an order to the host
_IN_CODE = re.compile(r"`|\w[._]\w|\w\(")
_USE_TOOL = re.compile(r"(Use|Run|Call) ([\w.-]+?)(?: here| please| instead)?\.")
_FAMILY = {tool: family for family, tools in FAMILIES.items() for tool in tools}


class Said:
    """Reads what the person says, beside what was asked and done before."""

    def __init__(self) -> None:
        self._known = Known(alike=0.8)
        self._worked = False  # the agent has said or done something
        self._asked = False  # the agent put a question last
        self._request = ""  # the last thing the person asked for
        self._request_order = 0
        self._program = ""  # what was run last
        self._file = ""  # what was edited last

    def see(self, event: Event) -> Iterator[Note]:
        if event.is_call:
            self._worked = True
            if family_of(event) in (EDIT, WRITE) and (path := path_of(event)):
                self._file = within(path, event.cwd)
            if (command := command_of(event)) and (heads := parse(command).heads):
                self._program = heads[0].split()[0]
        elif event.is_message and event.author != USER:
            self._worked = True
            self._asked = "?" in event.text[-200:]
        elif event.is_message and _is_spoken(event):
            yield from self._hear(event)

    def _hear(self, event: Event) -> Iterator[Note]:
        said = sentences(prose(event.text))
        corrected = False
        for note in self._notes(said, event.order):
            if self._known.add(note.content.rpartition("”")[2]):
                corrected = corrected or USER_CORRECTION in note.signals
                yield note
        request = cues.POLITE.sub("", " ".join(said))
        if not corrected and len(_telling_words(request)) >= 2:
            self._request, self._request_order = request, event.order

    def _notes(self, said: list[str], order: int) -> Iterator[Note]:
        made = at = 0
        while at < len(said) and made < _MAX_NOTES:
            sentence, after = said[at], said[at + 1] if at + 1 < len(said) else ""
            before = cues.POLITE.sub("", " ".join(said[:at]))
            beside = before if len(_telling_words(before)) >= 2 else ""
            at += 1
            if after and cues.REFUSAL.match(sentence):
                if not (cues.GOES_ON.match(after) or self._match(after)):
                    continue
                sentence, at = f"no, {after}", at + 1
            elif cues.REPROACH.match(sentence) and cues.GOES_ON.match(after):
                sentence, beside, at = f"no, {after}", sentence, at + 1
            found = self._match(sentence, early=at == 1 or len(said) <= 3) or self._other_tool(sentence)
            if found is None:
                continue
            cue, text = found
            while cue.follow and at < len(said) and _goes_on(said[at], text):
                text, at = f"{statement(text)} {statement(said[at])}", at + 1
            note = self._note(cue, text, beside, order)
            if note is not None:
                made += 1
                yield note

    def _match(self, sentence: str, early: bool = False) -> tuple[Cue, str] | None:
        bare = cues.POLITE.sub("", sentence)
        if is_guess(bare) or (cues.PRAISE.search(bare) and len(bare.split()) <= 6):
            return None
        for cue in cues.CUES:
            if (cue.after_work and not self._worked) or (cue.early and not early):
                continue
            match = cue.pattern.search(bare)
            if match is None or (cue.reasoned and not cues.REASON.search(bare)):
                continue
            if is_question(bare) and not cue.asks:
                return None
            text = match.groupdict().get("rest") or bare
            if cue is cues.REFUSES:
                inner = self._match(text)
                if inner is None and self._asked:
                    return None  # the answer to a question
                if inner is not None and inner[0].standing:
                    return replace(inner[0], kind=cue.kind), inner[1]
            return cue, text
        return None

    def _note(self, cue: Cue, text: str, beside: str, order: int) -> Note | None:
        """`beside` is what was said just before, in the same message; else the last request is."""
        if is_question(text) or (not cue.standing and cues.MOMENTARY.search(text)):
            return None
        if len(_telling_words(cues.CHOICE.sub("", text))) < (1 if cue.about or cue.terse else 2):
            return None
        content, first = self._instead_of_last(statement(text)), order
        if content == statement(text) and _leans(cue, text):
            if beside or self._request:
                where = f" (`{self._file}`)" if self._file else ""
                first = order if beside else self._request_order
                content = f"About “{clip(beside or self._request, _BESIDE)}”{where}: {content}"
            elif len(_telling_words(text)) < 4:
                return None
        elif cue.after_work and self._file and _IN_CODE.search(text) and self._file not in text:
            content = f"In `{self._file}`: {content}"
        corrects = cue.kind == "correction" and self._worked
        kind = cue.kind
        if kind == "correction" and not corrects:  # nothing was done yet that it could correct
            kind = "preference" if cue.standing else "decision"
        signals = {USER_INTENT: cue.standing, USER_CORRECTION: corrects}
        return Note(
            kind=kind,
            content=content,
            source=Source.USER_CORRECTED if corrects else Source.USER_STATED,
            first=first,
            last=order,
            importance=0.8 if corrects else 0.7,
            confidence=0.9 if cue.standing else 0.8,
            signals=frozenset(name for name, holds in signals.items() if holds),
            file_paths=(self._file,) if self._file and self._file in content else (),
        )

    def _other_tool(self, sentence: str) -> tuple[Cue, str] | None:
        """A bare `use pnpm`, where npm was run just before, corrects."""
        order = statement(cues.POLITE.sub("", sentence))
        return (cues.OTHER_TOOL, order) if self._instead_of_last(order) != order else None

    def _instead_of_last(self, order: str) -> str:
        """`Use pnpm.` after npm was run is `Use pnpm, not npm.`"""
        match = _USE_TOOL.fullmatch(order)
        if match and self._program != match[2]:
            family = _FAMILY.get(match[2].lower())
            if family and family == _FAMILY.get(self._program):
                return f"{match[1]} {match[2]}, not {self._program}."
        return order


def _is_spoken(event: Event) -> bool:
    """Whether a person said it: not a host, not an agent to its sub-agent, and not a document."""
    return not (
        event.injected
        or event.agent
        or INJECTED_MARK in event.text
        or len(event.text) > _MAX_SAID
        or _SLASH.match(event.text)
    )


def _goes_on(sentence: str, before: str) -> bool:
    """Whether a sentence goes on with a correction rather than with the next piece of work."""
    if is_question(sentence) or is_guess(sentence) or len(before) + len(sentence) > _MAX_TOGETHER:
        return False
    return bool(cues.GOES_ON.match(sentence))


def _leans(cue: Cue, text: str) -> bool:
    """Whether it is understood only beside the request."""
    words = text.split()
    if cue.standing:
        return False
    return (
        cue.about or len(words) < (10 if cue.terse else 4) or bool(cues.POINTING.search(" ".join(words[:6])))
    )


def _telling_words(text: str) -> list[str]:
    words = (word.strip("'`./-").replace("'", "") for word in re.findall(r"[\w'`./-]+", text.lower()))
    return [word for word in words if word and word not in cues.FILLER]
