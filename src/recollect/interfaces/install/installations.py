"""The installations that the ledger lists."""

from collections.abc import Iterable
from pathlib import Path

from recollect.frozen import frozen
from recollect.interfaces.install.ledger import InstalledFile
from recollect.work.hosts.host import Host
from recollect.work.hosts.registry import HOSTS


@frozen
class Installation:
    """A host that is connected, for the user or for one project."""

    host: Host
    scope: str  # user or project
    root: Path

    @property
    def name(self) -> str:
        where = "for you" if self.scope == "user" else f"in {self.root}"
        return f"{self.host.title} ({where})"

    @property
    def install_command(self) -> str:
        return f"recollect install {self._arguments}"

    @property
    def uninstall_command(self) -> str:
        return f"recollect uninstall {self._arguments}"

    @property
    def _arguments(self) -> str:
        return self.host.name + (f" --project {self.root}" if self.scope == "project" else "")


def installations(records: Iterable[InstalledFile]) -> list[Installation]:
    """Return the installations that `records` belong to, in the order of the hosts."""
    known = {(record.host, record.scope, record.root) for record in records if record.host in HOSTS}
    order = list(HOSTS)
    return [
        Installation(HOSTS[host], scope, Path(root))
        for host, scope, root in sorted(known, key=lambda key: (order.index(key[0]), *key[1:]))
    ]
