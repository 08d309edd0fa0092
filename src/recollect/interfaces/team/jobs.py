"""What the server does by itself: erasures that are due, and what a team no longer keeps."""

import logging
import threading
from datetime import timedelta

import recollect.model as m
from recollect.context.team import TeamBackend
from recollect.errors import RecollectError, Refused
from recollect.model.team import Identity, Retention, Role

logger = logging.getLogger("recollect.team")

EVERY_SECONDS = 3600.0
FIRST_SECONDS = (
    60.0  # after the start: a server that is restarted every day or hour does its work all the same
)
ACTOR = "server"


class Jobs:
    """Runs in a thread, a minute after the start and then once an hour. Any number of servers can do this on one database: each finds less to do."""

    def __init__(self, backend: TeamBackend, clock: m.Clock) -> None:
        self._backend = backend
        self._clock = clock
        self._stopping = threading.Event()

    def start(self) -> None:
        threading.Thread(target=self._run, name="recollect-jobs", daemon=True).start()

    def stop(self) -> None:
        self._stopping.set()

    def _run(self) -> None:
        pause = FIRST_SECONDS
        while not self._stopping.wait(pause):
            pause = EVERY_SECONDS
            try:
                self.run_once()
            except RecollectError as error:  # the database is away: it is tried again
                logger.warning("a job failed", extra={"fields": {"error": type(error).__name__}})

    def run_once(self) -> None:
        """Do what is due now, one team after the other. What fails for one of them is tried again in an hour."""
        for tenant in self._backend.directory.tenants():
            if self._stopping.is_set():
                return
            try:
                self._erase(tenant)
                self._expire(tenant, self._backend.directory.retention(tenant))
            except Exception:  # whatever it is, the other teams wait for their turn
                logger.exception("a job failed", extra={"fields": {"tenant": tenant}})

    def _erase(self, tenant: str) -> None:
        directory, at = self._backend.directory, self._clock()
        for user in directory.due_erasures(tenant, at):
            try:
                directory.erase(tenant, user, at)
            except Refused:  # the last owner: somebody else must become one first
                logger.warning("an erasure waits", extra={"fields": {"tenant": tenant, "user": user}})
            else:
                logger.info("erased a person", extra={"fields": {"tenant": tenant, "user": user}})

    def _expire(self, tenant: str, retention: Retention) -> None:
        at = self._clock()
        store = self._backend.store(Identity(tenant, "", "", Role.SERVICE))
        try:
            if retention.unused_days is not None:
                store.forget_unused(at - timedelta(days=retention.unused_days), at)
            before = at - timedelta(days=retention.forgotten_days)
            if store.purge_due(before):
                purged = store.purge(before, ACTOR, at)
                fields = {"tenant": tenant, "memories": len(purged.memories)}
                logger.info("deleted what was forgotten", extra={"fields": fields})
        finally:
            store.close()
