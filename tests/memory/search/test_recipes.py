"""The recipes reproduce their documents' formulas, with worked numbers."""

import math
from dataclasses import replace
from datetime import UTC, datetime, timedelta

import pytest

from recollect.errors import UnknownName
from recollect.memory.search.recipes import RECIPES, HitEvidence, recipe_named
from recollect.model import Memory, Provenance, Scope, Source, Standing

NOW = datetime(2026, 11, 1, tzinfo=UTC)


def memory(kind="fact", days=30, **fields):
    born = NOW - timedelta(days=days)
    base = Memory(
        id="m1",
        user_id="me",
        project_id="p1",
        scope=Scope.PROJECT,
        kind=kind,
        content="text",
        summary="text",
        fingerprint="f",
        created_at=born,
        updated_at=born,
        valid_from=born,
        provenance=(Provenance(Source.USER_STATED, born),),
    )
    return replace(base, **fields)


def score(name, **evidence):
    return RECIPES[name].score(HitEvidence(now=NOW, **evidence))[0]


# seed 000: base_relevance × e^(−age / half_life) × (1 + ln(accesses + 1)) × trust


@pytest.mark.parametrize(
    "kind, days, accesses, trust, expected",
    [
        ("fact", 0, 0, 1.0, 0.8),
        ("fact", 30, 0, 1.0, 0.8 * math.exp(-1)),  # one "half-life" leaves 37 %
        ("correction", 365, 0, 1.0, 0.8 * math.exp(-1)),
        ("preference", 45, 0, 1.0, 0.8 * math.exp(-0.5)),
        ("observation", 7, 0, 0.5, 0.4 * math.exp(-1)),
        ("fact", 0, 9, 1.0, 0.8 * (1 + math.log(10))),
        ("decision", 1000, 0, 0.9, 0.72),  # does not fade
    ],
)
def test_seed_000(kind, days, accesses, trust, expected):
    found = memory(kind, days, access_count=accesses, trust=trust)

    assert score("seed-000", memory=found, cosine=0.8) == pytest.approx(expected)


# seed 002: 0.6 × cosine + 0.25 × recency + 0.15 × frequency


@pytest.mark.parametrize(
    "kind, idle, accesses, standing, expected",
    [
        ("gotcha", 0, 0, "confirmed", 0.48 + 0.25),
        ("gotcha", 60, 0, "confirmed", 0.48 + 0.125),
        ("preference", 180, 0, "confirmed", 0.48 + 0.125),
        ("convention", 900, 0, "confirmed", 0.48 + 0.25),
        ("context", 7, 10, "confirmed", 0.48 + 0.125 + 0.075),
        ("context", 7, 40, "confirmed", 0.48 + 0.125 + 0.15),
        ("context", 700, 0, "pinned", 0.48 + 0.25),
    ],
)
def test_seed_002(kind, idle, accesses, standing, expected):
    found = memory(
        kind,
        1000,
        access_count=accesses,
        standing=Standing(standing),
        last_accessed_at=NOW - timedelta(days=idle),
    )

    assert score("seed-002", memory=found, cosine=0.8) == pytest.approx(expected)


# seed 003: BM25 × kind × recency × access × file × standing


@pytest.mark.parametrize(
    "kind, hours, accesses, shares, standing, expected",
    [
        ("fact", 10_000, 0, False, "confirmed", 2.0),
        ("gotcha", 10_000, 0, False, "confirmed", 2.6),
        ("fact", 0, 0, False, "confirmed", 3.0),
        ("fact", 24, 0, False, "confirmed", 2.0 * (1 + 0.5 * math.exp(-1))),
        ("fact", 10_000, 9, False, "confirmed", 2.0 * (1 + 0.1 * math.log(10))),
        ("fact", 10_000, 0, True, "confirmed", 3.0),
        ("fact", 10_000, 0, False, "candidate", 1.6),
        ("warning", 10_000, 0, True, "pinned", 2.0 * 1.3 * 1.5 * 1.5),
    ],
)
def test_seed_003(kind, hours, accesses, shares, standing, expected):
    found = memory(
        kind,
        1000,
        access_count=accesses,
        standing=Standing(standing),
        last_accessed_at=NOW - timedelta(hours=hours),
    )

    assert score("seed-003", memory=found, words=2.0, shares_file=shares) == pytest.approx(expected)


@pytest.mark.parametrize("name", RECIPES)
def test_what_a_score_is_made_of_gives_the_score(name):
    recipe = RECIPES[name]
    evidence = HitEvidence(
        memory(access_count=3),
        NOW,
        1.7,
        0.6,
        {"words": 0.9, "meaning": 0.4},
        0.2,
        shares_file=True,
        in_season=True,
    )

    total, factors = recipe.score(evidence)

    assert total == pytest.approx(math.prod(factors.values()) if recipe.multiplies else sum(factors.values()))


def test_the_priors_of_default_are_smaller_than_a_real_difference_in_relevance():
    weak = HitEvidence(
        memory("human_feedback", 0, trust=1.0, confidence=1.0), NOW, parts={"words": 0.2, "meaning": 0.2}
    )
    strong = HitEvidence(memory("task_progress", 300, trust=0.5), NOW, parts={"words": 0.9, "meaning": 0.9})

    assert RECIPES["default"].score(strong)[0] > RECIPES["default"].score(weak)[0]


def test_an_unknown_recipe_is_refused_by_name():
    with pytest.raises(UnknownName, match="recipe"):
        recipe_named("seed-007")
