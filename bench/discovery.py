"""What it costs to find the files a task is about: with grep alone, and with what Recollect knows.

Replays `git_tasks` (bench/git_tasks.py says what it needs). An explorer opens one file after the other until it has seen
every file that the commit changed. Opening costs the tokens of the file, up to 2,000 lines.

- `hits`: without memory it greps for the task's words, identifiers and rare words first, at most 8 of them, as `grep -ic`
  does; that costs the names that are printed. Files are opened by how many lines grep finds in them, then all others. This
  is what we compare with.
- `memory`: it is told the twenty files of `graph relevant`, as they are to be read, and the symbols to look at; that costs the
  tokens of the answer. It opens those files in their order, and then goes on like `hits`.
- `careful`: a harder one to beat, without memory. Files are opened by how many of the words they have, those with a rarer
  word first, and tests and documents last.
- `least`: the files to be changed and nothing else. Nobody can do with less.
"""

import re
import statistics
from collections.abc import Mapping
from functools import lru_cache
from pathlib import Path
from typing import Any

from bench.checkouts import checkouts, git_dir
from bench.git_tasks import REPOSITORIES, missing, tasks_of
from recollect.code.decoding import decode_source
from recollect.code.paths import FileRole, classify_files
from recollect.code.relevant.search import Relevant, relevant
from recollect.text import tokens
from recollect.text.words import distinctive_words

OUT = Path(__file__).parent / "out"
WORDS = 8
FILES = 20  # that are asked for
SYMBOLS = 10
LINES = 2_000  # what a reader of files shows at once
WAYS = ("hits", "memory", "careful", "least")
TARGET = 0.6
_IDENTIFIER = re.compile(r"[^\W\d]\w*_\w+|[^\W\d]\w*[a-z][A-Z]\w*|(?<=`)\w+(?=[`(])|\w+(?=\()")


def run() -> dict[str, Any]:
    if reason := missing():
        return {"skipped": reason}
    details = {name: _replayed(name, repository) for name, repository in REPOSITORIES.items()}
    everything = [each for spent in details.values() for each in spent]
    figures = {**{name: _figures(spent) for name, spent in details.items()}, "all": _figures(everything)}
    return {**figures, "plot": _drawn(figures), "details": details}


def _replayed(name: str, repository: str) -> list[dict[str, tuple[int, int]]]:
    """Of each task and way: the files read, and the tokens spent."""
    source = git_dir(repository)
    assert source is not None
    tasks = tasks_of(name)
    spent = []
    for task, at in zip(tasks, checkouts(source, [task["parent"] for task in tasks]), strict=True):
        text = f"{task['subject']}\n{task['body']}"
        texts = {path: _text(at.root / path) for path in at.graph.paths}
        printed, by_hits, carefully = _grep(text, texts)
        found = relevant(at.graph, at.root, text, limit=FILES, budget=0, history=at.history)
        told = list(found.to_read)
        wanted = set(task["files"])
        spent.append(
            {
                "hits": _explore(wanted, 0, [], printed, by_hits, texts),
                "memory": _explore(wanted, tokens.count(_answer(found)), told, printed, by_hits, texts),
                "careful": _explore(wanted, 0, [], printed, carefully, texts),
                "least": (len(wanted), sum(_size(texts.get(path, "")) for path in wanted)),
            }
        )
    return spent


def _explore(
    wanted: set[str], spent: int, told: list[str], printed: int, grepped: list[str], texts: Mapping[str, str]
) -> tuple[int, int]:
    """Files read and tokens spent until all that is `wanted` has been seen; grep is paid for when it is first needed."""
    seen: set[str] = set()
    for path in told:
        if wanted <= seen:
            return len(seen), spent
        seen.add(path)
        spent += _size(texts[path])
    if not wanted <= seen:
        spent += printed
    for path in grepped:
        if wanted <= seen:
            break
        if path not in seen:
            seen.add(path)
            spent += _size(texts[path])
    return len(seen), spent


def _grep(text: str, texts: Mapping[str, str]) -> tuple[int, list[str], list[str]]:
    """The tokens that are printed, and all files in the order they are opened in: by lines, and by words."""
    lower = {path: content.lower() for path, content in texts.items()}
    identifiers = {name.lower() for name in _IDENTIFIER.findall(text)}
    hits = {
        word: {path for path in lower if word in lower[path]}
        for word in dict.fromkeys([*sorted(identifiers), *distinctive_words(text)])
    }
    words = sorted(filter(hits.get, hits), key=lambda word: (word not in identifiers, len(hits[word])))[
        :WORDS
    ]
    kinds = classify_files(texts)

    def by_words(path: str) -> tuple[bool, int, int, str]:
        own = [len(hits[word]) for word in words if path in hits[word]]
        return kinds.get(path, ("",))[0] is not FileRole.CODE, -len(own), min(own, default=0), path

    def by_lines(path: str) -> tuple[int, str]:
        lines = lower[path].splitlines() if any(path in hits[word] for word in words) else ()
        return -sum(any(word in line for word in words) for line in lines), path

    printed = "".join(f"{path}\n" for word in words for path in sorted(hits[word]))
    return tokens.count(printed), sorted(texts, key=by_lines), sorted(texts, key=by_words)


def _answer(found: Relevant) -> str:
    """As short as it can be said: the paths, and where to look in the best of them."""
    files = "".join(f"{path}\n" for path in found.to_read)
    return files + "".join(
        f"{hit.symbol.id}:{hit.symbol.line}-{hit.symbol.end}\n" for hit in found.symbols[:SYMBOLS]
    )


def _text(path: Path) -> str:
    data = decode_source(path.read_bytes())
    return data.decode() if data else ""


@lru_cache(maxsize=4096)
def _size(text: str) -> int:
    return tokens.count("".join(text.splitlines(keepends=True)[:LINES]))


def _figures(spent: list[dict[str, tuple[int, int]]]) -> dict[str, Any]:
    figures: dict[str, Any] = {"tasks": len(spent)}
    for number, what in enumerate(("files", "tokens")):
        means = {way: statistics.mean(each[way][number] for each in spent) for way in WAYS}
        medians = {way: statistics.median(each[way][number] for each in spent) for way in WAYS}
        saved = {way: 1 - means["memory"] / means[way] for way in ("hits", "careful")}
        figures[what] = {"mean": means, "median": medians, "saved": saved}
    return figures


def show(figures: dict[str, Any]) -> None:
    for what in ("files", "tokens"):
        print(
            f"{what + ' until all were seen':28}"
            + "".join(f"{way:>9}" for way in WAYS)
            + "   saved of careful"
        )
        for name in (*REPOSITORIES, "all"):
            told = figures[name][what]
            digits = 1 if what == "files" else 0
            cells = "".join(f"{told['mean'][way]:9,.{digits}f}" for way in WAYS)
            saved = f"{told['saved']['hits']:8.0%}{told['saved']['careful']:11.0%}"
            print(f"{name:22}{figures[name]['tasks']:>6}{cells}{saved}")
    print(f"target: of what hits costs {TARGET:.0%} of both saved on average")


def _drawn(figures: Mapping[str, Any]) -> str | None:
    """The path of the plot; None where matplotlib is not installed."""
    try:
        import matplotlib
    except ImportError:
        return None
    matplotlib.use("Agg")
    from matplotlib import pyplot

    drawing, both = pyplot.subplots(1, 2, figsize=(9, 4), layout="constrained")
    for axes, what in zip(both, ("files", "tokens"), strict=True):
        for number, way in enumerate(WAYS):
            places = [at + (number - 1.5) * 0.2 for at in range(len(figures))]
            axes.bar(places, [told[what]["mean"][way] for told in figures.values()], 0.19, label=way)
        axes.set_xticks(range(len(figures)), list(figures))
        axes.set(ylabel=f"{what} until every file was seen, mean")
    both[0].legend(frameon=False)
    OUT.mkdir(exist_ok=True)
    path = OUT / "discovery.png"
    drawing.savefig(path, dpi=120)
    pyplot.close(drawing)
    return str(path)


if __name__ == "__main__":
    result = run()
    print(f"skipped: {result['skipped']}") if "skipped" in result else show(result)
