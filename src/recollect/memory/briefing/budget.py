"""How many tokens a briefing may take, and which tier of it how many."""

from dataclasses import dataclass

CEILING = 5000
PERCENT = 8  # of the remaining context


@dataclass(frozen=True, slots=True)
class Share:
    percent: int  # of the total
    least: int
    most: int


SHARES = {  # in order of priority
    "always": Share(8, 200, 400),
    "bridge": Share(46, 500, 2300),
    "task": Share(30, 300, 1500),
    "summaries": Share(100, 200, 600),  # the rest
}
# Beyond the minimums the task comes before the bridge: a briefing is for the task, and the bridge is the largest.
_GROWING = ("always", "task", "bridge", "summaries")


@dataclass(frozen=True, slots=True)
class Allocation:
    total: int
    always: int
    bridge: int
    task: int
    summaries: int


def allocate(remaining: int, ceiling: int = CEILING) -> Allocation:
    """The parts never add up to more than the total, and none shrinks when more context remains."""
    total = max(0, min(remaining * PERCENT // 100, ceiling))
    left = (
        total * 100
    )  # in hundredths of a token: rounding comes last, so that no part falls as the total rises
    parts = {}
    for name, share in SHARES.items():
        parts[name] = min(share.least * 100, left)
        left -= parts[name]
    for name in _GROWING:
        wish = min(total * SHARES[name].percent, SHARES[name].most * 100)
        more = min(max(wish - parts[name], 0), left)
        parts[name] += more
        left -= more
    return Allocation(total, **{name: part // 100 for name, part in parts.items()})


def map_share(allocation: Allocation) -> int:
    """The map of the codebase leads the task's share and takes up to a third of it."""
    return allocation.task // 3


def task_share(allocation: Allocation, unused: int) -> int:
    """What the tiers before it did not need is the task's, up to its maximum; nothing else flows anywhere."""
    return min(allocation.task + max(unused, 0), SHARES["task"].most)
