"""Shortened tool output: its beginning and end, the lines that matter, and how to get the whole text."""

import hashlib
import re
from collections.abc import Iterable, Iterator
from typing import NamedTuple

from recollect.text import tokens
from recollect.text.redact import redact
from recollect.work.transcripts.tools import FAMILIES, OTHER, READ, RUN, SEARCH

WIDEST = 400  # characters of one line
_SAMPLE = 8_000  # characters that tell how many bytes of a text make a token
_CONTEXT = 1  # lines kept before and after one that matters
# Shares of the budget for the beginning and the end; the rest is for lines that matter, then for more of the larger one.
_SHARES = {RUN: (0.2, 0.4), READ: (0.55, 0.15), SEARCH: (0.7, 0.1), OTHER: (0.3, 0.3)}
_IMPORTANT = re.compile(
    r"error|exception|traceback|fail|fatal|panic|assert|warning|denied|refused|not found|undefined|cannot|unable"
    r"|^E\s{2,}|^>\s|^\S+:\d+:|^[+-]{3} |^@@ ",
    re.IGNORECASE,
)


class Shortened(NamedTuple):
    text: str
    keep: bool  # whether something is missing, so that the whole text must be stored under its id


def output_id(text: str) -> str:
    """Return an id that is equal for equal outputs, so that each is stored once."""
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()[:12]


def shorten(tool: str, text: str, budget: int) -> Shortened:
    """Return `text` in at most `budget` tokens, cut as suits `tool`, with the id of the whole text."""
    if tokens.fits(text, budget):
        return Shortened(text, keep=False)
    name = output_id(text)
    note = f"[shortened; for the whole output, run `recollect history output {name}` or call memory action=read id={name}]"
    return Shortened(cut(text, budget, note, FAMILIES.get(tool, OTHER)), keep=True)


def cut(text: str, budget: int, note: str, family: str = OTHER) -> str:
    """Return beginning, important lines and end of `text` in `budget` tokens, with `note` at the first gap.

    Secrets are removed first: whoever stores what is left would not recognise half a secret.
    """
    text = redact(text)[0]
    room = budget - tokens.count(note) - 4
    if room <= 0:
        return tokens.clip(note, budget)
    size = room * _bytes_per_token(text)
    for share in (1.0, 0.9, 0.8, 0.6, 0.4, 0.2):  # sizes are estimates, so the first try may not fit
        shortened = _join(_chosen(text, int(size * share), family), note)
        if tokens.fits(shortened, budget):
            return shortened
    return tokens.clip(f"{note}\n{text[: int(size)]}", budget)


def _bytes_per_token(text: str) -> float:
    """Return an estimate from the text's beginning."""
    sample = text[:_SAMPLE]
    return len(sample.encode("utf-8", "replace")) / max(tokens.count(sample), 1)


def _chosen(text: str, size: int, family: str) -> list[str | None]:
    """Return the lines to keep, in order, with None at each gap."""
    head, tail = (int(size * share) for share in _SHARES.get(family, _SHARES[OTHER]))
    lines = [line if len(line) <= WIDEST else f"{line[:WIDEST]}…" for line in text.split("\n")]
    begin = _fill(lines, range(len(lines)), head)
    end = _fill(lines, range(len(lines) - 1, -1, -1), tail)
    important = [number for number, line in enumerate(lines) if _IMPORTANT.search(line)]
    around = (near for number in important for near in range(number - _CONTEXT, number + _CONTEXT + 1))
    chosen = begin | end
    chosen |= _fill(
        lines, (number for number in around if 0 <= number < len(lines)), size - _size(lines, chosen)
    )
    others = [number for number in range(len(lines)) if number not in chosen]
    chosen |= _fill(lines, reversed(others) if tail > head else others, size - _size(lines, chosen))
    return list(_with_gaps(lines, sorted(chosen)))


def _size(lines: list[str], chosen: Iterable[int]) -> int:
    return sum(len(lines[number].encode("utf-8", "replace")) + 1 for number in chosen)


def _fill(lines: list[str], order: Iterable[int], size: int) -> set[int]:
    chosen: set[int] = set()
    for number in order:
        if number in chosen:
            continue
        size -= len(lines[number].encode("utf-8", "replace")) + 1
        if size < 0:
            break
        chosen.add(number)
    return chosen


def _with_gaps(lines: list[str], chosen: list[int]) -> Iterator[str | None]:
    last = -1
    for number in chosen:
        if number != last + 1:
            yield None
        yield lines[number]
        last = number
    if last != len(lines) - 1:
        yield None


def _join(lines: list[str | None], note: str) -> str:
    marks = iter([note])
    return "\n".join(next(marks, "…") if line is None else line for line in lines) + "".join(
        f"\n{mark}"
        for mark in marks  # there is no gap if only long lines were cut
    )
