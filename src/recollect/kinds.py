"""The table of kinds: what sorts of statement there are, and how each behaves.

Code asks this table and never tests for a kind by name. To add a kind, add a row.
"""

from dataclasses import dataclass
from datetime import timedelta

from recollect.errors import UnknownName


@dataclass(frozen=True, slots=True)
class Kind:
    name: str
    family: str
    half_life: float | None  # days until confidence halves; None = never fades
    ttl: float | None  # days an unused, automatically promoted memory lives; None = for ever
    weight: float  # how much a hit of this kind counts
    correcting: bool = False  # what a person types under it is a correction of the agent
    standing: bool = False  # true of the project at all times: belongs in every briefing
    warns: bool = False  # surfaces when one of its triggers matches
    label: str = ""  # what a briefing prints in brackets; the name where empty

    @property
    def heading(self) -> str:
        return (self.label or self.name).upper()


_ROWS = (
    Kind("human_feedback", "user", None, None, 1.6, correcting=True, label="feedback"),
    Kind("correction", "user", 365, None, 1.5, correcting=True),
    Kind("preference", "user", 90, 365, 1.1),
    Kind("decision", "knowledge", None, 90, 1.3, standing=True),
    Kind("convention", "knowledge", None, None, 1.2, standing=True),
    Kind("architecture", "knowledge", None, 180, 1.2),
    Kind("pattern", "knowledge", None, 180, 1.1),
    Kind("dependency_relation", "knowledge", None, None, 1.0, label="dependency"),
    Kind("fact", "knowledge", 30, None, 1.0),
    Kind("entity", "knowledge", 30, None, 1.0),
    Kind("discovery", "knowledge", 30, 21, 0.9),
    Kind("procedure", "how-to", 60, None, 1.1, warns=True),
    Kind("negative", "warning", 365, None, 1.4, warns=True, label="never"),
    Kind("gotcha", "warning", 60, None, 1.3),
    Kind("warning", "warning", 60, 30, 1.3),
    Kind("error_pattern", "warning", 60, 90, 1.2, label="error"),
    Kind("environment_quirk", "warning", 7, None, 1.0, label="environment"),
    Kind("session_insight", "session", 30, None, 0.8, label="insight"),
    Kind("task_outcome", "session", 30, None, 0.8, label="outcome"),
    Kind("context", "session", 7, None, 0.7),
    Kind("observation", "session", 7, None, 0.7),
    Kind("file_change", "session", 14, 21, 0.6, label="change"),
    Kind("task_progress", "session", 7, 14, 0.6, label="progress"),
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

# What holds for all kinds (docs/lifecycle.md).
INFERRED_HALF_LIFE = 7.0  # days, at most, for what was only inferred
FADED = 0.1  # confidence below which a memory that a program kept is archived
USED_ENOUGH = 3  # uses after which its kind's time no longer counts
LATELY = timedelta(hours=24)  # what was used within is never archived
QUARANTINE = timedelta(hours=24)  # in which what a program kept must prove its worth
DOUBTED = 0.8  # what is left of its importance if it has not
ROOM = 0.9  # of the capacity, to which a project above it is brought down


def kind_of(name: str) -> Kind:
    """The kind called `name`, by its own name or an alias. Raises `UnknownName`."""
    key = name.strip().lower().replace("-", "_").replace(" ", "_")
    key = ALIASES.get(key, key)
    if key not in KINDS:
        raise UnknownName("kind", name, [*KINDS, *ALIASES])
    return KINDS[key]
