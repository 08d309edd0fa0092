"""Memories as rows and back. What a person said goes to a table that only they can read."""

import hashlib
import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from typing import Any, TypeVar

import recollect.model as m
from recollect.errors import ContentRefused
from recollect.store import rows

# Lists that queries look into. JSON writes a NUL as an escape, which PostgreSQL stores and then cannot read. An even
# number of backslashes before it are part of the text.
_JSON = [rows.MEMORY_COLUMNS.index(name) for name in ("file_paths", "provenance")]
_NUL = re.compile(r"(?:^|[^\\])(?:\\\\)*\\u0000")
_Entry = TypeVar("_Entry", m.Provenance, m.Reinforcement)


def memory_row(memory: m.Memory) -> tuple[tuple[Any, ...], dict[str, str]]:
    """Return the row without what people said, and their words by the mark of the entry they belong to."""
    snippets: dict[str, str] = {}
    bare = replace(
        memory,
        provenance=_without(memory.provenance, "snippet", snippets),
        reinforcements=_without(memory.reinforcements, "said", snippets),
    )
    row = rows.memory_row(bare)
    if any("\\u0000" in row[place] and _NUL.search(row[place]) for place in _JSON):
        raise ContentRefused("A path or name holds a NUL character.", "Remove it.")
    return row, snippets


def memory_from(row: Sequence[Any]) -> m.Memory:
    """Return the memory of a row of `SELECT_MEMORIES`, with the words that the reader may see."""
    memory: m.Memory = rows.memory_from(row[:-1])
    snippets: dict[str, str] | None = row[-1]
    if not snippets:
        return memory
    return replace(
        memory,
        provenance=_with(memory.provenance, "snippet", snippets),
        reinforcements=_with(memory.reinforcements, "said", snippets),
    )


def _without(entries: Sequence[_Entry], field: str, snippets: dict[str, str]) -> tuple[_Entry, ...]:
    empty: dict[str, Any] = {field: ""}
    bare = [replace(entry, **empty) if getattr(entry, field) else entry for entry in entries]
    for entry, mark in zip(entries, _marks(bare), strict=True):
        if text := getattr(entry, field):
            snippets[mark] = text
    return tuple(bare)


def _with(entries: Sequence[_Entry], field: str, snippets: dict[str, str]) -> tuple[_Entry, ...]:
    texts: list[dict[str, Any]] = [{field: snippets.get(mark)} for mark in _marks(entries)]
    return tuple(
        replace(entry, **text) if text[field] else entry for entry, text in zip(entries, texts, strict=True)
    )


def _marks(entries: Sequence[m.Provenance | m.Reinforcement]) -> list[str]:
    """Return the mark of each entry, which says nothing of its text. Equal entries are numbered from the second on."""
    marks: list[str] = []
    seen: Counter[str] = Counter()
    for entry in entries:
        mark = hashlib.blake2b(m.dumps(entry).encode(), digest_size=12).hexdigest()
        marks.append(f"{mark}:{seen[mark]}" if seen[mark] else mark)
        seen[mark] += 1
    return marks
