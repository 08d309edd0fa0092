"""What the user answers when the host asks on behalf of the agent: choices, with what they mean."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Any

from recollect.model import Source
from recollect.text.sentences import clip, statement
from recollect.work.extract.observation import USER_INTENT, Observation
from recollect.work.transcripts.event import Event

# Claude Code, Codex, Gemini CLI, OpenCode, Cursor.
_ASKING = frozenset(("AskUserQuestion", "request_user_input", "ask_user", "question", "ask_question"))
# A question may quote a word itself, so it ends where an answer begins.
_PAIR = re.compile(r'"([^=\n]{4,300}?)"\s*=\s*"([^"\n]{1,300})"')
_PENDING = 16
_MAX_CONTENT = 320
# A question about what happens now, and an answer that says nothing without it.
_OF_THE_MOMENT = re.compile(
    r"""\b(?:proceed|continue|go\sahead|start|next|now|commit|push|merge|this\s(?:time|session|run|pr|branch|commit|task|change|ticket|feature|release)|today|shall\si|should\si\s(?:also|go|do|run|fix|open|create|delete)
        |do\syou\swant\sme|would\syou\slike\sme|which\s(?:task|issue|ticket|bug|file|one|option)\b|first\b)""",
    re.VERBOSE | re.IGNORECASE,
)
_NO_CONTENT = re.compile(
    r"^(?:yes|no|ok(?:ay)?|sure|other|none|skip|later|cancel|not (?:sure|now)|both|all|neither|either|option \w+|[a-d]|\d+)\b.{0,12}$",
    re.IGNORECASE,
)


class UserAnswers:
    """Reads the answers to questions that the agent put to the user with the host's own tool."""

    def __init__(self) -> None:
        self._asked: dict[str, Event] = {}

    def read(self, event: Event) -> Iterator[Observation]:
        if event.tool not in _ASKING:
            return
        if event.is_call:
            self._asked[event.call] = event
            if len(self._asked) > _PENDING:
                del self._asked[next(iter(self._asked))]
        elif event.is_answer and (call := self._asked.pop(event.call, None)) and not event.failed:
            for question, answer in _PAIR.findall(event.text):
                if content := _decision(question, answer, call.input):
                    yield Observation(
                        kind="decision",
                        content=content,
                        source=Source.OBSERVED,  # the choice is the user's, the words are the agent's
                        first=call.order,
                        last=event.order,
                        importance=0.8,
                        confidence=0.9,
                        signals=frozenset({USER_INTENT}),
                    )


def _decision(question: str, answer: str, given: Mapping[str, Any]) -> str:
    if _OF_THE_MOMENT.search(question) or _NO_CONTENT.match(answer.strip()):
        return ""
    meaning, rejected = _options(answer, given)
    content = f"The user decided on “{question.strip()}”: {statement(answer + (f' ({meaning})' if meaning else ''))}"
    if rejected:
        content += f" Not: {'; '.join(rejected)}."
    return clip(content, _MAX_CONTENT)


def _options(answer: str, given: Mapping[str, Any]) -> tuple[str, list[str]]:
    """Return what the chosen option means, and the labels of the others."""
    meaning, rejected = "", []
    questions = given.get("questions")
    for question in questions if isinstance(questions, list) else []:
        options = question.get("options") if isinstance(question, Mapping) else None
        rows = [each for each in options if isinstance(each, Mapping)] if isinstance(options, list) else []
        if answer in [each.get("label") for each in rows]:
            meaning = next(str(each.get("description") or "") for each in rows if each.get("label") == answer)
            rejected = [str(each.get("label")) for each in rows if each.get("label") != answer]
    return meaning.rstrip("."), rejected[:3]
