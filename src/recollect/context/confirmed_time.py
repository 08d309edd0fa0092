"""The time that what is deleted or archived by age may rely on: one that two runs have seen.

A machine's clock can be years ahead for one run: a dead battery, a restored virtual machine, a typing error. Whatever
expires would then be deleted permanently. So the store notes the last time that was believed. The clock may advance by
`STEP` at once. A larger jump is believed as far as two sightings, `APART` from each other, agree that it is at least
this late. A clock that goes back is believed at once: nothing expires by that.

A clock that a caller has passed to `Engine.open` is theirs, and is believed.
"""

import contextlib
from datetime import datetime, timedelta

import recollect.model as m
from recollect.context.store import Store
from recollect.errors import RecollectError
from recollect.frozen import frozen

STEP = timedelta(days=7)  # as nobody notices who was away for a week; what expires has 14 days at least
APART = timedelta(hours=12)  # a clock that was wrong after a start has been corrected by then
NOTED_EVERY = timedelta(hours=1)  # at most one write an hour
WORTH_A_NOTICE = timedelta(days=60)  # shorter ones are holidays
_OWN_LINES = timedelta(hours=1)  # audit lines that this run may have written itself
_SETTING = "clock"


@frozen
class ClockMark:
    """What is known about the clock."""

    confirmed: datetime
    pending: datetime | None = None  # a sighting of a much later time, which waits for a second one

    @property
    def jump(self) -> timedelta:
        """How far ahead the clock is of what is believed; zero if it is believed."""
        return self.pending - self.confirmed if self.pending else timedelta()

    @property
    def notice(self) -> str:
        """A sentence about the jump for the user."""
        return (
            f"The clock is {self.jump.days:,} days later than in the last run ({self.confirmed:%Y-%m-%d}). Nothing is deleted"
            f" or archived by age until another run, at least {APART.seconds // 3600} hours later, sees that time too."
        )


def sighted(mark: ClockMark, now: datetime) -> ClockMark:
    """Return what is known after the clock has shown `now`."""
    if now <= mark.confirmed + STEP:
        return ClockMark(now)
    if mark.pending is None or now < mark.pending:
        return ClockMark(mark.confirmed, now)
    if now - mark.pending < APART:
        return mark
    if now <= mark.pending + STEP:
        return ClockMark(now)
    return ClockMark(mark.pending, now)  # two sightings agree on the earlier one


def see_clock(store: Store, clock: m.Clock) -> ClockMark:
    """Look at the clock, note in the store what it shows, and return what is known."""
    now = clock()
    if clock is not m.utc_now:
        return ClockMark(now)
    noted = _from_setting(store.setting(None, _SETTING))
    before = noted or _from_audit(store, now)
    mark = sighted(before, now)
    if (
        noted is None
        or mark.pending != before.pending
        or abs(mark.confirmed - before.confirmed) >= NOTED_EVERY
    ):
        with contextlib.suppress(RecollectError):  # a read-only home
            times = (mark.confirmed, mark.pending)
            store.set_setting(None, _SETTING, [m.to_text(time) if time else None for time in times])
    return mark


def confirmed_now(store: Store, clock: m.Clock) -> datetime:
    """Return the time to compare with when something is deleted or archived by age."""
    return see_clock(store, clock).confirmed


def _from_setting(noted: list[str | None] | None) -> ClockMark | None:
    """Return what was noted, or None if nothing was or it cannot be read: it is known from the audit log as well."""
    if noted is None:
        return None
    try:
        confirmed, pending = (m.from_text(time) if time else None for time in noted)
    except (ValueError, TypeError):  # the store is damaged here
        return None
    return ClockMark(confirmed, pending) if confirmed else None


def _from_audit(store: Store, now: datetime) -> ClockMark:
    """Return the mark of a store that has none: when it was last written to, apart from this run."""
    earlier = (line.at for line in store.audit(limit=200) if line.at <= now - _OWN_LINES)
    return ClockMark(next(earlier, now))
