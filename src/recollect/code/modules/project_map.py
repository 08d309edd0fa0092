"""The project's module map as the rest of Recollect asks for it: kept in the store, changed in one transaction."""

from collections.abc import Callable, Sequence
from dataclasses import replace
from datetime import timedelta
from pathlib import Path

import recollect.model as m
from recollect.code.files import list_files
from recollect.code.modules.merge import (
    Correction,
    ModuleTitle,
    apply_correction,
    apply_titles,
    merge_scan,
    record_use,
)
from recollect.code.modules.module_map import (
    Confidence,
    Module,
    ModuleCard,
    ModuleMap,
    as_document,
    from_document,
)
from recollect.code.modules.scan import scan
from recollect.code.modules.scan_input import ScannedGraph, read_scan_input
from recollect.code.modules.task import ModuleMatch, match_modules, module_card
from recollect.code.paths import FileRole
from recollect.context.store import ModuleMapStore
from recollect.errors import Refused
from recollect.llm.protocol import ModuleSketch, Sidecar
from recollect.text.redact import redact

A_DAY = timedelta(days=1)
LONGEST_NAME = 60
LONGEST_DESCRIPTION = 300
SHOWN_AT_ONCE = 30  # modules in one question to a model


class ProjectMap:
    def __init__(
        self,
        shelf: ModuleMapStore,
        project_id: str,
        root: Path,
        graph: Callable[[], ScannedGraph],
        clock: m.Clock,
        actor: str = "user",
        sidecar: Callable[[], Sidecar] | None = None,  # None = no model is asked
    ) -> None:
        self._shelf = shelf
        self._project = project_id
        self._root = root
        self._graph = graph
        self._clock = clock
        self._actor = actor
        self._sidecar = sidecar

    def known(self) -> ModuleMap | None:
        """As it is kept; None where nobody has scanned yet. Quick."""
        document = self._shelf.get(self._project)
        return from_document(document) if document else None

    def current(self) -> ModuleMap:
        """As it is kept, or a first scan."""
        return self.known() or self.rescan()

    def is_due(self, *, changed: bool) -> bool:
        """Whether to look again: there is no map yet, or the files changed and it is a day old."""
        known = self.known()
        if known is None or known.updated_at is None:
            return True
        return changed and self._clock() - known.updated_at >= A_DAY

    def rescan(self) -> ModuleMap:
        """Look at all files again; what was learnt and corrected stays."""
        found = scan(read_scan_input(self._root, list_files(self._root).files, self._graph()))
        new = self._change(lambda old: merge_scan(old, found))
        return self._classify(new, self._sidecar()) if self._sidecar else new

    def correct(self, name: str, said: Correction) -> Module:
        """Someone's word on a module, which no scan takes back. Raises `UnknownName`, `Refused`."""
        said = replace(
            said,
            name=_told(said.name, LONGEST_NAME, "name"),
            description=_told(said.description, LONGEST_DESCRIPTION, "description"),
            add_files=tuple(map(self._file, said.add_files)),
            remove_files=tuple(path.removeprefix("./") for path in said.remove_files),
            split_off=_told(said.split_off, LONGEST_NAME, "name"),
        )
        if said == Correction():
            raise Refused("Nothing to change was given.", "`recollect map update --help` shows what can be.")
        self.current()
        key = ""

        def change(old: ModuleMap | None) -> ModuleMap:
            nonlocal key
            before = old or ModuleMap()
            key = f"split:{said.split_off}" if said.split_off else before.find(name).key
            return apply_correction(before, name, said, self._actor)

        after = self._change(change)
        return next(each for each in after.modules if each.key == key)

    def _file(self, name: str) -> str:
        path = Path(name)
        inside = path.relative_to(self._root) if path.is_relative_to(self._root) else path
        if inside.is_absolute() or ".." in inside.parts or not (self._root / inside).is_file():
            raise Refused(
                f"There is no file {name!r} in this project.", f"Name it as seen from {self._root}."
            )
        return inside.as_posix()

    def used(self, files: Sequence[str], session: str) -> None:
        """Files that a session worked on: their modules are surer. Does nothing where there is no map."""
        if files and self.known():
            self._change(lambda old: record_use(old or ModuleMap(), files, session))

    def for_task(self, text: str, files: Sequence[str] = ()) -> list[ModuleMatch]:
        """The modules that a task touches, best first; `files` are those a ranking found for it."""
        return match_modules(self.current(), text, files)

    def cards(self, text: str, files: Sequence[str] = ()) -> tuple[ModuleCard, ...]:
        """The same for a briefing; nothing where there is no map, for a briefing waits for no scan."""
        known = self.known()
        return (
            tuple(module_card(each.module, files) for each in match_modules(known, text, files))
            if known
            else ()
        )

    def _classify(self, found: ModuleMap, sidecar: Sidecar) -> ModuleMap:
        """Let a model name and describe what only the scan has named."""
        shallow = [
            each
            for each in found.modules
            if each.confidence is Confidence.SHALLOW and each.kind is FileRole.CODE
        ]
        names: list[ModuleTitle] = []
        for start in range(0, len(shallow), SHOWN_AT_ONCE):
            some = shallow[start : start + SHOWN_AT_ONCE]
            titles = sidecar.name_modules(
                [ModuleSketch(each.name, each.description, each.core_files) for each in some]
            )
            names += [
                ModuleTitle(some[title.place].key, title.name, title.description) for title in titles or ()
            ]
        return self._change(lambda old: apply_titles(old or ModuleMap(), names)) if names else found

    def _change(self, how: Callable[[ModuleMap | None], ModuleMap]) -> ModuleMap:
        now = self._clock()

        def change(document: str | None) -> str:
            old = from_document(document) if document else None
            new = how(old)
            return document if document and new == old else as_document(replace(new, updated_at=now))

        return from_document(self._shelf.change(self._project, change, now)) or ModuleMap()


def _told(text: str | None, longest: int, what: str) -> str | None:
    if text is None:
        return None
    plain = redact(" ".join(text.split()))[0]
    if len(plain) > longest:
        raise Refused(f"That {what} has {len(plain)} characters.", f"Say it in {longest}.")
    return plain
