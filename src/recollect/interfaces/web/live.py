"""Live updates: a page that is open is told when memories change, by any process."""

import json
from collections.abc import AsyncIterator
from typing import TYPE_CHECKING

import anyio
from anyio.to_thread import run_sync

import recollect.model as m
from recollect.errors import RecollectError

if TYPE_CHECKING:
    from recollect.engine import Engine

POLL_SECONDS = 1.0  # between two looks at the store, which take microseconds
_LOOKED_AT = 50  # lines of the audit log; more at once are a consolidation, which needs no notice for each
PING_ROUNDS = 20  # looks after which a line is sent in any case, so that a closed connection is noticed


class LiveUpdates:
    """Streams an event for every change to the store."""

    def __init__(self) -> None:
        self._is_stopped = False

    def stop(self) -> None:
        self._is_stopped = True

    async def stream(self, engine: "Engine", since: str) -> AsyncIterator[str]:
        """Yield server-sent events about the store of `engine` until the server stops: `change`, with the number of the newest change.

        `since` is the number that the page was made at, so that nothing is missed in between.
        """
        seen, rounds = since, 0
        line = await run_sync(_line_in, since, engine)
        yield ": connected\n\n"
        while not self._is_stopped:
            position = await run_sync(position_of, engine)
            if position != seen:
                seen, rounds = position, 0
                line, replaced = await run_sync(_replaced_since, engine, line)
                yield f"event: change\ndata: {json.dumps({'seq': position, 'replaced': replaced})}\n\n"
            elif rounds >= PING_ROUNDS:
                rounds = 0
                yield ": still here\n\n"
            await anyio.sleep(POLL_SECONDS)
            rounds += 1


def _line_in(position: str, engine: "Engine") -> int:
    """Return the line of the audit log that a position names; the last one if it names none."""
    line = position.rpartition("-")[2]
    return int(line) if line.isascii() and line.isdigit() and len(line) < 19 else _last_line(engine)


def _last_line(engine: "Engine") -> int:
    return max((line.seq for line in engine.store.audit(1)), default=0)


def _replaced_since(engine: "Engine", line: int) -> tuple[int, list[dict[str, str]]]:
    """Return the last line of the audit log, and what agents have put in the place of other memories since."""
    lines = [found for found in engine.store.audit(_LOOKED_AT) if found.seq > line]
    pairs = [
        (str(found.detail["by"]), found.memory_id or "")
        for found in lines
        if found.detail.get("state") == m.State.SUPERSEDED
        and m.is_agent(found.actor)
        and "by" in found.detail
    ]
    memories = engine.store.get_many(sorted({name for pair in pairs for name in pair}))
    replaced = [
        {"id": new, "new": memories[new].summary, "old": memories[old].summary}
        for new, old in pairs
        if {new, old} <= memories.keys() and memories[new].user_id == engine.context.user_id
    ]
    return max((found.seq for found in lines), default=line), replaced


def position_of(engine: "Engine") -> str:
    """Return what changes with every write to memories, by any process: its number, and the last line of the audit log."""
    try:
        return f"{engine.store.seq()}-{_last_line(engine)}"
    except RecollectError:  # busy, or being encrypted: look again
        return ""
