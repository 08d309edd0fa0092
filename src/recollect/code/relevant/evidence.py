"""How likely it is that a text is about files of the project at all, and which of the best files to show for it.

The score of a file is relative to the other files: the best one has a high score for any text. Whether it is the right
one depends on how much of the text the file and its history explain.
"""

from dataclasses import dataclass
from math import exp, log1p
from typing import TYPE_CHECKING

from recollect.code.paths import FileRole, classify_files
from recollect.code.relevant import weights as w

if TYPE_CHECKING:
    from recollect.code.graph.graph import CodeGraph
    from recollect.code.relevant.search import FileHit, Relevant


@dataclass(frozen=True, slots=True)
class FileEvidence:
    """What connects a text with the best file. Terms count by their rarity, so that common ones count little."""

    words: float  # terms of the text that the file has
    commits: float  # those that a single commit or task that changed the file has
    named: float  # the surest mention of any file or symbol, from 0 to 1
    past: int  # commits and tasks that are known


@dataclass(frozen=True, slots=True)
class FileToShow:
    """A file to look at first."""

    path: str
    symbols: tuple[str, ...]  # the names of its functions and classes that fit best
    tests: tuple[str, ...]  # paths of the tests that use it most


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
    roles = classify_files(graph.paths, ())
    tests = [path for path, (role, _) in roles.items() if role is FileRole.TESTS]
    return tuple(
        FileToShow(hit.path, _symbols(found, hit), _tests_of(hit.path, tests, graph)) for hit in shown
    )


def _symbols(found: "Relevant", hit: "FileHit") -> tuple[str, ...]:
    """Return the names of the symbols that fit best, without those that every class has."""
    names = [symbol_hit.symbol.name for symbol_hit in found.symbols if symbol_hit.symbol.path == hit.path]
    return tuple(name for name in dict.fromkeys(names) if not name.startswith("__"))[: w.SYMBOLS_PER_FILE]


def _tests_of(path: str, tests: "list[str]", graph: "CodeGraph") -> tuple[str, ...]:
    """Return the tests of a file: those that use it, first those that have its name, then those that use little else."""

    def order(test: str) -> tuple[bool, float]:
        links = graph.nodes[test].links
        return _stem(path) not in _stem(test), -links[path] / sum(links.values())

    using = (test for test in tests if test != path and graph.nodes[test].links.get(path))
    return tuple(sorted(using, key=order)[: w.TESTS_PER_FILE])


def _stem(path: str) -> str:
    return path.rpartition("/")[2].partition(".")[0].strip("_").lower()
