"""The database of a team server: stores for verified callers, the directory of people, and notifications."""

from collections.abc import Callable, Iterator

from recollect.context.team import TeamStore
from recollect.errors import StoreError
from recollect.model.team import Identity, Notice
from recollect.store.postgres.connection import CHANNEL, CONNECTIONS, PEOPLE, Pool, translated
from recollect.store.postgres.directory import PostgresDirectory
from recollect.store.postgres.schema import newest_version, version_of
from recollect.store.postgres.store import PostgresStore

_LISTEN_SECONDS = 1.0  # after which `stop` is asked again


class PostgresTeam:
    """Implements `TeamBackend` on one PostgreSQL database."""

    def __init__(self, url: str, connections: int = CONNECTIONS) -> None:
        """Connect as the server's role, which owns nothing. Nothing is read before it is needed."""
        self._pool = Pool(url, connections)
        self.directory = PostgresDirectory(self._pool)

    def store(self, identity: Identity) -> TeamStore:
        return PostgresStore(self._pool, identity)

    def ready(self) -> bool:
        try:
            with translated(), self._pool.connect() as db:
                return version_of(db) >= newest_version()
        except StoreError:
            return False

    def listen(self, stop: Callable[[], bool]) -> Iterator[Notice]:
        with translated(), self._pool.connect() as db:
            db.execute(f"LISTEN {CHANNEL}")
            yield Notice("", None, 0)
            while not stop():
                for notice in db.notifies(timeout=_LISTEN_SECONDS, stop_after=1):
                    tenant, seq, user, project_id = notice.payload.split(" ", 3)
                    if project_id == PEOPLE:
                        yield Notice(tenant, None, int(seq), people=True)
                    else:
                        yield Notice(tenant, project_id or None, int(seq), user or None)

    def close(self) -> None:
        self._pool.close()
