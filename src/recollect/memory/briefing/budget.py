"""How many tokens a briefing may take, and how many each of its tiers."""

from dataclasses import replace

from recollect.frozen import frozen

CEILING = 5000
PERCENT = 8  # of the remaining context


@frozen
class TierShare:
    """The tokens of one tier."""

    percent: int  # of the total
    least: int
    most: int


SHARES = {  # in order of priority
    "always": TierShare(8, 200, 400),
    "bridge": TierShare(46, 500, 2300),
    "task": TierShare(30, 300, 1500),
    "summaries": TierShare(100, 200, 600),  # the rest
}
# Beyond the minimums, the task comes before the bridge: a briefing is for the task, and the bridge is the largest.
_GROWING = ("always", "task", "bridge", "summaries")


@frozen
class Allocation:
    """The tokens of a text for an agent, in total and by tier. `map` and `files` are parts of the task's."""

    total: int
    always: int = 0
    bridge: int = 0
    task: int = 0
    summaries: int = 0
    map: int = 0
    files: int = 0
    fixes: int = 0

    def within(self, total: int) -> "Allocation":
        """Return the same with at most `total` tokens."""
        return replace(self, total=max(0, min(self.total, total)))


def allocate(remaining: int, ceiling: int = CEILING) -> Allocation:
    """Divide the budget for a context with `remaining` tokens, at most `ceiling` tokens.

    The tiers never add up to more than the total, and no tier shrinks when more context remains.
    """
    total = max(0, min(remaining * PERCENT // 100, ceiling))
    left = (
        total * 100
    )  # in hundredths of a token: rounding comes last, so that no tier shrinks as the total grows
    tiers = {}
    for name, share in SHARES.items():
        tiers[name] = min(share.least * 100, left)
        left -= tiers[name]
    for name in _GROWING:
        wanted = min(total * SHARES[name].percent, SHARES[name].most * 100)
        more = min(max(wanted - tiers[name], 0), left)
        tiers[name] += more
        left -= more
    parts = {name: part // 100 for name, part in tiers.items()}
    return Allocation(total, **parts, map=parts["task"] // 3, files=parts["task"] // 4)


def task_share(allocation: Allocation, unused: int) -> int:
    """Return the tokens for the task: its share and what the tiers before it left unused, up to its maximum."""
    return min(allocation.task + max(unused, 0), SHARES["task"].most)
