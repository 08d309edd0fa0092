"""Export and import memories and messages. `engine.transfer` is a `Transfer`."""

from collections.abc import Callable, Iterable, Iterator, Mapping
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any

from recollect.context.context import Context

if TYPE_CHECKING:
    from recollect.memory.transfer.import_file import ImportFile
    from recollect.memory.transfer.import_report import ImportReport
    from recollect.memory.write.messages import MessageReport

Progress = Callable[[int], None]


class Transfer:
    """Moves memories out of the store and into it, for one user."""

    def __init__(self, context: Context) -> None:
        self._context = context

    def export(
        self, out: IO[str], *, this_project: bool = False, messages: bool = False, vectors: bool = False
    ) -> int:
        """Write memories as one JSON document that `import` reads; return how many memories it has."""
        from recollect.memory.transfer.export import export

        context = self._context
        return export(
            context.store,
            context.full_view(this_project=this_project),
            out,
            context.clock(),
            messages=messages,
            model=context.embedder.model if vectors else None,
        )

    def bundle(
        self,
        path: Path,
        passphrase: str,
        *,
        this_project: bool = False,
        messages: bool = False,
        vectors: bool = False,
    ) -> int:
        """Write the same document encrypted with `passphrase`; return how many memories it has. Raises `Refused`."""
        from recollect.memory.transfer.bundle import write_bundle
        from recollect.memory.transfer.export import export_lines

        context = self._context
        parts = export_lines(
            context.store,
            context.full_view(this_project=this_project),
            context.clock(),
            messages=messages,
            model=context.embedder.model if vectors else None,
        )
        count = 0

        def lines() -> Iterator[str]:
            nonlocal count
            for section, text in parts:
                count += section == "memories"
                yield text

        write_bundle(path, passphrase, lines())
        return count

    def import_records(
        self,
        records: Iterable[Mapping[str, Any]],
        import_file: "ImportFile | None" = None,
        progress: Progress | None = None,
    ) -> "ImportReport":
        """Store `records` as given (redacted, not merged) as one change; `import_file` has what else an export holds."""
        from recollect.memory.transfer.importer import Importer

        context = self._context
        if import_file is None or import_file.user is None:  # an export brings its own projects
            context.register_project()
        change = context.new_change(
            "import", "Started to import.", project_id=None if import_file else context.project_id
        )
        report = Importer(context, change).run(records, import_file, progress)
        if report.lacks_vectors:
            context.store.set_setting(None, "vectors_pending", True)
        return report

    def import_links(self, records: Iterable[Any]) -> "ImportReport":
        """Store links between memories that are here already, as one change."""
        from recollect.memory.transfer.importer import Importer

        context = self._context
        change = context.new_change("import", "Started to import.", project_id=None)
        return Importer(context, change).run_links(records)

    def import_messages(
        self, records: Iterable[Mapping[str, Any]], progress: Progress | None = None
    ) -> "MessageReport":
        """Store messages: dicts with `session`, `order`, `author` (user or assistant), `text` and `created_at`."""
        from recollect.memory.write.messages import bring_messages

        context = self._context
        context.register_project()
        return bring_messages(
            records,
            context.store,
            context.embedder,
            user_id=context.user_id,
            project_id=context.project_id,
            now=context.clock(),
            progress=progress,
        )
