"""A machine of its own for every test: a user's home, a project, a Recollect that is there."""

from dataclasses import dataclass
from pathlib import Path

import pytest

from recollect.interfaces.install.ledger import Ledger
from recollect.interfaces.install.machine import Machine
from recollect.interfaces.install.plan import Plan, carry_out, plan_install, plan_uninstall
from recollect.work.hosts.registry import HOSTS


@dataclass(frozen=True)
class UserMachine:
    """Someone's machine, and what they type on it."""

    machine: Machine
    ledger: Ledger
    project: Path

    def install(self, host: str, scope: str = "user") -> Plan:
        plan = self.plan(host, scope)
        carry_out(plan, self.ledger)
        return plan

    def uninstall(self, host: str, scope: str = "user") -> Plan:
        plan = plan_uninstall(HOSTS[host], scope, self.project, self.machine, self.ledger)
        carry_out(plan, self.ledger)
        return plan

    def plan(self, host: str, scope: str = "user") -> Plan:
        return plan_install(HOSTS[host], scope, self.project, self.machine, self.ledger)

    def write(self, name: str, data: bytes) -> Path:
        path = self.machine.user / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(data)
        return path

    def files(self) -> dict[str, bytes | None]:
        """Everything below the user's home and the project, folders with None."""
        return {
            str(path): path.read_bytes() if path.is_file() else None
            for folder in (self.machine.user, self.project)
            for path in sorted(folder.rglob("*"))
        }


@pytest.fixture
def pc(tmp_path) -> UserMachine:
    user, project = tmp_path / "user", tmp_path / "project"
    user.mkdir()
    project.mkdir()
    program = tmp_path / "my venv" / "recollect"
    program.parent.mkdir()
    program.write_text("#!/bin/sh\nexit 0\n")
    program.chmod(0o755)
    return UserMachine(Machine(user, (str(program),), {}, "linux"), Ledger(tmp_path / "home"), project)
