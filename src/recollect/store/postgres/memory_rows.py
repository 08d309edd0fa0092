"""Memories as rows and back. What a person said goes to a table that only they can read."""

import hashlib
import re
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
        provenance=tuple(_without(entry, "snippet", snippets) for entry in memory.provenance),
        reinforcements=tuple(_without(entry, "said", snippets) for entry in memory.reinforcements),
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
        provenance=tuple(_with(entry, "snippet", snippets) for entry in memory.provenance),
        reinforcements=tuple(_with(entry, "said", snippets) for entry in memory.reinforcements),
    )


def _without(entry: _Entry, field: str, snippets: dict[str, str]) -> _Entry:
    text = getattr(entry, field)
    if not text:
        return entry
    empty: dict[str, Any] = {field: ""}
    bare = replace(entry, **empty)
    snippets[_mark(bare)] = text
    return bare


def _with(entry: _Entry, field: str, snippets: dict[str, str]) -> _Entry:
    said: dict[str, Any] = {field: snippets.get(_mark(entry))}
    return replace(entry, **said) if said[field] else entry


def _mark(entry: m.Provenance | m.Reinforcement) -> str:
    return hashlib.blake2b(m.dumps(entry).encode(), digest_size=12).hexdigest()
