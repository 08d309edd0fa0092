"""The store as a whole: out of it, into it, its vectors, its backups, its key."""

import os
from collections.abc import Callable, Iterable, Iterator, Mapping
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any

from recollect.code.graph.database import delete_graph_databases
from recollect.errors import Refused
from recollect.memory.maintenance.undo import new_change
from recollect.memory.maintenance.vectors import embed_missing
from recollect.model import KeyNote
from recollect.store.keys import drop_key, make_key, read_note
from recollect.workplace import Workplace

if TYPE_CHECKING:
    from recollect.memory.transfer.import_file import ImportFile
    from recollect.memory.transfer.import_report import ImportReport
    from recollect.memory.write.messages import MessageReport

ImportedIds = list[str | None]


class Moving(Workplace):
    """What goes out and what comes in, and how it is kept."""

    def export(
        self, out: IO[str], *, this_project: bool = False, messages: bool = False, vectors: bool = False
    ) -> int:
        """Everything as one JSON document that `import` takes; how many memories."""
        from recollect.memory.transfer.export import export

        model = self.embedder.model if vectors else None
        return export(
            self.store, self.all_mine(this_project), out, self._clock(), messages=messages, model=model
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
        """The same as `export` in a file that only `passphrase` opens; how many memories. Raises `Refused`."""
        from recollect.memory.transfer.bundle import write_bundle
        from recollect.memory.transfer.export import export_lines

        model = self.embedder.model if vectors else None
        parts = export_lines(
            self.store, self.all_mine(this_project), self._clock(), messages=messages, model=model
        )
        count = 0

        def lines() -> Iterator[str]:
            nonlocal count
            for section, text in parts:
                count += section == "memories"
                yield text

        write_bundle(path, passphrase, lines())
        return count

    def import_memories(self, records: Iterable[Mapping[str, Any]]) -> ImportedIds:
        """Keep `records` as given (redacted, not merged); their ids in order, None for one that was refused."""
        return self.bring_in(records).ids

    def bring_in(
        self,
        records: Iterable[Mapping[str, Any]],
        file: "ImportFile | None" = None,
        progress: Callable[[int], None] | None = None,
    ) -> "ImportReport":
        """The same with a full report, and one act for `undo`; `file` has what else is in an export."""
        if file is None or file.user is None:  # an export has its own projects, and gets no other one
            self.register()
        self._wrote = True
        from recollect.memory.transfer.importer import Importer

        importer = Importer(
            self.store,
            self.embedder,
            user_id=self.settings.user,
            project=self.project,
            actor=self.actor,
            clock=self._clock,
            change=new_change(
                "import",
                "Began to import.",
                user_id=self.settings.user,
                project_id=None if file else self._project_id,
                actor=self.actor,
                now=self._clock(),
            ),
        )
        report = importer.run(records, file, progress)
        if report.lacks_vectors:
            self.store.set_setting(None, "vectors_pending", True)
        return report

    def import_messages(
        self, records: Iterable[Mapping[str, Any]], progress: Callable[[int], None] | None = None
    ) -> "MessageReport":
        """Keep what was said: dicts with `session`, `order`, `author` (user or assistant), `text`, `created_at`."""
        from recollect.memory.write.messages import bring_messages

        self.register()
        self._wrote = True
        return bring_messages(
            records,
            self.store,
            self.embedder,
            user_id=self.settings.user,
            project_id=self.project.id if self.project else None,
            now=self._clock(),
            progress=progress,
        )

    def embed_missing(self, progress: Callable[[int], None] | None = None, limit: int | None = None) -> int:
        """Make the vectors that are missing for today's model; how many. Stops and goes on where it was."""
        return embed_missing(self.store, self.embedder, progress, limit)

    def count_missing(self) -> int:
        return self.store.count_without_vector(self.embedder.model)

    def backup(self) -> str:
        return self.store.backup()

    def encrypt(self, key_file: Path | None = None) -> str:
        """Encrypt the store and its backups; where the key is now."""
        self._refuse_agents("change the encryption")
        if self.store.info().encrypted:
            raise Refused("The store is encrypted already.", "`recollect encrypt --off` undoes it.")
        note = self.store.encrypt(lambda: self._new_key(key_file))
        self.store.log("update", self.actor, self._clock(), None, {"encrypted": True})
        return note.where

    def _new_key(self, key_file: Path | None) -> tuple[str, KeyNote]:
        """Nobody else has the store open by now. A code graph would stay in the clear: it goes, and is made again."""
        self._drop_code()
        return make_key(self.settings.database, os.environ, key_file)

    def decrypt(self) -> None:
        self._refuse_agents("change the encryption")
        note = read_note(self.settings.database)
        if not self.store.info().encrypted or note is None:
            raise Refused("The store is not encrypted.", "`recollect encrypt` encrypts it.")
        self.store.decrypt()
        self._drop_code()
        self.store.log("update", self.actor, self._clock(), None, {"encrypted": False})
        drop_key(self.settings.database, note)

    def _drop_code(self) -> None:
        """The graphs of all projects, and our own that knows the key of before."""
        if (code := self.__dict__.pop("code", None)) is not None:
            code.close()
        delete_graph_databases(self.settings.home)
