"""What the judgement does to statements that people really wrote, and to sets of pairs: what it supersedes, merges, asks.

    python -m bench verdicts                   the statements about services, and the pairs of the dev half
    python -m bench verdicts --git DIR…        commit subjects of git repositories, one after the other
    python -m bench verdicts --statements FILE a statement per line
    python -m bench verdicts --projects        the memories of eight invented projects: what a year of work is asked about
    python -m bench verdicts --half blind      another half of the pairs: look once, when all is done
    python -m bench verdicts --pairs FILE…     other pairs {label, a, b} as JSON lines
    python -m bench verdicts --groups 120      pairs from so many of the groups of statements, by sort
    python -m bench verdicts --shown           what an agent that records such a statement is shown of the others

Statements are read by the bundled model too, as in the daemon; `--rules` leaves it out.

Subjects and frames state nothing that contradicts another, so nothing may be superseded; each pair that was is listed.
Of pairs, `a` is remembered first and `b` after it, each pair in a session of its own, and then all are consolidated.
Repositories are read where they are and never kept.
"""

import argparse
import json
import subprocess
import tempfile
from collections import Counter
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import recollect.model as m
from bench import judgement
from bench.statements import statements
from recollect import Engine
from recollect.config import load_settings
from recollect.context.embedder import Embedder
from recollect.embed.inference import open_inference
from recollect.embed.open import open_embedder
from recollect.embed.pair_reader import BundledReader
from recollect.memory import ranking
from recollect.memory.maintenance.merge import SAME

SUBJECTS = 2_000  # over all repositories, the newest of each
LABELS = ("contradiction", "duplicate", "related")


class JudgedPair(NamedTuple):
    label: str
    acts: bool  # one memory is gone on writing
    found: str  # contradiction, possible contradiction, duplicate, probable duplicate or none
    after: str  # the same after a consolidation: merged, superseded, or two memories
    reason: str
    old: str
    new: str


def run() -> dict[str, Any]:
    reader = loaded_reader()
    frames = remember_all(statements(), reader)
    judged = pair_figures(judge_pairs(_half("dev"), reader=reader))
    details = {"frames": frames.pop("details"), "pairs": judged.pop("details")}
    return {"frames": frames, "pairs, dev half": judged, "details": details}


def show(figures: dict[str, Any]) -> None:
    for name, value in figures.items():
        if isinstance(value, dict) and name != "details":
            print(name)
            show(value)
            continue
        if name != "details":
            print(f"  {name:52}{value:8.1%}" if isinstance(value, float) else f"  {name:52}{value:8}")


def commit_subjects(folders: Sequence[Path], most: int = SUBJECTS) -> list[str]:
    """Return distinct subjects of commits, as many of each repository."""
    subjects: dict[str, None] = {}
    for place, folder in enumerate(folders, start=1):
        wanted = most * place // len(folders)
        command = ["git", "-C", str(folder), "log", "--no-merges", "--format=%s", f"-{10 * most}"]
        for line in subprocess.run(command, capture_output=True, text=True, check=True).stdout.splitlines():
            if len(subjects) < wanted and len(line.split()) > 1:
                subjects[line.strip()] = None
    return list(subjects)


def loaded_reader() -> BundledReader:
    reader = BundledReader()
    reader.load()
    return reader


def remember_all(statements: Iterable[str], reader: BundledReader | None = None) -> dict[str, Any]:
    """Remember the statements one after the other as a user would, and return what happened to them."""
    superseded: list[tuple[str, str, str]] = []
    proposed: list[tuple[str, str, str]] = []
    merged: list[tuple[str, str, str]] = []
    count = 0
    with (
        tempfile.TemporaryDirectory() as folder,
        Engine.open(folder, Path(folder, "home"), reader=reader) as engine,
    ):
        for text in statements:
            count += 1
            receipt = engine.remember(text)
            if receipt.is_duplicate:
                merged.append((engine.get(receipt.id).content, text, receipt.message))
            for old in receipt.supersedes:
                memory = engine.get(old)
                superseded.append((memory.content, text, memory.state_reason or ""))
        for question in engine.questions():
            newer, older = question.memories[0], question.memories[-1]
            proposed.append((older.content, newer.content, question.review.reason))
    return {
        "statements": count,
        "superseded": len(superseded),
        "proposed for review": len(proposed),
        "merged": len(merged),
        "details": {"superseded": superseded, "proposed": proposed, "merged": merged},
    }


def judge_pairs(
    rows: Iterable[tuple[str, str, str]], nli: str = "", reader: BundledReader | None = None
) -> list[JudgedPair]:
    """Remember each pair of (label, a, b) in a session of its own, then consolidate."""
    judged = []
    if model := open_inference(nli):
        model.load()
    with (
        tempfile.TemporaryDirectory() as folder,
        Engine.open(
            folder, settings=load_settings(Path(folder, "home"), nli_folder=nli), reader=reader
        ) as engine,
    ):
        written = []
        for number, (label, old, new) in enumerate(rows):
            where = {"scope": "session", "session": f"pair {number}"}
            first = engine.remember(old, **where)
            second = engine.remember(new, **where)
            written.append((label, old, new, first.id, second.id, *_found(engine, first.id, second)))
        engine.care.consolidate()
        asked = {
            frozenset(memory.id for memory in question.memories)
            for question in engine.questions()
            if question.review.kind == "merge"
        }
        for label, old, new, first_id, second_id, found, reason, acts in written:
            after = _after(engine, first_id, second_id)
            if after == "two" and {first_id, second_id} in asked:
                after = "proposed"
            judged.append(JudgedPair(label, acts, found, after, reason, old, new))
    return judged


def _found(engine: Engine, first: str, receipt: m.Receipt) -> tuple[str, str, bool]:
    """Return what `remember` made of a pair, why, and whether it acted by itself."""
    if receipt.is_duplicate:
        return "duplicate", receipt.message, True
    if receipt.supersedes:
        return "contradiction", engine.get(first).state_reason or "", True
    links = [link for link in engine.links(receipt.id) if first in (link.source, link.target)]
    for link in links:
        if link.relation is m.Relation.CONTRADICTS:
            return "possible contradiction", link.reason, False
    if any(link.reason == "probably the same" for link in links):
        return "probable duplicate", "", False
    return "none", "", False


def _after(engine: Engine, first: str, second: str) -> str:
    if first == second:
        return "merged"
    states = [engine.get(name) for name in (first, second)]
    if all(memory.state is m.State.ACTIVE for memory in states):
        return "two"
    gone = next(memory for memory in states if memory.state is not m.State.ACTIVE)
    return "merged" if gone.state_reason == SAME else "superseded"


def pair_figures(judged: Sequence[JudgedPair]) -> dict[str, Any]:
    """Return the figures of the table in docs/judgement.md."""
    total = Counter(row.label for row in judged)
    called = [row for row in judged if row.found.endswith("contradiction")]
    acted = [row for row in called if row.acts]
    right = sum(row.label == "contradiction" for row in called)
    duplicates = [row for row in judged if row.label == "duplicate"]
    merged = [row for row in judged if row.after == "merged"]
    wrong = [row for row in merged if row.label != "duplicate"]
    return {
        "pairs": len(judged),
        "contradictions": total["contradiction"],
        "contradiction F1": 2 * right / max(1, len(called) + total["contradiction"]),
        "contradiction recall": right / max(1, total["contradiction"]),
        "contradiction precision": right / max(1, len(called)),
        "superseded by itself": len(acted),
        "precision of what acts by itself": sum(row.label == "contradiction" for row in acted)
        / max(1, len(acted)),
        "duplicates": len(duplicates),
        "duplicates called contradictions": sum(row.found.endswith("contradiction") for row in duplicates)
        / max(1, len(duplicates)),
        "duplicates two memories after consolidate": sum(
            row.after in ("two", "proposed") for row in duplicates
        ),
        "of these proposed for review": sum(row.after == "proposed" for row in duplicates),
        "others proposed as duplicates": sum(
            row.after == "proposed" for row in judged if row.label != "duplicate"
        ),
        "wrongly merged after consolidate": len(wrong),
        "details": {"pairs": [row for row in judged if _is_wrong(row)]},
    }


def _is_wrong(row: JudgedPair) -> bool:
    match row.label:
        case "contradiction":
            return not row.found.endswith("contradiction") or row.after == "merged"
        case "duplicate":
            return row.after != "merged"
        case _:
            return row.found.endswith("contradiction") or row.after not in ("two", "proposed")


def read_pairs(path: Path) -> list[tuple[str, str, str]]:
    rows = map(json.loads, path.read_text("utf-8").splitlines())
    return [(row["label"], row["a"], row["b"]) for row in rows]


def group_pairs(most: int) -> dict[str, list[tuple[str, str, str]]]:
    """Return the pairs of `most` groups, spread evenly over authors and projects, by sort."""
    known = judgement.groups()
    chosen = known[:: max(1, len(known) // most)][:most]
    return {
        sort: [(label, group.statement, group.others[sort]) for group in chosen if sort in group.others]
        for sort, label in judgement.GROUP_LABELS.items()
    }


def shown_figures(
    groups: Sequence[judgement.StatementGroup], embedder: Embedder, least: float = ranking.CLOSE_COSINE
) -> dict[str, Any]:
    """Return for each sort of statement how often its first one is shown to an agent that records it, and how many are.

    The agent's project has the first statements of all of its groups.
    """
    projects: dict[tuple[int, int], list[judgement.StatementGroup]] = {}
    for group in groups:
        projects.setdefault((group.author, group.project), []).append(group)
    found, shown, total = Counter[str](), Counter[str](), Counter[str]()
    for known in projects.values():
        stored = embedder.embed([group.statement for group in known])
        for sort in judgement.GROUP_LABELS:
            told = [(place, group.others[sort]) for place, group in enumerate(known) if sort in group.others]
            cosines = embedder.embed([text for _, text in told]) @ stored.T
            for (place, _), row in zip(told, cosines, strict=True):
                close = [near for near in (-row).argsort()[: ranking.CLOSE_SHOWN] if row[near] >= least]
                found[sort] += place in close
                shown[sort] += len(close)
                total[sort] += 1
    return {
        "shown to an agent": {sort: found[sort] / total[sort] for sort in total},
        "memories shown per 100 records": {sort: round(100 * shown[sort] / total[sort]) for sort in total},
    }


def _half(name: str) -> list[tuple[str, str, str]]:
    return [(pair.label, pair.old, pair.new) for pair in judgement.pairs(name)]


def main() -> None:
    options = argparse.ArgumentParser(prog="bench verdicts", description=__doc__.splitlines()[0])
    options.add_argument("--git", type=Path, nargs="+", default=[], metavar="DIR")
    options.add_argument("--most", type=int, default=SUBJECTS, help="subjects over all repositories")
    options.add_argument("--statements", metavar="FILE")
    options.add_argument("--pairs", type=Path, nargs="+", default=[], metavar="FILE")
    options.add_argument("--projects", action="store_true", help="the memories of bench/data")
    options.add_argument("--half", choices=judgement.PAIR_HALVES)
    options.add_argument("--groups", type=int, metavar="N", help="pairs from N groups of bench/data")
    options.add_argument("--shown", action="store_true", help="what an agent is shown of the groups")
    options.add_argument("--nli", metavar="FOLDER", default="", help="a model of natural-language inference")
    options.add_argument("--rules", action="store_true", help="without the bundled model")
    options.add_argument("-v", action="store_true", help="list the pairs that were judged wrongly")
    given = options.parse_args()
    reader = None if given.rules else loaded_reader()
    if given.git:
        _show_statements("commit subjects", commit_subjects(given.git, given.most), reader)
    if given.statements:
        _show_statements(given.statements, Path(given.statements).read_text("utf-8").splitlines(), reader)
    for path in _projects() if given.projects else ():
        rows = map(json.loads, path.read_text("utf-8").splitlines())
        _show_statements(path.name, [row["content"] for row in rows], reader)
    sets = {path.name: read_pairs(path) for path in given.pairs}
    if given.half:
        sets[given.half] = _half(given.half)
    if given.groups:
        sorts = group_pairs(given.groups)
        sets |= sorts | {"all groups": [pair for pairs in sorts.values() for pair in pairs]}
    for name, rows in sets.items():
        figures = pair_figures(judge_pairs(rows, given.nli, reader))
        print(name)
        show(figures)
        for row in figures["details"]["pairs"] if given.v else ():
            print(f"{row.label} → {row.found}, {row.after} ({row.reason}): {row.old} | {row.new}")
    if given.shown:
        show(shown_figures(judgement.groups(), open_embedder()))
    if not (given.git or given.statements or given.projects or given.shown or sets):
        show(run())


def _projects() -> list[Path]:
    return [judgement.DATA / "memories.jsonl", *sorted(judgement.DATA.glob("delivery/*.memories.jsonl"))]


def _show_statements(name: str, statements: Sequence[str], reader: BundledReader | None) -> None:
    figures = remember_all(statements, reader)
    print(name)
    show(figures)
    for sort, rows in figures["details"].items():
        for old, new, reason in rows:
            print(f"{sort}: {old!r} → {new!r} ({reason})")


if __name__ == "__main__":
    main()
