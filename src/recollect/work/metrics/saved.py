"""What memory has saved of the tokens that finding one's way costs: computed, or not said at all. Pure."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from statistics import median

LEAST = 3  # sessions without memory, below which there is nothing to compare with

# The names under which a session's figures are kept.
DISCOVERY = "discovery_tokens"
LOOKS = "discovery_looks"
EDITED = "edited"
INJECTED = "injected"  # memories shown to an agent
USED = "used"  # of those, the ones it went by
ON_DEMAND = "on_demand"  # searches that an agent asked for


@dataclass(frozen=True, slots=True)
class Saved:
    """`tokens` is None where it cannot be said, and `why` says why; it may be negative."""

    tokens: int | None
    why: str
    spent: int | None = None
    usual: int | None = None  # the median of the sessions without memory
    compared: int = 0  # how many those are

    @property
    def line(self) -> str:
        """For the end of a session; empty when there is nothing to boast of."""
        if self.tokens is None or self.tokens <= 0:
            return ""
        return f"Memory saved about {self.tokens:,} tokens of exploration this session"


def saved(session: Mapping[str, float], others: Sequence[Mapping[str, float]]) -> Saved:
    """The session's figures, against those of the project's sessions to which no memory was shown."""
    if not session.get(INJECTED):
        return Saved(None, "No memory was shown in this session: there is nothing to have saved.")
    if not session.get(EDITED):
        return Saved(None, "The session edited nothing, so it is not known when it had found its way.")
    usual = [each[DISCOVERY] for each in others if is_baseline(each)]
    spent = round(session.get(DISCOVERY, 0.0))
    if len(usual) < LEAST:
        return Saved(
            None,
            f"There is no baseline: {len(usual)} of the {LEAST} sessions needed, in which something was edited and no"
            " memory was shown, are known in this project.",
            spent,
            compared=len(usual),
        )
    middle = round(median(usual))
    return Saved(
        middle - spent,
        f"Until its first edit the session read and searched {spent:,} tokens; {len(usual)} sessions of this project"
        f" without memory took {middle:,} (their median, from {round(min(usual)):,} to {round(max(usual)):,}).",
        spent,
        middle,
        len(usual),
    )


def is_baseline(session: Mapping[str, float]) -> bool:
    """Whether it found its way without memory: shown none, and asked for none."""
    helped = session.get(INJECTED) or session.get(ON_DEMAND)
    return bool(session.get(EDITED)) and not helped and DISCOVERY in session
