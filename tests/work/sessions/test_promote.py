"""Which findings become memories: every signal, every filter, every preset."""

from datetime import UTC, datetime

import pytest

import recollect.model as m
from recollect.errors import UnknownName
from recollect.work.sessions.promote import POINTS, PRESETS, judge, preset_named

NOW = datetime(2026, 1, 1, tzinfo=UTC)


def finding(content="The queue must be drained before the schema is migrated.", **fields):
    return m.Finding("f", "s", m.fingerprint(content), "fact", content, NOW, **fields)


@pytest.mark.parametrize(
    "signals, importance, sessions, agents, points",
    [
        ((), 0.5, 1, 1, 0),
        (("user-intent",), 0.5, 1, 1, 5),
        (("explicit-pin",), 0.5, 1, 1, 5),
        (("error-resolution",), 0.5, 1, 1, 2),
        (("user-correction",), 0.5, 1, 1, 2),
        ((), 0.5, 2, 1, 2),
        ((), 0.5, 1, 2, 1),
        ((), 0.7, 1, 1, 1),
        ((), 0.69, 1, 1, 0),
        (("error-resolution",), 0.8, 3, 2, 6),
        (("user-intent", "explicit-pin", "error-resolution"), 0.9, 2, 2, 16),
    ],
)
def test_points_are_those_of_the_table(signals, importance, sessions, agents, points):
    verdict = judge(finding(signals=signals, importance=importance), PRESETS["balanced"], sessions, agents)

    assert verdict.points == points


@pytest.mark.parametrize("preset, enough", [("conservative", 4), ("balanced", 3), ("aggressive", 2)])
@pytest.mark.parametrize(
    "signals, sessions, agents, points",
    [((), 1, 2, 1), ((), 2, 1, 2), ((), 2, 2, 3), (("error-resolution",), 2, 1, 4)],
)
def test_a_preset_asks_for_its_number_of_points(preset, enough, signals, sessions, agents, points):
    verdict = judge(finding(signals=signals), PRESETS[preset], sessions, agents)

    assert verdict.promoted == (points >= enough)
    if not verdict.promoted:
        assert verdict.reason == f"{points} of {enough} points"


@pytest.mark.parametrize("preset, least", [("conservative", 0.4), ("balanced", 0.25), ("aggressive", 0.15)])
def test_a_preset_filters_by_importance(preset, least):
    made = finding(signals=("error-resolution",))

    below = judge(m.Finding(**_fields(made) | {"importance": least - 0.01}), PRESETS[preset], 9, 9)
    enough = judge(m.Finding(**_fields(made) | {"importance": least}), PRESETS[preset], 9, 9)

    assert (below.promoted, enough.promoted) == (False, True)
    assert "importance" in below.reason


@pytest.mark.parametrize("preset, least", [("conservative", 50), ("balanced", 30), ("aggressive", 20)])
def test_a_preset_filters_by_length(preset, least):
    short = judge(finding("x" * (least - 1), signals=("error-resolution",)), PRESETS[preset], 9, 9)
    long = judge(finding("x" * least, signals=("error-resolution",)), PRESETS[preset], 9, 9)

    assert (short.promoted, long.promoted) == (False, True)


@pytest.mark.parametrize("signal", ["user-intent", "explicit-pin"])
@pytest.mark.parametrize("preset", list(PRESETS))
def test_what_a_person_wants_kept_passes_every_filter(preset, signal):
    verdict = judge(finding("Tabs.", importance=0.0, signals=(signal,)), PRESETS[preset], 1, 1)

    assert verdict.promoted


def test_the_reason_names_what_spoke_for_it():
    verdict = judge(finding(signals=("error-resolution",), importance=0.8), PRESETS["balanced"], 1, 1)

    assert verdict.reason == "3 points: error-resolution, high-importance"


def test_an_unknown_signal_counts_nothing():
    assert judge(finding(signals=("astrology",)), PRESETS["aggressive"], 1, 1).points == 0
    assert set(POINTS) == {
        "user-intent",
        "explicit-pin",
        "user-correction",
        "multi-session",
        "error-resolution",
        "multi-agent",
        "high-importance",
    }


def test_an_unknown_preset_is_refused_with_the_nearest():
    with pytest.raises(UnknownName, match="balancd"):
        preset_named("balancd")


def _fields(made):
    return {name: getattr(made, name) for name in m.Finding.__dataclass_fields__}
