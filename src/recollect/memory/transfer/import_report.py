"""The outcome of an import."""

from dataclasses import dataclass, field

from recollect.errors import RecollectError


@dataclass(slots=True)
class ImportReport:
    """What an import did. `ids` are in the order of the records, None for a refused one."""

    ids: list[str | None] = field(default_factory=list)
    refused: list[tuple[int, str]] = field(default_factory=list)  # number of the record, and why
    redacted: int = 0
    links: int = 0
    beside: int = 0  # texts kept as memories of their own, because two machines had edited one
    change: str | None = None  # for `undo`; None = nothing was changed
    notes: tuple[str, ...] = ()
    lacks_vectors: bool = False  # although the user did not turn them off

    @property
    def kept(self) -> int:
        return len({memory_id for memory_id in self.ids if memory_id is not None})


class LeftOut:
    """Counts records other than memories that were not imported, and keeps the first reason."""

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
