"""How likely it is that a text is about files of the project at all, and which of the best files to show for it.

The score of a file is relative to the other files: the best one has a high score for any text. Whether it is the right
one depends on how much of the text the file and its history explain.
"""

from collections.abc import Sequence
from math import exp, log1p
from typing import TYPE_CHECKING

from recollect.code.paths import FileRole, classify_files
from recollect.code.relevant import weights as w
from recollect.frozen import frozen

if TYPE_CHECKING:
    from recollect.code.graph.graph import CodeGraph
    from recollect.code.nodes import Symbol
    from recollect.code.relevant.search import FileHit, Relevant


@frozen
class FileEvidence:
    """What connects a text with the best file. Terms count by their rarity, so that common ones count little."""

    words: float  # terms of the text that the file has
    commits: float  # those that a single commit or task that changed the file has
    named: float  # the surest mention of any file or symbol, from 0 to 1
    past: int  # commits and tasks that are known


@frozen
class FileToShow:
    """A file to look at first."""

    path: str
    symbols: tuple[str, ...]  # the names of its functions and classes that fit best
    tests: tuple[str, ...]  # paths of the tests that fit it and the text best


def probability(evidence: FileEvidence) -> float:
    """Return the probability that a right file is among the first five, if every second text is about files."""
    odds = w.ODDS["any"] + w.ODDS["words"] * log1p(evidence.words) + w.ODDS["named"] * evidence.named
    # That no commit fits says nothing where there are hardly any.
    missing = max(0.0, 1.0 - evidence.past / w.TELLING_PAST)
    odds += max(w.ODDS["commits"] * log1p(evidence.commits), w.ODDS["no_history"] * missing)
    return 1 / (1 + exp(-odds))


def worth_showing(found: "Relevant", graph: "CodeGraph") -> tuple[FileToShow, ...]:
    """Return the files to show an agent, best first: five at most, fewer if the best stand out, none if they may be wrong."""
    if found.probability < w.WORTH_SHOWING:
        return ()
    shown = [
        hit for hit in found.files[: w.FILES_SHOWN] if hit.score >= w.CLOSE_TO_BEST * found.files[0].score
    ]
    roles = classify_files(graph.paths)
    tests = [path for path, (role, _) in roles.items() if role is FileRole.TESTS]
    graph.resolve(tests)
    return tuple(
        FileToShow(hit.path, _names(symbols), _tests_of(hit.path, symbols, tests, found, graph))
        for hit in shown
        for symbols in [_symbols(found, hit)]
    )


def _symbols(found: "Relevant", hit: "FileHit") -> "list[Symbol]":
    """Return the symbols that fit best, without those that every class has."""
    symbols = [symbol_hit.symbol for symbol_hit in found.symbols if symbol_hit.symbol.path == hit.path]
    named = {symbol.name: symbol for symbol in reversed(symbols) if not symbol.name.startswith("__")}
    return [symbol for symbol in symbols if named.get(symbol.name) is symbol][: w.SYMBOLS_PER_FILE]


def _names(symbols: "Sequence[Symbol]") -> tuple[str, ...]:
    return tuple(symbol.name for symbol in symbols)


def _tests_of(
    path: str, symbols: "Sequence[Symbol]", tests: Sequence[str], found: "Relevant", graph: "CodeGraph"
) -> tuple[str, ...]:
    """Return the tests of a file, best first: those that have its name, use its symbols that fit, and fit the text.

    Of a large file, most tests are about something else than the text. Of equals, those that use little else come first.
    A test that may only use one of those symbols counts too.
    """
    scores = {hit.path: hit.score / found.files[0].score for hit in found.files}
    # The first symbol counts as much as the file's name, the others less and less.
    worth = {symbol.id: 1 / (1 + rank) for rank, symbol in enumerate(symbols)}

    def share(test: str) -> float:
        links = graph.links_of(test)
        return links.get(path, 0.0) / (sum(links.values()) or 1.0)

    def fit(test: str) -> float:
        return (_stem(path) in _stem(test)) + scores.get(test, 0.0)

    def use(test: str) -> float:
        return max((worth.get(edge.target, 0.0) for edge in graph.edges_of(test)), default=0.0)

    likely = [test for test in tests if test != path and (test in scores or graph.links_of(test).get(path))]
    likely = sorted(likely, key=lambda test: (fit(test), share(test)), reverse=True)[: w.TESTS_READ]
    order = {
        test: (fit(test) + used, share(test)) for test in likely if (used := use(test)) or share(test) > 0.0
    }
    return tuple(sorted(order, key=order.__getitem__, reverse=True)[: w.TESTS_PER_FILE])


def _stem(path: str) -> str:
    return path.rpartition("/")[2].partition(".")[0].strip("_").lower()
