from datetime import UTC, datetime

import pytest

import recollect.model as m
from recollect.interfaces.cli.explain import first_because, print_parts

NOW = datetime(2026, 6, 1, tzinfo=UTC)
PATH = "“login loop” → #a1b2c3 —tag incident→ #d4e5f6"


def hit(parts, combined="sum", **channels):
    memory = m.Memory(
        id="1m7geq8h9q82nvh933",
        user_id="u",
        project_id=None,
        scope=m.Scope.GLOBAL,
        kind="gotcha",
        content="x",
        summary="x",
        fingerprint="x",
        created_at=NOW,
        updated_at=NOW,
        valid_from=NOW,
        provenance=(m.Provenance(m.Source.USER_STATED, NOW),),
    )
    return m.Hit(memory, sum(parts.values()), {"parts": parts, "channels": channels, "combined": combined})


MEANING = {"rank": 1, "cosine": 0.64}
WORDS = {"rank": 1, "score": 2.0, "terms": "redis"}
MANY = {"rank": 1, "score": 2.0, "terms": "redis, tests, fail, login, loop"}


@pytest.mark.parametrize(
    "first, told",
    [
        (
            hit({"meaning": 0.64, "words": 0.3, "confidence": 0.02}, meaning=MEANING, words=WORDS),
            "is closest in meaning (0.64) and shares ‘redis’.",
        ),
        (
            hit({"meaning": 0.4, "words": 0.6}, meaning={"rank": 3, "cosine": 0.4}, words=MANY),
            "shares ‘redis’, ‘tests’, ‘fail’ and 2 more and is close in meaning (0.40, rank 3).",
        ),
        (
            hit({"meaning": 0.05, "graph": 0.5}, graph={"score": 0.5, "path": PATH}),
            "is linked to a hit (#a1b2c3 —tag incident→ #d4e5f6).",
        ),
        (
            hit({"words": 0.5, "file": 0.2, "kind": 0.05}, words=WORDS),
            "shares ‘redis’ and is about one of the given files.",
        ),
        (
            hit({"words": 2.0, "kind": 1.3, "use": 1.0}, "product", words=WORDS),
            "shares ‘redis’ and is of a kind that ranks higher (gotcha).",
        ),
        (hit({"confidence": 0.0}), "has a score of 0.00."),
    ],
)
def test_what_counts_most_is_told_in_words(first, told):
    assert first_because([first]) == f"The only result: it {told}"


@pytest.mark.parametrize(
    "first, second, told",
    [
        (hit({"meaning": 0.6, "words": 0.3}), hit({"meaning": 0.5, "words": 0.3}), "meaning (+0.10)."),
        (hit({"meaning": 0.5}), hit({"meaning": 0.5, "confidence": -0.1}), "confidence (+0.10)."),
        (hit({"cosine": 0.6}), hit({"cosine": 0.3}), "meaning (+0.30)."),
        (hit({"words": 2.0}, "product"), hit({"words": 1.0}, "product"), "words (×2.00)."),
        (hit({"words": 2.0}, "product"), hit({"words": 0.0}, "product"), "words (the second has none)."),
    ],
)
def test_what_it_has_over_the_second_is_told(first, second, told):
    assert first_because([first, second]).endswith(f"Ahead of the second mostly by {told}")


@pytest.mark.parametrize("combined", ["sum", "product"])
def test_two_that_are_as_good_are_called_that(combined):
    one = hit({"words": 1.0}, combined)

    assert first_because([one, one]).endswith("The second is almost equal.")


def test_a_part_that_changes_nothing_has_no_bar(capsys):
    print_parts(hit({"meaning": 0.5, "words": 0.0, "kind": -0.1}))
    print_parts(hit({"recency": 1.5, "use": 1.0, "words": 0.0}, "product"))

    names = [line.split()[0] for line in capsys.readouterr().out.splitlines()]
    assert names == ["meaning", "kind", "recency", "words"]
