"""The project's module map as the rest of Recollect asks for it: kept in the store, changed in one transaction."""

from collections.abc import Callable, Sequence
from dataclasses import replace
from datetime import timedelta
from pathlib import Path

import recollect.model as m
from recollect.code.modules.ground import Graph, ground_of
from recollect.code.modules.map import Confidence, Kind, Module, ModuleMap, as_document, from_document
from recollect.code.modules.merge import Correction, Named, classified, corrected, refreshed, used
from recollect.code.modules.scan import scan
from recollect.code.modules.task import Touched, card, for_task
from recollect.code.walk import walk
from recollect.context.store import ModuleMapStore
from recollect.errors import Refused
from recollect.llm.protocol import ModuleSketch, Sidecar
from recollect.memory.briefing.briefing import ModuleCard
from recollect.text.redact import redact

A_DAY = timedelta(days=1)
LONGEST_NAME = 60
LONGEST_DESCRIPTION = 300
SHOWN_AT_ONCE = 30  # modules in one question to a model


class Maps:
    def __init__(
        self,
        shelf: ModuleMapStore,
        project_id: str,
        root: Path,
        graph: Callable[[], Graph],
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
        found = scan(ground_of(self._root, walk(self._root).files, self._graph()))
        new = self._change(lambda old: refreshed(old, found))
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
            return corrected(before, name, said, self._actor)

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
            self._change(lambda old: used(old or ModuleMap(), files, session))

    def for_task(self, text: str, files: Sequence[str] = ()) -> list[Touched]:
        """The modules that a task touches, best first; `files` are those a ranking found for it."""
        return for_task(self.current(), text, files)

    def cards(self, text: str, files: Sequence[str] = ()) -> tuple[ModuleCard, ...]:
        """The same for a briefing; nothing where there is no map, for a briefing waits for no scan."""
        known = self.known()
        return tuple(card(each.module, files) for each in for_task(known, text, files)) if known else ()

    def _classify(self, found: ModuleMap, sidecar: Sidecar) -> ModuleMap:
        """Let a model name and describe what only the scan has named."""
        shallow = [
            each for each in found.modules if each.confidence is Confidence.SHALLOW and each.kind is Kind.CODE
        ]
        names: list[Named] = []
        for start in range(0, len(shallow), SHOWN_AT_ONCE):
            some = shallow[start : start + SHOWN_AT_ONCE]
            titles = sidecar.name_modules(
                [ModuleSketch(each.name, each.description, each.core_files) for each in some]
            )
            names += [Named(some[title.place].key, title.name, title.description) for title in titles or ()]
        return self._change(lambda old: classified(old or ModuleMap(), names)) if names else found

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
