"""Judged transcripts of `bench/data`: what a session leaves in memory, against what a careful reader keeps.

Each transcript is learnt from as `recollect extract` does it, in a store of its own; what counts are the memories.
`dev` and `dev3` may be looked at; of the other halves only totals are printed.

Some transcripts say what an agent records when it is asked at the end of the session (`records`). With its help means: these are
written by the memory tool first, as an agent writes, and the session is learnt from after that.
"""

import tempfile
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from bench.extraction.cases import ratio
from bench.judgement import SEEN, TRANSCRIPT_HALVES, JudgedTranscript, meets, tally, transcripts
from recollect import Engine
from recollect.config import load_settings
from recollect.work.sessions.transcript import LearningReport, learn_from_file

_WITHOUT_HELP = ("dev", "unseen")  # nobody wrote what an agent would record


def run(halves: tuple[str, ...] = TRANSCRIPT_HALVES) -> dict[str, Any]:
    totals: dict[str, Counter[str]] = {}
    details = []
    for half in halves:
        total = totals[half] = Counter()
        for judged in transcripts(half):
            if not judged.path.exists():
                total["absent"] += 1
                continue
            learnt = memories_of(judged.path)
            counted = tally(judged, learnt)._asdict()
            total.update(counted)
            if judged.records or half not in _WITHOUT_HELP:
                helped = tally(judged, memories_of(judged.path, judged.records))._asdict()
                total.update({f"{name} with help": count for name, count in helped.items()})
            if half in SEEN:
                details.append({"transcript": judged, "learnt": learnt, **counted})
    return {"totals": {half: dict(total) for half, total in totals.items()}, "details": details}


def memories_of(path: Path, records: Sequence[dict[str, str]] = ()) -> list[tuple[str, str]]:
    """Return kind and content of each memory that a transcript leaves in an empty store, after what the agent recorded."""
    with tempfile.TemporaryDirectory() as folder:
        settings = load_settings(Path(folder, "home"), {}, embedder="none")
        if records:
            with Engine.open(Path(folder), settings=settings, actor="agent:scripted") as agent:
                for record in records:
                    agent.remember(record["content"], kind=record["kind"])
        with Engine.open(Path(folder), settings=settings) as engine:
            return _learn(engine, path)


def _learn(engine: Engine, path: Path) -> list[tuple[str, str]]:
    learn_from_file(engine.sessions, path, LearningReport())
    found = engine.store.newest(engine.context.view(), limit=1000)
    return [(memory.kind, memory.content) for memory in found]


def show(result: dict[str, Any]) -> None:
    for half, total in result["totals"].items():
        right, wrong, unjudged = (total.get(name, 0) for name in ("right", "wrong", "unjudged"))
        print(
            f"{half:<6} precision {ratio(right, right + wrong)}, with the unjudged as wrong"
            f" {ratio(right, right + wrong + unjudged)}   (target ≥ 0.8)"
        )
        print(
            f"{half:<6} recall {ratio(total.get('found', 0), total.get('wanted', 0))}   (target ≥ 0.45 without the agent's help)"
        )
        if "wanted with help" in total:
            right, wrong, unjudged = (
                total.get(f"{name} with help", 0) for name in ("right", "wrong", "unjudged")
            )
            print(
                f"{half:<6} with the agent's help: recall"
                f" {ratio(total['found with help'], total['wanted with help'])}   (target ≥ 0.6), precision"
                f" {ratio(right, right + wrong)}, with the unjudged as wrong {ratio(right, right + wrong + unjudged)}"
            )
        if total.get("absent"):
            print(f"{half:<6} {total['absent']} transcripts are not there")


def explain(details: list[dict[str, Any]]) -> None:
    """Print what was learnt from the dev half, and what was missed."""
    for row in details:
        judged: JudgedTranscript = row["transcript"]
        print(
            f"\n=== {judged.path.name}  {row['right']} right, {row['wrong']} wrong, {row['unjudged']} unjudged"
        )
        for kind, content in row["learnt"]:
            met = any(meets(each, content) and kind in each["kinds"] for each in (*judged.keep, *judged.may))
            print(f"  {'right' if met else 'WRONG?'} [{kind}] {content}")
        for each in judged.keep:
            if not any(meets(each, content) and kind in each["kinds"] for kind, content in row["learnt"]):
                print(f"  missed {each['memory']}  {each['source']} {each['at']}")
