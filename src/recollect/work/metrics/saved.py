"""Tokens of exploration that memory saved: computed from a baseline, or not reported at all. Pure functions."""

from collections.abc import Mapping, Sequence

from recollect.frozen import frozen

LEAST = 3  # sessions without memory that a baseline needs

# The names under which a session's figures are stored.
DISCOVERY = "discovery_tokens"
LOOKS = "discovery_looks"
EDITED = "edited"
INJECTED = "injected"  # memories shown to an agent
USED = "used"  # of those, the ones it used
ON_DEMAND = "on_demand"  # searches that an agent asked for
ASKED = "asked"  # sessions whose agent was asked to record what it learnt
ASKED_TOKENS = "asked_tokens"  # of that request and of what the agent did about it


@frozen
class Savings:
    """`tokens` may be negative; it is None if there is no baseline, and `why` gives the reason."""

    tokens: int | None
    why: str
    spent: int | None = None
    usual: int | None = None  # the median of the sessions without memory
    compared: int = 0  # how many those are

    @property
    def line(self) -> str:
        """Return a line for the end of a session, or "" if nothing was saved."""
        if self.tokens is None or self.tokens <= 0:
            return ""
        return f"Memory saved about {self.tokens:,} tokens of exploration this session"


def saved(session: Mapping[str, float], others: Sequence[Mapping[str, float]]) -> Savings:
    """Compare a session's figures with those of the project's sessions to which no memory was shown."""
    if not session.get(INJECTED):
        return Savings(None, "No memory was shown in this session, so it saved nothing.")
    if not session.get(EDITED):
        return Savings(None, "The session edited nothing, so the end of its exploration is unknown.")
    usual = [other[DISCOVERY] for other in others if is_baseline(other)]
    spent = round(session.get(DISCOVERY, 0.0))
    if len(usual) < LEAST:
        return Savings(
            None,
            f"There is no baseline yet: this project has {len(usual)} of the {LEAST} sessions needed that edited"
            " something without being shown a memory.",
            spent,
            compared=len(usual),
        )
    from statistics import median  # which takes 10 ms to import

    middle = round(median(usual))
    return Savings(
        middle - spent,
        f"The session read and searched {spent:,} tokens before its first edit. The median of {len(usual)} sessions"
        f" of this project without memory is {middle:,} ({round(min(usual)):,} to {round(max(usual)):,}).",
        spent,
        middle,
        len(usual),
    )


def is_baseline(session: Mapping[str, float]) -> bool:
    """Return whether a session explored without memory: it was shown none and searched none."""
    helped = session.get(INJECTED) or session.get(ON_DEMAND)
    return bool(session.get(EDITED)) and not helped and DISCOVERY in session
