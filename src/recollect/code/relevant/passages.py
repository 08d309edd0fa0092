"""Passages: the text of a file in pieces, each with the symbol it belongs to."""

from collections.abc import Iterator, Sequence
from itertools import groupby
from typing import NamedTuple

from recollect.code.facts import VARIABLE
from recollect.code.nodes import Symbol
from recollect.code.relevant.weights import LONGEST_PASSAGE


class Passage(NamedTuple):
    path: str
    first: int  # line, from 1
    last: int  # inclusive
    text: str
    symbol: Symbol | None  # None = it is in no function or class


def split_passages(path: str, text: str, outline: Sequence[Symbol]) -> Iterator[Passage]:
    """Split a file where functions and classes end, and long pieces again."""
    lines = text.splitlines()
    owners = _owners(outline, len(lines))
    for owner, run in groupby(range(len(lines)), owners.__getitem__):
        numbers = list(run)
        for begin in range(0, len(numbers), LONGEST_PASSAGE):
            piece = numbers[begin : begin + LONGEST_PASSAGE]
            body = "\n".join(lines[piece[0] : piece[-1] + 1])
            if body.strip():
                yield Passage(
                    path, piece[0] + 1, piece[-1] + 1, body, None if owner is None else outline[owner]
                )


def _owners(outline: Sequence[Symbol], count: int) -> list[int | None]:
    """Return for each line the outermost function or method it is in, else the class."""
    owners: list[int | None] = [None] * count
    whole = 0  # the last line of the function we are in
    for number, symbol in enumerate(outline):
        if symbol.kind == VARIABLE or symbol.end <= whole:
            continue
        first, last = symbol.line - 1, min(symbol.end, count)
        owners[first:last] = [number] * (last - first)
        if symbol.kind != "class":
            whole = symbol.end
    return owners
