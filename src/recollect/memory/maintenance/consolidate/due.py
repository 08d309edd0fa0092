"""When consolidation is worth its while without being asked for."""

from datetime import datetime, timedelta

PERIOD = timedelta(days=7)  # after which it is done even on a busy machine
DAILY = timedelta(days=1)  # after which it is done as soon as nobody is at work
IDLE = timedelta(minutes=10)
RELIEF = timedelta(hours=1)  # between two tries to bring an overfull store down


def due(
    last_run: datetime | None, now: datetime, active: int, capacity: int, idle_for: timedelta
) -> str | None:
    """Why it is due: capacity, period or idle; None where it is not. No `capacity` (0) is never exceeded."""
    if not active:
        return None
    age = now - last_run if last_run is not None else None  # None = it has never run
    if 0 < capacity < active and (age is None or age >= RELIEF):
        return "capacity"
    if age is not None and age >= PERIOD:
        return "period"
    if idle_for >= IDLE and (age is None or age >= DAILY):
        return "idle"
    return None
