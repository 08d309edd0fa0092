"""Pairs, secrets and judged transcripts that were written apart from the rules; see `bench/data/README.md`.

Of a half that is not named in `SEEN` only totals may be looked at.
"""

import base64
import json
import random
import re
import string
import uuid
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any, NamedTuple

DATA = Path(__file__).parent / "data"
TRACES = Path(__file__).resolve().parents[2] / "shared" / "data" / "traces"
HALVES = ("dev", "unseen", "dev3", "blind", "dev4", "blind4")
TRANSCRIPT_HALVES = (*HALVES, "dev8", "blind8", "dev9", "blind9", "dev10", "blind10")
SEEN = (*HALVES, "dev8", "dev9", "blind9", "dev10")  # of the others only totals are printed
LATER = ("dev5", "blind5", "dev6", "dev7", "dev8", "dev9", "blind9", "dev10", "blind10")
PAIR_HALVES = (*HALVES, *LATER, "dev11", "blind11", "blind12")
SECRET_HALVES = ("dev", "unseen", *LATER)

# What the other statements of a group are to the first. The second contradiction shares as few words with it as possible.
GROUP_LABELS = {
    "same": "duplicate",
    "contra": "contradiction",
    "contra2": "contradiction",
    "rel": "related",
    "rel2": "related",
    "frame": "related",
}

_FILES = {"dev": "dev2"}  # an older set was called dev before
_ALPHABETS = {
    "an": string.ascii_letters + string.digits,
    "url": string.ascii_letters + string.digits + "-_",
    "b64": string.ascii_letters + string.digits + "+/",
    "b32": string.ascii_uppercase + "234567",
    "up": string.ascii_uppercase + string.digits,
    "low": string.ascii_lowercase + string.digits,
    "letters": string.ascii_letters,
    "hex": "0123456789abcdef",
    "d": string.digits,
}
_SLOT = re.compile(r"⟦(\w+)(?::(\d+))?⟧")


class LabelledPair(NamedTuple):
    id: str
    label: str  # contradiction, duplicate, related
    category: str  # `refines`: a related statement that narrows the other one
    old: str
    new: str


class StatementGroup(NamedTuple):
    """A statement, and others about the same matter by the same author."""

    author: int
    project: int
    statement: str
    others: dict[str, str]  # by sort: a field of `GROUP_LABELS`


class LabelledText(NamedTuple):
    id: str
    type: str
    text: str
    secret: str  # what must not be left of the text; empty where nothing is to be redacted


class JudgedTranscript(NamedTuple):
    """What a careful reader keeps of a transcript, may keep, and does not keep."""

    path: Path
    keep: list[dict[str, Any]]
    may: list[dict[str, Any]]
    drop: list[dict[str, Any]]
    records: list[dict[str, str]]  # what an agent records when it is asked to, as `kind` and `content`


class Tally(NamedTuple):
    """Counts of one transcript: precision is `right / (right + wrong)`, recall `found / wanted`."""

    right: int
    wrong: int
    unjudged: int  # matches no row of the judgement: judge it by hand, by RUBRIC.md
    found: int
    wanted: int


def pairs(half: str) -> list[LabelledPair]:
    rows = _rows(f"pairs_{_FILES.get(half, half)}.jsonl")
    return [LabelledPair(row["id"], row["label"], row["category"], row["a"], row["b"]) for row in rows]


def secrets(half: str) -> list[LabelledText]:
    """Texts with secrets and look-alikes, made from their templates: always the same, and no file holds a key."""
    return secrets_of(DATA / f"secrets_{_FILES.get(half, half)}.jsonl")


def secrets_of(path: Path) -> list[LabelledText]:
    """The texts of any file in the format of these sets; a secret may be written out instead of a template."""
    return [_made(json.loads(line)) for line in path.read_text("utf-8").splitlines()]


def transcripts(half: str) -> list[JudgedTranscript]:
    folders = {"own": DATA, "traces": TRACES}
    return [
        JudgedTranscript(
            folders[row["origin"]] / row["file"], row["keep"], row["may"], row["drop"], row.get("records", [])
        )
        for row in _rows(f"transcripts_{half}.jsonl")
    ]


def groups() -> list[StatementGroup]:
    """Return the groups of statements, project by project."""
    return [
        StatementGroup(
            row["author"], row["project"], row["a"], {sort: row[sort] for sort in GROUP_LABELS if sort in row}
        )
        for row in _rows("groups.jsonl")
    ]


def tally(judged: JudgedTranscript, learnt: Iterable[tuple[str, str]]) -> Tally:
    """Count what was learnt from a transcript, given as kind and content.

    A second memory that meets the same row repeats the first, which is wrong.
    """
    right = wrong = unjudged = 0
    found: set[int] = set()
    wanted = [*judged.keep, *judged.may]
    for kind, content in learnt:
        met = [number for number, row in enumerate(wanted) if meets(row, content) and kind in row["kinds"]]
        fresh = [number for number in met if number not in found]
        if fresh:
            right += 1
            found.update(fresh)
        elif met or any(meets(row, content) for row in judged.drop):
            wrong += 1
        else:
            unjudged += 1
    kept = sum(number < len(judged.keep) for number in found)
    return Tally(right, wrong, unjudged, kept, len(judged.keep))


def meets(row: dict[str, Any], content: str) -> bool:
    """Whether the content holds one word of each group of the row."""
    text = content.lower()
    return all(any(word in text for word in words) for words in row["has"])


def _rows(name: str) -> Iterator[dict[str, Any]]:
    return map(json.loads, (DATA / name).read_text(encoding="utf-8").splitlines())


def _made(row: dict[str, Any]) -> LabelledText:
    chosen = random.Random(row["id"])
    secret = _filled(row.get("secret", ""), chosen)
    text = _filled(row["text"].replace("⟦secret⟧", "\0"), chosen).replace("\0", secret)
    return LabelledText(row["id"], row["type"], text, secret)


def _filled(template: str, chosen: random.Random) -> str:
    return _SLOT.sub(lambda slot: _value(slot[1], int(slot[2] or 0), chosen), template)


def _value(name: str, length: int, chosen: random.Random) -> str:
    if name in _ALPHABETS:
        return "".join(chosen.choices(_ALPHABETS[name], k=length))
    if name == "uuid":
        return str(uuid.UUID(int=chosen.getrandbits(128), version=4))
    word = "".join(chosen.choices(_ALPHABETS["an"], k=16))
    if name == "jwt":
        head, claims = (
            _encoded('{"alg":"HS256","typ":"JWT"}'),
            _encoded(f'{{"role":"service","ref":"{word}"}}'),
        )
        return f"{head}.{claims}.{''.join(chosen.choices(_ALPHABETS['url'], k=43))}"
    return base64.b64encode({"basic": f"ops:{word}", "b64pw": word}[name].encode()).decode()


def _encoded(text: str) -> str:
    return base64.urlsafe_b64encode(text.encode()).decode().rstrip("=")
