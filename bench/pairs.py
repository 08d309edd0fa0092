"""How well we tell a repetition from a contradiction, beside what the cosine alone would do.

Needs `coding_pairs_dev.jsonl` and `pairs_dev.jsonl.gz` in `../shared/data` beside the repository, which are not ours to
ship; without them the bench says so and is skipped. Run with `python -m bench.pairs`; `-v` lists what went wrong.

`a` is remembered first and `b` after it, each pair in a session of its own, so that pairs do not meet. All contradictions
of the general set are taken, and SAMPLE pairs of every other sort.
"""

import gzip
import json
import random
import sys
import tempfile
from collections import Counter
from pathlib import Path
from typing import Any, NamedTuple

from recollect import Engine
from recollect.embed.minilm import MiniLM
from recollect.llm.protocol import StatementRelation
from recollect.memory.judgement.comparison import ALIKE, NEAR, SAME
from recollect.model import Outcome

DATA = Path(__file__).resolve().parents[2] / "shared" / "data"
CODING = DATA / "coding_pairs_dev.jsonl"
GENERAL = DATA / "pairs_dev.jsonl.gz"

SAMPLE = 300
MERGED = {StatementRelation.DUPLICATE, StatementRelation.MERGEABLE}


class Judged(NamedTuple):
    label: str
    relation: StatementRelation
    alone: StatementRelation  # by cosine only
    cosine: float
    reason: str
    old: str
    new: str


def run() -> dict[str, Any]:
    missing = [str(path) for path in (CODING, GENERAL) if not path.exists()]
    if missing:
        return {"skipped": f"needs {' and '.join(missing)}"}
    coding, general = _judge(_coding_rows()), _judge(_general_rows())
    return {
        "coding": {"rules": _coding_figures(coding), "cosine alone": _coding_figures(_alone(coding))},
        "general": {"rules": _general_figures(general), "cosine alone": _general_figures(_alone(general))},
        "details": {"coding": [row for row in coding if _is_wrong(row)]},
    }


def _coding_rows() -> list[tuple[str, str, str]]:
    rows = map(json.loads, CODING.read_text().splitlines())
    return [(row["label"], row["a"], row["b"]) for row in rows]


def _general_rows() -> list[tuple[str, str, str]]:
    rows = map(json.loads, gzip.decompress(GENERAL.read_bytes()).decode().splitlines())
    pairs = [(f"{row['task']} {str(row['label']).lower()}", row["a"], row["b"]) for row in rows]
    random.Random(1).shuffle(pairs)
    taken: Counter[str] = Counter()
    kept = []
    for pair in pairs:
        taken[pair[0]] += 1
        if pair[0] == "contra true" or taken[pair[0]] <= SAMPLE:
            kept.append(pair)
    return kept


def _judge(rows: list[tuple[str, str, str]]) -> list[Judged]:
    judged = []
    with tempfile.TemporaryDirectory() as folder, Engine.open(folder, Path(folder, "home")) as engine:
        vectors = MiniLM()
        for number, (label, old, new) in enumerate(rows):
            where = {"scope": "session", "session": f"pair {number}"}
            first = engine.remember(old, **where)
            second = engine.remember(new, **where)
            one, other = vectors.embed([old, new])
            cosine = float(one @ other)
            relation = _relation(engine, first.id, second)
            judged.append(Judged(label, relation, _by_cosine(cosine), cosine, second.message, old, new))
    return judged


def _relation(engine: Engine, first: str, receipt: Any) -> StatementRelation:
    """What `remember` made of it."""
    if receipt.outcome in (Outcome.SUPERSEDED, Outcome.CONFLICT):
        return StatementRelation.CONTRADICTION
    if receipt.is_duplicate:
        return StatementRelation.DUPLICATE
    linked = [link.reason for link in engine.links(receipt.id) if first in (link.source, link.target)]
    if "probably the same" in linked:
        return StatementRelation.MERGEABLE
    return StatementRelation.RELATED if linked else StatementRelation.UNRELATED


def _by_cosine(cosine: float) -> StatementRelation:
    if cosine >= SAME:
        return StatementRelation.DUPLICATE
    if cosine >= ALIKE:
        return StatementRelation.MERGEABLE
    return StatementRelation.RELATED if cosine >= NEAR else StatementRelation.UNRELATED


def _alone(judged: list[Judged]) -> list[Judged]:
    return [row._replace(relation=row.alone) for row in judged]


def _coding_figures(judged: list[Judged]) -> dict[str, float]:
    total = Counter(row.label for row in judged)
    found = Counter((row.label, row.relation) for row in judged)
    right = found["contradiction", StatementRelation.CONTRADICTION]
    called = sum(row.relation is StatementRelation.CONTRADICTION for row in judged)
    merged = sum(found["duplicate", relation] for relation in MERGED)
    return {
        "contradictions": total["contradiction"],
        "contradiction F1": 2 * right / (called + total["contradiction"]),
        "contradictions merged": found["contradiction", StatementRelation.DUPLICATE] / total["contradiction"],
        "contradictions mergeable": found["contradiction", StatementRelation.MERGEABLE]
        / total["contradiction"],
        "duplicates": total["duplicate"],
        "duplicates merged": found["duplicate", StatementRelation.DUPLICATE] / total["duplicate"],
        "duplicates merged or mergeable": merged / total["duplicate"],
        "duplicates called contradiction": found["duplicate", StatementRelation.CONTRADICTION]
        / total["duplicate"],
        "related": total["related"],
        "related merged": found["related", StatementRelation.DUPLICATE] / total["related"],
        "related called contradiction": found["related", StatementRelation.CONTRADICTION] / total["related"],
    }


def _general_figures(judged: list[Judged]) -> dict[str, float]:
    figures: dict[str, float] = {}
    for label in ("contra true", "contra false", "para true", "para false"):
        relations = [row.relation for row in judged if row.label == label]
        figures[label] = len(relations)
        figures[f"{label}, merged"] = relations.count(StatementRelation.DUPLICATE) / len(relations)
        figures[f"{label}, mergeable"] = relations.count(StatementRelation.MERGEABLE) / len(relations)
        figures[f"{label}, called contradiction"] = relations.count(StatementRelation.CONTRADICTION) / len(
            relations
        )
    return figures


def _is_wrong(row: Judged) -> bool:
    match row.label:
        case "contradiction":
            return row.relation is not StatementRelation.CONTRADICTION
        case "duplicate":
            return row.relation not in MERGED
        case _:
            return row.relation in (StatementRelation.DUPLICATE, StatementRelation.CONTRADICTION)


def show(figures: dict[str, Any]) -> None:
    for name in ("coding", "general"):
        rules, alone = figures[name]["rules"], figures[name]["cosine alone"]
        print(f"{name + ' pairs':36}{'rules':>8}{'cosine':>8}")
        for figure, value in rules.items():
            shown = [f"{x:8.0f}" if isinstance(x, int) else f"{x:8.1%}" for x in (value, alone[figure])]
            print(f"  {figure:34}{shown[0]}{shown[1] if isinstance(value, float) else ''}")


def main() -> None:
    figures = run()
    if "skipped" in figures:
        print(f"pairs: skipped, {figures['skipped']}")
        return
    show(figures)
    if "-v" in sys.argv:
        for row in figures["details"]["coding"]:
            print(f"{row.label} → {row.relation} ({row.reason}; {row.cosine:.2f}): {row.old} | {row.new}")


if __name__ == "__main__":
    main()
