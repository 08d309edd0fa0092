"""The sets we measure on, all in one shape.

LoCoMo, LongMemEval and DevMemBench lie in `../shared/data` beside the repository and are not ours to ship; our own set
is in `bench/data`. BEAM is read from a folder of its repository, `chats/100K`, that RECOLLECT_BENCH_BEAM names, or from
`../shared/data/beam`. A set that is not there is `None`, and the bench says so.
"""

import gzip
import json
import os
import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Any

SHARED = Path(__file__).resolve().parents[3] / "shared" / "data"
OWN = Path(__file__).resolve().parents[1] / "data"
BEAM = Path(os.environ.get("RECOLLECT_BENCH_BEAM") or SHARED / "beam")


@dataclass(frozen=True, slots=True)
class Unit:
    """Something that can be found: a turn, a round, a memory."""

    id: str
    text: str  # with date and speaker, where there are any
    session: str = ""
    said: str | None = None  # the part a person wrote; None = all or nothing, as `author` says
    reply: str = ""  # the rest of such a unit
    author: str = "user"
    kind: str = ""
    tags: tuple[str, ...] = ()
    paths: tuple[str, ...] = ()
    day: datetime | None = None  # it was written; None = what the text says, if anything

    @property
    def whole(self) -> str:
        """All there is to be found by: what every system gets, ours and the others."""
        return " ".join((self.text, *self.tags, *self.paths))


@dataclass(frozen=True, slots=True)
class Question:
    text: str
    relevant: frozenset[str]  # ids of units
    sessions: frozenset[str]


@dataclass(frozen=True, slots=True)
class Corpus:
    """One scope: its questions are asked of its units, which stand in the order they were said."""

    units: tuple[Unit, ...]
    questions: tuple[Question, ...]


def load(name: str, held: bool = False) -> list[Corpus] | None:
    """None where the set is not on this machine."""
    path = files(name, held)
    if not all(each.exists() for each in path):
        return None
    return _LOADERS[name](*path)


def files(name: str, held: bool = False) -> tuple[Path, ...]:
    return {
        "locomo": (SHARED / "locomo_dev.json.gz",),
        "devmembench": (SHARED / "devmembench.json.gz",),
        "longmemeval": (SHARED / "longmemeval_s_dev.json.gz",),
        "longmemeval-messages": (SHARED / "longmemeval_s_dev.json.gz",),
        "beam": (BEAM,),
        "memories": (OWN / "memories.jsonl", OWN / f"questions_{'held' if held else 'dev'}.jsonl"),
        "fresh": (OWN / "memories.jsonl", OWN / "questions_fresh.jsonl"),
    }[name]


def _conversations(path: Path) -> list[Corpus]:
    """Questions without any relevant turn or session cannot be scored and are left out."""
    return [
        Corpus(
            tuple(
                Unit(row["id"], row["text"], row["session"], author=_speaker(row["text"]))
                for row in sorted(corpus["units"], key=lambda row: row["order"])
            ),
            tuple(
                Question(row["q"], frozenset(row["rel_turns"]), frozenset(row["rel_sessions"]))
                for row in corpus["questions"]
                if row["rel_turns"] or row["rel_sessions"]
            ),
        )
        for corpus in _read(path)
    ]


def _speaker(text: str) -> str:
    return "assistant" if text.startswith("assistant:") else "user"


def _rounds(path: Path) -> list[Corpus]:
    """A round is what the user said and the answer; it is relevant where either of them is."""
    return [_haystack(row, _pairs) for row in _read(path)]


def _messages(path: Path) -> list[Corpus]:
    """The same, every message a unit. The id is that of its round, so that a hit counts for its round."""
    return [_haystack(row, _singles) for row in _read(path)]


def _beam(folder: Path) -> list[Corpus]:
    """Every message of a chat is a unit. Questions that no message answers cannot be scored and are left out."""
    chats = sorted(
        (each for each in folder.iterdir() if each.name.isdigit()), key=lambda each: int(each.name)
    )
    return [_beam_chat(chat) for chat in chats]


def _beam_chat(chat: Path) -> Corpus:
    units: list[Unit] = []
    for batch in json.loads((chat / "chat.json").read_text(encoding="utf-8")):
        date = batch.get("time_anchor") or ""
        for message in (message for turn in batch["turns"] for message in turn):
            date = message.get("time_anchor") or date
            words = _BEAM_MARK.sub("", message["content"])
            text = f"[{date}] {message['role']}: {words}"
            units.append(Unit(str(message["id"]), text, str(batch["batch_number"]), author=message["role"]))
    session = {unit.id: unit.session for unit in units}
    kinds = json.loads((chat / "probing_questions" / "probing_questions.json").read_text(encoding="utf-8"))
    questions = []
    for asked in (asked for kind in kinds.values() for asked in kind):
        relevant = frozenset(_beam_ids(asked.get("source_chat_ids"))) & session.keys()
        if relevant:
            sessions = frozenset(session[each] for each in relevant)
            questions.append(Question(asked["question"], relevant, sessions))
    return Corpus(tuple(units), tuple(questions))


_BEAM_MARK = re.compile(r"\s*->->.*\Z", re.DOTALL)  # which point of the plan a message is about


def _beam_ids(source: Any) -> Iterator[str]:
    """Yield the ids of messages in lists and objects of lists."""
    if isinstance(source, dict):
        source = list(source.values())
    if isinstance(source, list):
        for each in source:
            yield from _beam_ids(each)
    elif source is not None:
        yield str(source)


Turns = list[dict[str, Any]]


def _haystack(row: dict[str, Any], split: Callable[[Turns], Iterator[tuple[int, Turns]]]) -> Corpus:
    units: list[Unit] = []
    relevant: set[str] = set()
    haystack = zip(row["haystack_dates"], row["haystack_session_ids"], row["haystack_sessions"], strict=True)
    for date, session, turns in sorted(haystack, key=lambda each: each[0]):
        for number, part in split(turns):
            lines = [f"{turn['role']}: {turn['content']}" for turn in part]
            text = f"[{date}] " + "\n".join(lines)
            said, reply = (f"[{date}] {lines[0]}", lines[1]) if len(part) == 2 else (None, "")
            author = part[0]["role"]
            units.append(Unit(f"{session}:{number}", text, session, said, reply, author))
            if any(turn.get("has_answer") for turn in part):
                relevant.add(units[-1].id)
    question = Question(row["question"], frozenset(relevant), frozenset(row["answer_session_ids"]))
    return Corpus(tuple(units), (question,))


def _pairs(turns: Turns) -> Iterator[tuple[int, Turns]]:
    number = 0
    while turns:
        size = 2 if [turn["role"] for turn in turns[:2]] == ["user", "assistant"] else 1
        yield number, turns[:size]
        number, turns = number + 1, turns[size:]


def _singles(turns: Turns) -> Iterator[tuple[int, Turns]]:
    for number, pair in _pairs(turns):
        for turn in pair:
            yield number, [turn]


def _read(path: Path) -> list[dict[str, Any]]:
    rows: list[dict[str, Any]] = json.loads(gzip.decompress(path.read_bytes()))
    return rows


def _own(memories: Path, questions: Path) -> list[Corpus]:
    units = tuple(
        Unit(
            row["id"],
            row["content"],
            row.get("session") or "",
            kind=row.get("kind", ""),
            tags=tuple(row.get("tags", ())),
            paths=tuple(row.get("file_paths", ())),
            day=datetime.fromisoformat(row["created_at"]),
        )
        for row in map(json.loads, memories.read_text(encoding="utf-8").splitlines())
    )
    asked = tuple(
        Question(row["q"], frozenset(row["relevant"]), frozenset())
        for row in map(json.loads, questions.read_text(encoding="utf-8").splitlines())
    )
    return [Corpus(units, asked)]


_LOADERS: dict[str, Callable[..., list[Corpus]]] = {
    "locomo": _conversations,
    "devmembench": _conversations,
    "longmemeval": _rounds,
    "longmemeval-messages": _messages,
    "beam": _beam,
    "memories": _own,
    "fresh": _own,
}
