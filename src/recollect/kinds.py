"""The table of kinds: the categories of memories, and how each behaves.

Code uses the fields of this table and never tests for a kind by name. To add a kind, add a row.
"""

from dataclasses import dataclass
from datetime import timedelta

from recollect.errors import UnknownName


@dataclass(frozen=True, slots=True)
class Kind:
    name: str
    family: str
    half_life: float | None  # days until the confidence has halved; None = no decay
    ttl: float | None  # days until an unused, automatically promoted memory is archived; None = never
    weight: float  # factor for the rank of a hit
    correcting: bool = False  # what a user stores with it corrects the agent
    standing: bool = False  # a rule: told at every start, if the user said it or it was confirmed
    warns: bool = False  # shown when one of its triggers matches
    forbids: bool = False  # a user's: the host asks before a tool that one of its triggers matches
    reports: bool = False  # says what happened, which contradicts nothing
    label: str = ""  # printed in brackets in a briefing; empty = the name

    @property
    def heading(self) -> str:
        return (self.label or self.name).upper()


_ROWS = (
    Kind("human_feedback", "user", None, None, 1.6, correcting=True, standing=True, label="feedback"),
    Kind("correction", "user", 365, None, 1.5, correcting=True, standing=True),
    Kind("preference", "user", 90, 365, 1.1, standing=True),
    Kind("decision", "knowledge", None, 90, 1.3, standing=True),
    Kind("convention", "knowledge", None, None, 1.2, standing=True),
    Kind("architecture", "knowledge", None, 180, 1.2),
    Kind("pattern", "knowledge", None, 180, 1.1),
    Kind("dependency_relation", "knowledge", None, None, 1.0, label="dependency"),
    Kind("fact", "knowledge", 30, None, 1.0),
    Kind("entity", "knowledge", 30, None, 1.0),
    Kind("discovery", "knowledge", 30, 21, 0.9),
    Kind("procedure", "how-to", 60, None, 1.1, warns=True),
    Kind("negative", "warning", 365, None, 1.4, standing=True, warns=True, forbids=True, label="never"),
    Kind("gotcha", "warning", 60, None, 1.3),
    Kind("warning", "warning", 60, 30, 1.3),
    Kind("error_pattern", "warning", 60, 90, 1.2, reports=True, label="error"),
    Kind("environment_quirk", "warning", 7, None, 1.0, label="environment"),
    Kind("session_insight", "session", 30, None, 0.8, label="insight"),
    Kind("task_outcome", "session", 30, None, 0.8, reports=True, label="outcome"),
    Kind("context", "session", 7, None, 0.7),
    Kind("observation", "session", 7, None, 0.7),
    Kind("file_change", "session", 14, 21, 0.6, reports=True, label="change"),
    Kind("task_progress", "session", 7, 14, 0.6, reports=True, label="progress"),
    Kind("pr_review", "review", 90, None, 1.0, label="review"),
    Kind("pr_finding", "review", 90, None, 1.0, label="finding"),
    Kind("pr_pattern", "review", 90, None, 1.0, label="pattern"),
    Kind("pr_gotcha", "review", 90, None, 1.0, label="gotcha"),
)

KINDS: dict[str, Kind] = {kind.name: kind for kind in _ROWS}

ALIASES = {
    "codebase_map": "architecture",
    "codebase_discovery": "discovery",
    "error": "error_pattern",
}

DEFAULT = "fact"

# Rules for all kinds (docs/lifecycle.md).
INFERRED_HALF_LIFE = 7.0  # days; the maximum for inferred memories
FADED = 0.1  # confidence below which an automatically stored memory is archived
USED_ENOUGH = 3  # uses after which the `ttl` no longer applies
LATELY = timedelta(hours=24)  # a memory used within this time is not archived
QUARANTINE = timedelta(hours=24)  # time in which an automatically stored memory has to be used
DOUBTED = 0.8  # factor for its importance if it was not used
ROOM = 0.9  # share of the capacity that a project above it is reduced to


def kind_of(name: str) -> Kind:
    """Return the kind with this name or alias. Raises `UnknownName`."""
    key = name.strip().lower().replace("-", "_").replace(" ", "_")
    key = ALIASES.get(key, key)
    if key not in KINDS:
        raise UnknownName("kind", name, [*KINDS, *ALIASES])
    return KINDS[key]
