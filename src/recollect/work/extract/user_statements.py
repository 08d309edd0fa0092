"""What the user states: corrections, preferences, conventions, decisions, warnings.

A sentence that asks, guesses or is merely polite is none of them; `cues` recognises the others.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import replace

from recollect.memory.judgement.statement import canonical, canonical_set
from recollect.memory.judgement.statement import parse as parse_statement
from recollect.memory.judgement.word_tables import COMMANDS, FAMILIES, PREDICATES, VERBS
from recollect.memory.write.forbidden import forbidden_commands
from recollect.model import Source
from recollect.text.lookalikes import has_mark
from recollect.text.sentences import clip, is_guess, is_question, prose, sentences, statement
from recollect.work.extract import cues
from recollect.work.extract.commands import parse
from recollect.work.extract.cues import Cue
from recollect.work.extract.observation import USER_CORRECTION, USER_INTENT, Observation, SeenTexts, relative
from recollect.work.transcripts.event import USER, Event
from recollect.work.transcripts.tools import EDIT, WRITE, command_of, family_of, path_of

_MAX_MESSAGE = 2000  # characters; longer ones are specifications and pastes
_MAX_OBSERVATIONS = 3  # from one message
_MAX_TOGETHER = 320  # characters of sentences that belong together
_PENDING = 16  # calls that wait for their answer
_MAX_REQUEST = 160  # characters of the request that a correction is about

_SLASH = re.compile(r"/(?!remember\b)[a-z][\w:-]*(?:\s|$)")  # a command to the host
_IN_CODE = re.compile(r"`|\w[._]\w|\w\(")
_PATH = re.compile(r"\w/\w|\w\.[a-z]{1,4}\b")
# "It should be short, but use the helper", "that is a bug, we never sort in place": what follows is an order or a rule of its own.
# "Use npm again, not pnpm" is as lasting as "use npm, not pnpm", and means no second time.
_BACK = re.compile(
    r"(\buse [\w.@/+-]{2,40})(?: again| after all)(?=,? (?:and not|not|instead of|rather than) [\w.@/+-])",
    re.I,
)
_BUT = re.compile(
    r",? but (?=(?:please |just |only )*(?:use|call|put|write|run|store|import|take|go through) )"
    r"|, (?=we (?:never|always|only|don'?t|do not) )",
    re.IGNORECASE,
)
_QUOTED = re.compile(r'"[^"]*"|“[^“”]*”')
_USE_TOOL = re.compile(r"(Use|Run|Call) ([\w.-]+?)(?: here| please| instead)?\.")
_REFUSED = "The user doesn't want to proceed with this tool use"  # as Claude Code tells its model
_PAUSE = re.compile(
    r"(?:wait|stop|hold on|not (?:now|yet)|later|let me|i'?ll do|skip|never ?mind|cancel)\b", re.IGNORECASE
)
_SHOULD = re.compile(r"(?:it|they|that|those|these) should\b", re.IGNORECASE)  # an order, not a guess
# It begins with a word for something that was said before.
_NAMES_NOTHING = re.compile(
    r"(?:it|it'?s|they|they're|that's|he|she)\b|(?:that|this|these|those) (?:is|are|was|were|ones?|needs?|has|have|goes|must|should)\b",
    re.IGNORECASE,
)
_HOW = re.compile(r"(?:always|never|only|not) ([a-z]+)\b", re.IGNORECASE)
_VERBS = canonical_set(PREDICATES | COMMANDS | VERBS)
_FAMILY = {tool: family for family, tools in FAMILIES.items() for tool in tools}


class UserStatements:
    """Reads the user's messages, together with what was asked and done before."""

    def __init__(self) -> None:
        self._seen = SeenTexts(similarity=0.8)
        self._worked = False  # the agent has said or done something
        self._asked = False  # the agent's last message asks something
        self._request = ""  # what the user asked for last
        self._request_order = 0
        self._program = ""  # that was run last
        self._file = ""  # that was edited last
        self._calls: dict[str, str] = {}  # what the agent is about to do, by call
        self._refused = ""  # what the user did not let it do, until they say why

    def read(self, event: Event) -> Iterator[Observation]:
        if event.is_call:
            self._worked = True
            self._calls[event.call] = _shown(event)
            if len(self._calls) > _PENDING:
                del self._calls[next(iter(self._calls))]
            if family_of(event) in (EDIT, WRITE) and (path := path_of(event)):
                self._file = relative(path, event.cwd)
            if (command := command_of(event)) and (heads := parse(command).heads):
                self._program = heads[0].split()[0]
        elif event.is_answer:
            if event.failed and event.text.startswith(_REFUSED):
                self._refused = self._calls.get(event.call, "")
            self._calls.pop(event.call, None)
        elif event.is_message and event.author != USER:
            self._worked = True
            self._refused = ""
            self._asked = "?" in event.text[-200:]
        elif event.is_message and _is_by_user(event):
            yield from self._read_message(event)

    def _read_message(self, event: Event) -> Iterator[Observation]:
        message: list[str] = []
        for part in (part for sentence in sentences(prose(event.text)) for part in _BUT.split(sentence)):
            if message and cues.REMEMBER_LAST.match(part):
                if self._match(message[-1]) is None:
                    message[-1] = f"{message[-1].rstrip(' .!')}, {part}"
            else:
                message.append(part)
        corrected = False
        observations = list(self._observations(message, event.order))
        if self._refused and not any(each.source is not Source.OBSERVED for each in observations):
            observations = list(self._instead_of_refused(message, event.order)) or observations
        self._refused = ""
        for observation in observations:
            if self._seen.add(observation.content.rpartition("”")[2]):
                corrected = corrected or USER_CORRECTION in observation.signals
                yield observation
        request = cues.POLITE.sub("", " ".join(message))
        if not corrected and len(_content_words(request)) >= 2:
            self._request, self._request_order = request, event.order

    def quoted(self, text: str, order: int) -> Iterator[Observation]:
        """Yield the rules in a message of the user that an agent quotes, where its surroundings are not known."""
        self._worked = True
        for observation in self._observations(sentences(prose(text)), order):
            if observation.source is not Source.OBSERVED and self._seen.add(observation.content):
                yield replace(observation, source=Source.EXTRACTED, importance=0.7, confidence=0.6)

    def _observations(self, message: list[str], order: int) -> Iterator[Observation]:
        message = [_BACK.sub(r"\1", part) for sentence in message for part in _without_rejected(sentence)]
        made = at = 0
        unread = ""  # the sentence before, if it matched nothing
        while at < len(message) and made < _MAX_OBSERVATIONS:
            sentence, after = message[at], message[at + 1] if at + 1 < len(message) else ""
            before = cues.POLITE.sub("", " ".join(message[:at]))
            context = before if len(_content_words(before)) >= 2 else ""
            at += 1
            instead = self._instead_of_rejected(sentence, after)
            if instead:
                at += 1
            elif after and cues.REFUSAL.match(sentence):
                if not (cues.GOES_ON.match(after) or self._match(after) or _is_general_fact(after)):
                    continue
                sentence, at = f"no, {after}", at + 1
            elif cues.REPROACH.match(sentence) and cues.GOES_ON.match(after):
                sentence, context, at = f"no, {after}", sentence, at + 1
            early = at == 1 or len(message) <= 3
            match = instead or self._match(sentence, early) or self._other_tool(sentence)
            if match is None:
                unread = sentence
                continue
            cue, text = match
            if cues.DIFFERS.search(text) and at < len(message) and cues.TO_BE_CHANGED.match(message[at]):
                at, unread = at + 1, ""
                continue
            explains = cue.standing and cue.after_work and cues.ORDER.match(unread)
            if unread and (explains or _NAMES_NOTHING.match(text)):
                text = f"{statement(unread)} {statement(text)}"
            unread = ""
            while cue.follow and at < len(message) and _goes_on(message[at], text):
                following = self._match(message[at])
                if following is not None and following[0].standing:  # "no X for this. everything goes on Y"
                    cue = replace(cue, standing=True)
                text, at = f"{statement(text)} {statement(message[at])}", at + 1
            observation = self._observation(cue, text, context, order)
            if observation is not None:
                made += 1
                yield observation

    def _instead_of_rejected(self, sentence: str, after: str) -> tuple[Cue, str] | None:
        """Return what is right, for "not anyhow. library crates have an enum of their own"."""
        rejects = cues.REJECTS.match(cues.POLITE.sub("", sentence))
        if not (rejects and after and self._worked) or is_question(after) or is_guess(after):
            return None
        name, order = rejects["name"].rstrip("."), _USE_TOOL.fullmatch(statement(after))
        if order and _are_rivals(order[2], name):
            return replace(cues.PLAIN_FACT, follow=False), f"{order[1]} {order[2]}, not {name}"
        match = self._match(after)
        if match and match[0].standing:
            return replace(match[0], kind="correction", follow=True), f"not {name}: {match[1]}"
        if _is_project_fact(after):
            return cues.PLAIN_FACT, f"not {name}: {after}"
        return None

    def _instead_of_refused(self, message: list[str], order: int) -> Iterator[Observation]:
        """Yield why the user refused a call and what they want instead, with the call as its subject."""
        words = cues.POLITE.sub("", " ".join(statement(sentence) for sentence in message))
        if is_question(message[0] if message else "") or cues.MOMENTARY.search(words):
            return
        if len(_content_words(words)) < 3 or _PAUSE.match(words):
            return
        yield Observation(
            kind="correction",
            content=f"Instead of {self._refused}: {clip(words, _MAX_TOGETHER)}",
            source=Source.OBSERVED,
            first=order,
            last=order,
            importance=0.7,
            confidence=0.8,
            signals=frozenset({USER_CORRECTION}),
        )

    def _match(self, sentence: str, early: bool = False) -> tuple[Cue, str] | None:
        bare = cues.POLITE.sub("", sentence)
        if is_guess(bare) or cues.REPORTED.match(bare):
            return None
        if cues.PRAISE.search(bare) and len(bare.split()) <= 6:
            return None
        unquoted = _QUOTED.sub('""', bare)
        if not self._worked and (order := _choice_of_tool(bare)):
            return replace(cues.REFUSES, standing=True, follow=False), order
        if reminder := cues.REMINDER.search(bare):
            said = bare[: reminder.start()].rstrip(" ,;–—-")
            if other := self._match(said, early):
                return other
            if cues.PASSING.match(said) or cues.MOMENTARY.search(said):
                return None  # something to do, or a feature that remembers
        for cue in cues.CUES:
            if (cue.after_work and not self._worked) or (cue.early and not early):
                continue
            match = cue.pattern.search(bare)
            if (
                match is None
                or not cue.pattern.search(unquoted)
                or (cue.reasoned and not cues.REASON.search(bare))
            ):
                continue
            if is_question(bare) and not cue.asks:
                return None
            text = cues.COURTESY.sub("", cues.POLITE.sub("", match.groupdict().get("rest") or bare))
            if cue.lasting and cues.OF_NOW.search(text):
                continue
            if cue.standing and cues.REPORT.search(text):
                return None
            inner = self._match(text) if cue is cues.REFUSES else None
            if inner is None and cue.states and _is_general_fact(text):
                return cues.PLAIN_FACT, text
            if cue is cues.REFUSES:
                if inner is None and self._asked:
                    return None  # the answer to a question
                if inner is not None:
                    return replace(inner[0] if inner[0].standing else cue, kind=cue.kind), inner[1]
            return cue, text
        return None

    def _observation(self, cue: Cue, text: str, context: str, order: int) -> Observation | None:
        """Return the observation: a rule in the user's own words if it is clear by itself.

        Otherwise it is about the current work, and told with what the message says before, or with the last request.
        """
        if is_question(text) or (not cue.standing and cues.MOMENTARY.search(text)):
            return None
        if len(_content_words(cues.CHOICE.sub("", text))) < (1 if cue.about or cue.terse else 2):
            return None
        if cue.standing and _NAMES_NOTHING.match(text):
            return None
        content, first = self._instead_of_last(statement(text)), order
        in_file = bool(cue.after_work and self._file and _IN_CODE.search(text))
        is_rule = content != statement(text) or _stands_alone(cue, text, in_file)
        if is_rule and _is_dangling(text):
            if not self._file:
                return None
            is_rule, in_file = False, True
        if not is_rule and in_file and not cue.about and len(text.split()) >= 4:
            content = f"In `{self._file}`: {content}" if self._file not in text else content
        elif not is_rule:
            if context or self._request:
                where = f" (`{self._file}`)" if self._file else ""
                first = order if context else self._request_order
                content = f"About “{clip(context or self._request, _MAX_REQUEST)}”{where}: {content}"
            elif len(_content_words(text)) < 4:
                return None
        corrects = cue.kind == "correction" and self._worked
        kind = cue.kind
        if kind == "correction" and not corrects:  # nothing was done yet that it could correct
            kind = "preference" if cue.standing else "decision"
        if cue.standing and is_rule and forbidden_commands(content):
            kind = "negative"  # it stops an agent, instead of only being told
        signals = {USER_INTENT: cue.standing, USER_CORRECTION: corrects}
        source = Source.USER_CORRECTED if corrects else Source.USER_STATED
        return Observation(
            kind=kind,
            content=content,
            # Whether it counts as the user's word is decided when it is stored: `sessions.Sessions._promote`.
            source=source if is_rule else Source.OBSERVED,
            first=first,
            last=order,
            importance=0.6 if not is_rule else 0.8 if corrects else 0.7,
            confidence=0.9 if cue.standing else 0.8,
            signals=frozenset(name for name, holds in signals.items() if holds),
            file_paths=(self._file,) if self._file and (in_file or self._file in content) else (),
        )

    def _other_tool(self, sentence: str) -> tuple[Cue, str] | None:
        """Return a correction for a bare `use pnpm` if npm was run just before."""
        order = statement(cues.POLITE.sub("", sentence))
        return (cues.OTHER_TOOL, order) if self._instead_of_last(order) != order else None

    def _instead_of_last(self, order: str) -> str:
        """Return `Use pnpm, not npm.` for `Use pnpm.` after npm was run."""
        match = _USE_TOOL.fullmatch(order)
        if match and self._program != match[2] and _are_rivals(match[2], self._program):
            return f"{match[1]} {match[2]}, not {self._program}."
        return order


def _are_rivals(one: str, other: str) -> bool:
    """Return whether two tools do the same."""
    family = _FAMILY.get(one.lower())
    return family is not None and family == _FAMILY.get(other.lower())


def _without_rejected(sentence: str) -> list[str]:
    """Return "not anyhow, library crates have …" as two sentences; others as they are."""
    rejects = cues.REJECTS.match(cues.POLITE.sub("", sentence))
    if rejects and rejects["next"] and _is_project_fact(rejects["next"]):
        return [f"not {rejects['name']}", rejects["next"]]
    return [sentence]


def _is_project_fact(text: str) -> bool:
    """Return whether it states what holds in the project, not how the work of the moment is doing."""
    begins = " ".join(text.split()[:6])
    return (
        bool(cues.PROJECT_FACT.match(text))
        and len(text.split()) >= 5
        and not (is_question(text) or is_guess(text) or cues.POINTING.search(begins))
        and not (cues.OF_NOW.search(text) or cues.COMPLAINT.search(text) or cues.MOMENTARY.search(text))
        and not cues.REPORT.search(text)
    )


def _is_general_fact(text: str) -> bool:
    return bool(cues.IN_GENERAL.search(text)) and _is_project_fact(text)


def _is_dangling(text: str) -> bool:
    """Return whether it speaks of "these devices" and has not named them."""
    return any(
        found["noun"][:5].lower() not in text[: found.start()].lower()
        for found in cues.DANGLING.finditer(text)
    )


def _choice_of_tool(sentence: str) -> str | None:
    """Return the order in "No, use pnpm, not npm", which says what it is about also at the start of a session."""
    match = cues.REFUSES.pattern.search(sentence)
    order: str = match["rest"] if match else ""
    return order if cues.CHOICE_OF_TOOL.match(order) else None


def _shown(call: Event) -> str:
    """Return what a call was about to do, in a few words."""
    if command := command_of(call):
        return f"`{clip(' '.join(command.split()), 100)}`"
    if path := path_of(call):
        return f"changing `{relative(path, call.cwd)}`"
    plan = str(call.input.get("plan") or "").strip().partition("\n")[0].strip("# ")
    return f"the plan “{clip(plan, 80)}”" if plan else ""


def _is_by_user(event: Event) -> bool:
    """Return whether the user wrote it, not a host or an agent to its sub-agent, and it is no document."""
    return not (
        event.injected
        or event.agent
        or has_mark(event.text)
        or len(event.text) > _MAX_MESSAGE
        or _SLASH.match(event.text)
    )


def _goes_on(sentence: str, before: str) -> bool:
    """Return whether a sentence continues a correction rather than starting the next task."""
    guesses = is_guess(sentence) and not _SHOULD.match(sentence)
    if is_question(sentence) or guesses or len(before) + len(sentence) > _MAX_TOGETHER:
        return False
    if _names_again(sentence, before) and _is_project_fact(sentence):
        return True
    return bool(cues.GOES_ON.match(sentence)) or _has_no_verb(sentence)


def _names_again(sentence: str, before: str) -> bool:
    """Return whether the subject of a sentence was named before it."""
    words = _content_words(" ".join(sentence.split()[:2]))
    return bool(words) and words[0] in _content_words(before)


def _has_no_verb(sentence: str) -> bool:
    """Return whether a sentence says how without saying what, as the one before does: "always with a reason"."""
    match = _HOW.match(sentence)
    return match is not None and canonical(match[1].lower()) not in _VERBS


def _stands_alone(cue: Cue, text: str, in_file: bool) -> bool:
    """Return whether it is a rule that is understood without the work that it was said about."""
    if cue.standing:
        return True
    beginning = " ".join(sentences(text)[0].split()[:6])
    if cues.POINTING.search(beginning) or cues.OPEN_END.search(text) or len(_content_words(text)) < 2:
        return False
    tokens = parse_statement(text).tokens.values()
    if not cues.PREDICATE.search(text) and all(token.in_subject for token in tokens):
        return False
    if cues.CONTRAST.search(text):  # it names what is meant, and what is not
        return True
    if cue.about:
        return bool(_PATH.search(text))
    return not in_file and (len(text.split()) >= 10 if cue.terse else True)


def _content_words(text: str) -> list[str]:
    words = (word.strip("'`./-").replace("'", "") for word in re.findall(r"[\w'`./-]+", text.lower()))
    return [word for word in words if word and word not in cues.FILLER]
