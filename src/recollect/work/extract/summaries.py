"""What an agent writes down for itself when its conversation is compacted: the host's summary, read as the agent's words."""

from __future__ import annotations

import re
from collections.abc import Iterator

from recollect.model import INJECTED_MARK, Source
from recollect.text.sentences import clip, is_guess, is_question, statement
from recollect.work.extract.observation import RESOLVED_ERROR, Observation, SeenTexts, stems_of
from recollect.work.extract.user_statements import UserStatements
from recollect.work.transcripts.event import ASSISTANT, Event

_MAX_SUMMARY = 60_000  # characters
_MAX_POINT = 400
_MOST = 12  # from one summary

_SUMMARY = re.compile(r"<summary>|^(?:This session is being continued|<state_snapshot>)|\bSummary:\s*\n")
_ANALYSIS = re.compile(r"<analysis>.*?(?:</analysis>|\Z)", re.DOTALL)
_HEADING = re.compile(
    r"^\s*(?:#{1,4}\s*|\*\*)?(?:\d+\.\s+)?([A-Z][A-Za-z &/]{3,40}?)(?:\*\*)?:?(?:\*\*)?\s*$"
)
_POINT = re.compile(r"^\s*[-*•]\s+(.*)$")
_ERRORS = re.compile(r"errors? (?:and|&) fix|errors? encountered|problems? (?:and|&) fix", re.IGNORECASE)
_KNOWLEDGE = re.compile(
    r"problem solving|key technical concepts|key knowledge|gotchas|lessons", re.IGNORECASE
)
_USER_MESSAGES = re.compile(r"\b(?:all )?user(?:'s)? messages\b", re.IGNORECASE)
_IN_QUOTES = re.compile(r"""[^"“]{0,40}["“](.{1,2000})["”][^"“]{0,40}$""", re.DOTALL)
# What somebody who comes later has to do, or must not do.
_LASTING = re.compile(
    r"""\b(?:must|cannot|can't|can\snot|never|always|has\sto|have\sto|needs?\sto|requires?|only|should\s(?:always|never)|do(?:es)?\snot|don't|doesn't|to\savoid|instead\sof
        |because|so\sthat|unless)\b""",
    re.VERBOSE | re.IGNORECASE,
)
# Slips of the moment, mended by writing what was missing.
_SLIP = re.compile(
    r"""\bundefined\s(?:function|variable|method|symbol)|\bnot\sdefined\b|\btypo\b|\bmisspel|\bsyntax\serror|\bexpected\sduring\b|\bunused\s(?:variable|import)
        |\bcompile\serrors?\sfor\smissing|\bbefore\sdefining|\bforgot\b|\bport\b.{0,20}\bin\suse\b|\baccidental""",
    re.VERBOSE | re.IGNORECASE,
)
_TODAY = re.compile(
    r"\b(?:in[ _]progress|pending|not yet|still needs?|next step|todo|all \d+ tests|\d+ tests pass)\b",
    re.IGNORECASE,
)
# A point that tells what the user said: `User: "…"`, "user feedback: …", "the user prefers …".
_USER_SAID = re.compile(
    r"""\b(?:the\s)?user(?:'s)?(?:\s(?:feedback|correction|said|says|asked|noted|wrote|explained|clarified|instruction|reply|comment))?\s*[:–—]\s*["“]?
        (?P<said>[^"”]{8,})""",
    re.VERBOSE | re.IGNORECASE,
)
_OF_USER = re.compile(
    r"\buser(?:'s)? (?:feedback|correction|prefer|want|ask|said|says|insist|correct|point|request|clarif)|\buser:",
    re.IGNORECASE,
)
_SHARED = 3  # words with a rule of the user, in a point that repeats it
_SHARE = 0.4  # of the words of that rule
_NAME = re.compile(r"`([^`\n]{4,})`")
_BOLD = re.compile(r"\*\*(.+?)\*\*")


class CompactionSummaries:
    """Reads the errors with their fixes, lasting constraints and what the user said, in the summary of a compaction."""

    def __init__(self) -> None:
        self._seen = SeenTexts(similarity=0.6)
        self._users = UserStatements()
        self._rules: list[set[str]] = []  # the words of each rule that the user is quoted with

    def read(self, event: Event) -> Iterator[Observation]:
        if not is_summary(event):
            return
        points = list(_points(_ANALYSIS.sub("", event.text[:_MAX_SUMMARY])))
        errors = [(point, True) for section, point in points if _ERRORS.search(section)]
        others = [(point, False) for section, point in points if _KNOWLEDGE.search(section)]
        for section, point in points:
            if _USER_MESSAGES.search(section) and (quoted := _IN_QUOTES.match(point)):
                yield from self._quoted(quoted[1], event.order)
        made = 0
        named: set[str] = set()  # names in code; what is said of them again repeats the error
        for point, is_error in (*errors, *others):
            text = _BOLD.sub(r"\1", point).strip()
            names = set(_NAME.findall(text))
            if made >= _MOST or not _is_kept(text, is_error) or (not is_error and names & named):
                continue
            if said := _USER_SAID.search(text):
                yield from self._quoted(said["said"], event.order)
            if (_OF_USER.search(text) and self._is_ruled(text)) or not self._seen.add(text):
                continue
            made += 1
            named |= names
            yield Observation(
                kind="error_pattern" if is_error else "fact",
                content=clip(statement(text), _MAX_POINT),
                source=Source.EXTRACTED,
                first=event.order,
                last=event.order,
                importance=0.7,
                confidence=0.6,
                signals=frozenset({RESOLVED_ERROR}),
            )

    def _quoted(self, said: str, order: int) -> Iterator[Observation]:
        for rule in self._users.quoted(said, order):
            self._rules.append(stems_of(rule.content))
            yield rule

    def _is_ruled(self, text: str) -> bool:
        """Return whether a point tells again what a rule of the user says."""
        words = stems_of(text)
        shared = ((rule, len(rule & words)) for rule in self._rules)
        return any(count >= _SHARED and count >= _SHARE * len(rule) for rule, count in shared)


def is_summary(event: Event) -> bool:
    """Return whether an agent's message is the summary of a compaction."""
    return (
        event.is_message
        and event.author == ASSISTANT
        and not event.injected
        and INJECTED_MARK not in event.text
        and bool(_SUMMARY.search(event.text[:200] + "\n" + event.text[-_MAX_SUMMARY:]))
        and bool(_ERRORS.search(event.text) or _KNOWLEDGE.search(event.text))
    )


def _is_kept(text: str, is_error: bool) -> bool:
    if (
        len(text.split()) < 8
        or is_question(text)
        or is_guess(text)
        or _SLIP.search(text)
        or _TODAY.search(text)
    ):
        return False
    return is_error or bool(_LASTING.search(text))


def _points(text: str) -> Iterator[tuple[str, str]]:
    """Yield each point of a list with the heading above it; what is indented below a point belongs to it."""
    section, point = "", ""
    for line in text.splitlines():
        if heading := _HEADING.match(line):
            if point:
                yield section, point
            section, point = heading[1], ""
        elif found := _POINT.match(line):
            if point:
                yield section, point
            point = found[1].strip()
        elif line.strip() and point:
            point = f"{point} {line.strip()}"
        elif point:
            yield section, point
            point = ""
    if point:
        yield section, point
