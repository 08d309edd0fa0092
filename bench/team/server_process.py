"""A team server in a process of its own.

`python -m bench.team.server_process DATABASE HOME EMBEDDER LIMITS [PORT]` prints its port. LIMITS is `limits` or `none`.
"""

import subprocess
import sys
from pathlib import Path

from bench.local_postgres import end_with_parent
from bench.team.synthetic import embedder_named
from recollect.config import load_settings
from recollect.interfaces.team.limits import Rates
from recollect.interfaces.team.server import Listening, TeamServer, build
from recollect.store.postgres.team import PostgresTeam

NO_LIMITS = Rates(person=0, writes=0, tenant=0, joins=0, person_day=0, agent_day=0, tenant_day=0)


class ServerProcess:
    """Starts such a process, and kills it."""

    def __init__(
        self, database: str, home: Path, embedder: str = "synthetic", *, limits: bool = False
    ) -> None:
        given = [database, str(home), embedder, "limits" if limits else "none"]
        # The package imports this module before it is run, which Python would warn of.
        self._command = [sys.executable, "-W", "ignore", "-m", "bench.team.server_process", *given]
        self.port = 0
        self.start()

    def start(self) -> None:
        port = [str(self.port)] if self.port else []
        self._process = subprocess.Popen(
            [*self._command, *port], stdout=subprocess.PIPE, preexec_fn=end_with_parent
        )
        assert self._process.stdout is not None
        self.port = int(self._process.stdout.readline())

    @property
    def pid(self) -> int:
        return self._process.pid

    def kill(self) -> None:
        self._process.kill()
        self._process.wait()

    def stop(self) -> None:
        self._process.terminate()
        try:
            self._process.wait(20)
        except subprocess.TimeoutExpired:
            self._process.kill()
            raise


def main(database: str, home: str, embedder: str, limits: str, port: str = "0") -> None:
    backend = PostgresTeam(database)
    rates = Rates() if limits == "limits" else NO_LIMITS
    app = build(backend, load_settings(Path(home)), embedder_named(embedder), rates)
    server = TeamServer(app, Listening(port=int(port)))
    print(server.port, flush=True)
    server.run()
    backend.close()


if __name__ == "__main__":
    main(*sys.argv[1:])
