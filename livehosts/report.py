"""The table of a run, host by check, as text, Markdown and JSON."""

import json
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path

from livehosts.check import Check
from livehosts.host_cli import HostCli


@dataclass(frozen=True, slots=True)
class CheckResult:
    """What one check found with one host."""

    host: str
    version: str
    check: str
    passed: int
    tries: int
    seconds: float
    faults: Sequence[str] = ()
    notes: Sequence[str] = ()  # limits of the host, quoted
    folders: Sequence[str] = ()  # with the recorded requests

    @property
    def is_passed(self) -> bool:
        return self.tries > 0 and self.passed == self.tries

    @property
    def cell(self) -> str:
        mark = "✓" if self.is_passed else "✗"
        return f"{mark} {self.passed}/{self.tries}" + (" *" if self.notes else "")

    @property
    def row(self) -> str:
        """One line for the terminal, and one for each fault."""
        lines = [f"{self.host:12} {self.check:20} {self.cell:10} {self.seconds:6.1f} s"]
        return "\n".join([*lines, *(f"    {fault}" for fault in self.faults[:3])])


def markdown(results: Sequence[CheckResult], clis: Sequence[HostCli], checks: Sequence[Check]) -> str:
    """Return the table, with the notes below it."""
    found = {(result.host, result.check): result for result in results}
    head = ["check", *(f"{cli.title} {cli.version}" for cli in clis)]
    lines = [_line(head), _line(["---"] * len(head))]
    for check in checks:
        cells = [found[cli.name, check.name].cell if (cli.name, check.name) in found else "" for cli in clis]
        lines.append(_line([check.title, *cells]))
    notes = [f"- * {result.host}, {result.check}: {note}" for result in results for note in result.notes]
    return "\n".join([*lines, *([""] if notes else []), *notes]) + "\n"


def write(results: Sequence[CheckResult], table: str, folder: Path) -> None:
    """Write the table and everything behind it."""
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "hosts.md").write_text(table)
    (folder / "hosts.json").write_text(json.dumps([asdict(result) for result in results], indent=1))


def _line(cells: Sequence[str]) -> str:
    return f"| {' | '.join(cells)} |"
