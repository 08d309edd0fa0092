"""What one session is about to be told: composed, and not yet known to have been received."""

import threading
from collections import deque
from dataclasses import dataclass
from datetime import datetime

from recollect.work.delivery.delivery import Delivery, DeliveryRequest, Moment

MOST_LATE = 4  # texts that wait for the next event
_COMPOSED_ONCE = frozenset({Moment.AFTER_FAILURE, Moment.TURN_END})


@dataclass(frozen=True, slots=True, eq=False)
class ComposedDelivery:
    """A delivery that the agent may not have received yet."""

    request: DeliveryRequest
    delivery: Delivery
    at: datetime
    can_wait: bool  # for the next event, if it comes too late for its own
    message: str = ""  # for the user


class Outbox:
    """Deliveries from when they are composed until a hook has confirmed them or they are given up. Thread-safe."""

    def __init__(self) -> None:
        self._pending: list[ComposedDelivery] = []  # all of them
        self._late: deque[ComposedDelivery] = deque()  # those that wait for the next event
        self._lock = threading.Lock()

    @property
    def pending(self) -> tuple[ComposedDelivery, ...]:
        with self._lock:
            return tuple(self._pending)

    def add(self, composed: ComposedDelivery) -> None:
        with self._lock:
            self._pending.append(composed)

    def remove(self, composed: ComposedDelivery) -> None:
        """Forget a delivery that was received or is given up."""
        with self._lock:
            if composed in self._pending:
                self._pending.remove(composed)

    def postpone(self, composed: ComposedDelivery) -> ComposedDelivery | None:
        """Keep a delivery for the next event; return one that is given up, this one or the oldest."""
        with self._lock:
            is_kept = composed.can_wait and composed.delivery.text
            if is_kept:
                self._late.append(composed)
            dropped = None if is_kept else composed
            if len(self._late) > MOST_LATE:
                dropped = self._late.popleft()
            if dropped in self._pending:
                self._pending.remove(dropped)
            return dropped

    def drop_late(self) -> None:
        """Forget what waits for the next event, except what would not be composed anew."""
        with self._lock:
            dropped = [each for each in self._late if each.request.moment not in _COMPOSED_ONCE]
            self._late = deque(each for each in self._late if each not in dropped)
            self._pending = [each for each in self._pending if each not in dropped]

    def take_late(self, characters: int) -> list[ComposedDelivery]:
        """Return the postponed deliveries that fit, each whole, because half a frame is none; the others go on waiting."""
        taken: list[ComposedDelivery] = []
        with self._lock:
            for composed in tuple(self._late):
                if len(composed.delivery.text) <= characters:
                    characters -= len(composed.delivery.text) + 1
                    self._late.remove(composed)
                    taken.append(composed)
        return taken
