"""One small thing that consolidation does, planned before it is done."""

from collections.abc import Callable
from dataclasses import dataclass

MERGED = "merged"
PROPOSED = "proposed"
SUPERSEDED = "superseded"
CONTRADICTIONS = "contradictions"
TIED = "tied"
STALE = "stale"
LINKED = "linked"
STRENGTHENED = "strengthened"
PRUNED = "pruned"
VECTORS = "vectors"
TAGS = "tags"
CLUSTERS = "clusters"

COUNTED = (  # in the order of a summary: what is counted, and how one and several are told
    (MERGED, "merged {}", "merged {}"),
    (PROPOSED, "proposed {} merge", "proposed {} merges"),
    (SUPERSEDED, "superseded {}", "superseded {}"),
    (CONTRADICTIONS, "{} contradiction", "{} contradictions"),
    (TIED, "tied {} to code", "tied {} to code"),
    (STALE, "{} stale", "{} stale"),
    (LINKED, "{} link", "{} links"),
    (STRENGTHENED, "{} stronger link", "{} stronger links"),
    (PRUNED, "pruned {}", "pruned {}"),
    (VECTORS, "{} vector", "{} vectors"),
    (TAGS, "{} tag", "{} tags"),
    (CLUSTERS, "{} cluster", "{} clusters"),
)


@dataclass(frozen=True, slots=True)
class Act:
    """`do` runs in a transaction that it shares with others, looks again, and says whether it was still to be done."""

    counts_as: str  # one of COUNTED
    memories: tuple[str, ...]
    why: str  # for the plan
    do: Callable[[], bool]
    position: str = ""  # where the operation may go on after it


def summarise(counts: dict[str, int]) -> str:
    """For people: "Merged 12, proposed 3 merges, 1 contradiction"."""
    told = [
        (one if counts[name] == 1 else several).format(f"{counts[name]:,}")
        for name, one, several in COUNTED
        if counts.get(name)
    ]
    text = ", ".join(told) or "nothing to do"
    return f"{text[0].upper()}{text[1:]}."
