"""Every line at which a function calls another. The graph stores one edge for each pair, at the first call."""

import re
from collections.abc import Iterable, Iterator
from functools import lru_cache
from pathlib import Path

from recollect.code.decoding import read_source
from recollect.code.facts import FILE, Reference
from recollect.code.graph.graph import CodeGraph, path_of
from recollect.code.languages.parser import parse
from recollect.code.nodes import CALLS, CodeEdge, symbol_ids

_NAMES = re.compile(r"\w+")


def call_sites(graph: CodeGraph, root: Path, edges: Iterable[CodeEdge]) -> list[CodeEdge]:
    """Return each call once for every line on which its source makes it in the same words; other edges as they are.

    What is called by other words, such as another variable of the same type, is not known to be the same.
    """
    calls_of = lru_cache(maxsize=None)(
        lambda path: _calls(graph.language(path), path, read_source(root / path))
    )
    return [
        edge._replace(line=line)
        for edge in edges
        for line in (_lines(edge, calls_of(path_of(edge.source))) if edge.kind == CALLS else [edge.line])
    ]


def _lines(edge: CodeEdge, calls: Iterable[tuple[str, Reference]]) -> list[int]:
    """Return the lines of calls that look like the one at the line of the edge."""
    own = [call for source, call in calls if source == edge.source]
    here = {call.chain for call in own if call.line == edge.line}
    called = set(_NAMES.findall(edge.target.partition("::")[2])[-2:])  # a class is called by its own name
    alike = here if len(here) == 1 else {chain for chain in here if _NAMES.findall(chain)[-1] in called}
    return sorted({edge.line, *(call.line for call in own if call.chain in alike)})


def _calls(language: str, path: str, text: str) -> tuple[tuple[str, Reference], ...]:
    facts = parse(language, text.encode(), every_call=True)
    return tuple(_with_source(path, symbol_ids(path, facts.definitions), facts.references))


def _with_source(
    path: str, ids: list[str], references: Iterable[Reference]
) -> Iterator[tuple[str, Reference]]:
    for reference in references:
        if reference.kind == CALLS:
            yield path if reference.scope == FILE else ids[reference.scope], reference
