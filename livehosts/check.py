"""What a check is, and what it found."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

from livehosts.host_cli import HostCli
from livehosts.sandbox import Sandbox, sandbox


@dataclass(slots=True)
class CheckRun:
    """One check with one host: how often to try, and the sandbox to try it in."""

    cli: HostCli
    full: bool = False  # as often as a release asks for
    keep: bool = False  # the sandboxes of checks that pass
    record: bool = False
    asked: int | None = None  # how often to try; None = as often as the check says
    tries: int = 0
    passed: int = 0
    faults: list[str] = field(default_factory=list)  # of the tries that failed
    notes: list[str] = field(default_factory=list)
    folders: list[Path] = field(default_factory=list)

    @contextmanager
    def sandbox(self) -> Iterator[Sandbox]:
        """A sandbox with the host connected. It is kept if a try in it failed."""
        faults = len(self.faults)
        with sandbox(
            self.cli, record=self.record, keep=lambda: self.keep or len(self.faults) > faults
        ) as box:
            self.folders.append(box.folder)
            yield box

    def count(self, usual: int, full: int) -> range:
        """How often to try: `usual` times, `full` times in a full run, or as often as was asked for."""
        return range(self.asked or (full if self.full else usual))

    def expect(self, holds: bool, fault: str) -> bool:
        """Count one try, with what was wrong if it does not hold."""
        self.tries += 1
        self.passed += holds
        if not holds:
            self.faults.append(fault)
        return holds

    @property
    def is_passed(self) -> bool:
        return self.tries > 0 and self.passed == self.tries


@dataclass(frozen=True, slots=True)
class Check:
    """A question about what reaches the model, answered by running a host."""

    name: str
    title: str
    run: Callable[[CheckRun], None]
