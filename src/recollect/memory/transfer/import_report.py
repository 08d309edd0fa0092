"""What came of an import, and what was left out of it."""

from dataclasses import dataclass, field

from recollect.errors import RecollectError


@dataclass(slots=True)
class ImportReport:
    """What came of an import. `ids` are in the order given, None where a record was refused."""

    ids: list[str | None] = field(default_factory=list)
    refused: list[tuple[int, str]] = field(default_factory=list)  # which record, and why
    redacted: int = 0
    links: int = 0
    beside: int = 0  # texts kept as memories of their own: two machines had rewritten one
    change: str | None = None  # what `undo` takes; None where nothing was changed
    notes: tuple[str, ...] = ()
    lacks_vectors: bool = False  # though the user did not turn them off

    @property
    def kept(self) -> int:
        return len({each for each in self.ids if each is not None})


class LeftOut:
    """Counts what is not kept beside the memories; the first reason stands for all."""

    def __init__(self, what: str) -> None:
        self._what = what
        self._count = 0
        self._why = ""

    def add(self, error: RecollectError) -> None:
        self._count += 1
        self._why = self._why or error.message

    def notes(self) -> tuple[str, ...]:
        if not self._count:
            return ()
        several = "s were" if self._count > 1 else " was"
        return (f"{self._count:,} {self._what}{several} left out: {self._why}",)
