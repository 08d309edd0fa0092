"""The table of kinds: the categories of memories, and how each behaves.

Code uses the fields of this table and never tests for a kind by name. To add a kind, add a row.
"""

from datetime import timedelta

from recollect.errors import UnknownName
from recollect.frozen import frozen


@frozen
class Kind:
    name: str
    family: str
    meaning: str  # what is stored as this kind, in a line
    half_life: float | None  # days until the confidence has halved; None = no decay
    ttl: (
        float | None
    )  # days after which an unused memory that was promoted automatically has had its day; None = never
    weight: float  # factor for the rank of a hit
    correcting: bool = False  # what a user stores with it corrects the agent
    standing: bool = False  # a rule: told at every start, if the user said it or it was confirmed
    warns: bool = False  # shown when one of its triggers matches
    forbids: bool = False  # a user's: the host asks before a tool that one of its triggers matches
    reports: bool = False  # says what happened, which contradicts nothing
    label: str = ""  # printed in brackets in a briefing; empty = the name

    @property
    def is_transient(self) -> bool:
        """Whether memories of this kind describe a moment, which is over soon."""
        return self.weight <= TRANSIENT_WEIGHT

    @property
    def heading(self) -> str:
        return (self.label or self.name).upper()


_ROWS = (
    Kind(
        "human_feedback",
        "user",
        "what you told an agent about its work",
        None,
        None,
        1.6,
        correcting=True,
        standing=True,
        label="feedback",
    ),
    Kind(
        "correction",
        "user",
        "what you told an agent to do differently",
        365,
        None,
        1.5,
        correcting=True,
        standing=True,
    ),
    Kind("preference", "user", "how you like things done", 90, 365, 1.1, standing=True),
    Kind("decision", "knowledge", "what was decided, and why", None, 90, 1.3, standing=True),
    Kind(
        "convention",
        "knowledge",
        "a rule of the project that its code follows",
        None,
        None,
        1.2,
        standing=True,
    ),
    Kind("architecture", "knowledge", "how the parts of the codebase fit together", None, 180, 1.2),
    Kind("pattern", "knowledge", "a way of solving something that the project repeats", None, 180, 1.1),
    Kind("dependency_relation", "knowledge", "what depends on what", None, None, 1.0, label="dependency"),
    Kind("fact", "knowledge", "something that is true of the project; the default", 30, None, 1.0),
    Kind("entity", "knowledge", "a service, person, table or other thing that has a name", 30, None, 1.0),
    Kind("discovery", "knowledge", "what an agent found out about the code", 30, 21, 0.9),
    Kind(
        "procedure",
        "how-to",
        "steps to do something, in order; its triggers bring it up",
        60,
        None,
        1.1,
        warns=True,
    ),
    Kind(
        "negative",
        "warning",
        "what must never be done; its triggers stop an agent and ask",
        365,
        None,
        1.4,
        standing=True,
        warns=True,
        forbids=True,
        label="never",
    ),
    Kind("gotcha", "warning", "what goes wrong unless you know it", 60, None, 1.3),
    Kind("warning", "warning", "a temporary danger", 60, 30, 1.3),
    Kind(
        "error_pattern", "warning", "an error, and what solved it", 60, 90, 1.2, reports=True, label="error"
    ),
    Kind(
        "environment_quirk",
        "warning",
        "an oddity of a machine or its set-up",
        7,
        None,
        1.0,
        label="environment",
    ),
    Kind(
        "session_insight", "session", "what a session learnt, in a sentence", 30, None, 0.8, label="insight"
    ),
    Kind("task_outcome", "session", "how a task ended", 30, None, 0.8, reports=True, label="outcome"),
    Kind("context", "session", "what a session was about", 7, None, 0.7),
    Kind("observation", "session", "what an agent noticed in passing", 7, None, 0.7),
    Kind("file_change", "session", "what was changed in a file", 14, 21, 0.6, reports=True, label="change"),
    Kind("task_progress", "session", "how far a task has come", 7, 14, 0.6, reports=True, label="progress"),
    Kind("pr_review", "review", "a review of a pull request as a whole", 90, None, 1.0, label="review"),
    Kind("pr_finding", "review", "a finding of a review", 90, None, 1.0, label="finding"),
    Kind("pr_pattern", "review", "what reviews find again and again", 90, None, 1.0, label="pattern"),
    Kind("pr_gotcha", "review", "what a review nearly missed", 90, None, 1.0, label="gotcha"),
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
FADED = 0.1  # confidence below which an automatically stored memory has had its day
TRANSIENT_WEIGHT = 0.7  # kinds up to this weight describe a moment
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
