"""Decide which findings of a session become memories: signals, filters, presets, branches."""

import re
from collections.abc import Collection

import recollect.model as m
from recollect.context.project import ProjectFolder, branch_of_its_own
from recollect.errors import UnknownName
from recollect.frozen import frozen
from recollect.policy import USER_SOURCES

# Signals in favour of a finding, and their points.
POINTS = {
    "user-intent": 5,  # the user asked to remember it, or stated a rule that is understood by itself
    "explicit-pin": 5,
    "user-correction": 2,  # the user corrected the agent, which may apply only once
    "multi-session": 2,
    "error-resolution": 2,
    "multi-agent": 1,
    "high-importance": 1,
}
BYPASS = frozenset({"user-intent", "explicit-pin"})  # what the user wants remembered passes every filter
IMPORTANT = 0.7
SEVERAL = 2  # sessions or agents
_THIS_BRANCH = re.compile(r"\b(?:on|in|for) this branch\b", re.IGNORECASE)


@frozen
class Preset:
    points: int
    importance: float
    length: int  # characters


PRESETS = {
    "conservative": Preset(4, 0.4, 50),
    "balanced": Preset(3, 0.25, 30),
    "aggressive": Preset(2, 0.15, 20),
}
DEFAULT_PRESET = "balanced"


@frozen
class Verdict:
    promoted: bool
    points: int
    signals: tuple[str, ...]  # in its favour
    reason: str  # why, or why not


def preset_named(name: str) -> Preset:
    """Return the preset with this name. Raises `UnknownName`."""
    if name not in PRESETS:
        raise UnknownName("preset", name, list(PRESETS))
    return PRESETS[name]


def judge(finding: m.Finding, preset: Preset, sessions: int, agents: int) -> Verdict:
    """Decide whether `finding`, seen in that many sessions by that many agents, becomes a memory of the project."""
    signals = _signals(finding, sessions, agents)
    points = sum(POINTS[name] for name in signals)
    if not BYPASS & set(signals):
        if len(finding.content) < preset.length:
            return Verdict(False, points, signals, f"shorter than {preset.length} characters")
        if finding.importance < preset.importance:
            return Verdict(False, points, signals, f"importance below {preset.importance:g}")
    if points < preset.points:
        return Verdict(False, points, signals, f"{points} of {preset.points} points")
    return Verdict(True, points, signals, f"{points} points: {', '.join(signals)}")


def _signals(finding: m.Finding, sessions: int, agents: int) -> tuple[str, ...]:
    found: Collection[str] = {
        *finding.signals,
        *(["user-intent"] if finding.source in USER_SOURCES else []),
        *(["multi-session"] if sessions >= SEVERAL else []),
        *(["multi-agent"] if agents >= SEVERAL else []),
        *(["high-importance"] if finding.importance >= IMPORTANT else []),
    }
    return tuple(name for name in POINTS if name in found)


def branch_of(finding: m.Finding, folder: ProjectFolder | None) -> str | None:
    """Return the branch to which a finding belongs, and a memory made of it; None = all.

    A rule of the user holds on all branches, unless it speaks of the one it was stated on.
    """
    if folder is None or (finding.source in USER_SOURCES and not _THIS_BRANCH.search(finding.content)):
        return None
    return branch_of_its_own(folder, finding.branch)
