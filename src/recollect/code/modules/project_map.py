"""The module map of one project: stored, scanned again, corrected, and matched with tasks."""

from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import replace
from datetime import datetime, timedelta
from pathlib import Path
from typing import Protocol

import recollect.model as m
from recollect.code.files import list_files
from recollect.code.modules.for_agents import for_agents
from recollect.code.modules.merge import (
    Correction,
    NamedModule,
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
from recollect.code.modules.scan_input import ScannedGraph, read_scan_input
from recollect.code.modules.task import ModuleMatch, match_modules, module_card
from recollect.code.paths import FileRole
from recollect.context.store import ChangeLog, EpisodeStore, ModuleMapStore
from recollect.errors import Refused
from recollect.llm.protocol import ModuleSketch, Sidecar
from recollect.text.shapes import looks_like_name, looks_like_path, reads_like_instruction

A_DAY = timedelta(days=1)
LONGEST_NAME = 60
LONGEST_DESCRIPTION = 300
LONGEST_OF_AGENTS = 120  # characters of a description that an agent gives
SHOWN_AT_ONCE = 30  # modules in one request to a model


class MappedCode(Protocol):
    """The code that a map is made of. A `Codebase` is one."""

    @property
    def root(self) -> Path: ...

    @property
    def graph(self) -> ScannedGraph: ...


class ProjectMap:
    def __init__(
        self,
        store: ModuleMapStore,
        project_id: str,
        code: MappedCode,
        clock: m.Clock,
        actor: str = "user",
        sidecar: Sidecar | None = None,  # None = no model is used
        changes: ChangeLog | None = None,  # None = corrections cannot be undone
        episodes: EpisodeStore | None = None,  # what agents ran; None = nothing
        user_id: str = "",
    ) -> None:
        self._store = store
        self._project = project_id
        self._root = code.root
        self._code = code
        self._clock = clock
        self._actor = actor
        self._sidecar = sidecar
        self._changes = changes
        self._episodes = episodes
        self._user_id = user_id

    def known(self) -> ModuleMap | None:
        """Return the stored map; None if there has been no scan. Fast."""
        document = self._store.get(self._project)
        return from_document(document) if document else None

    def current(self) -> ModuleMap:
        """Return the stored map, or scan first."""
        return self.known() or self.rescan()

    def is_due(self, *, changed: bool) -> bool:
        """Return whether to scan: there is no map yet, or it is a day old and files have changed."""
        known = self.known()
        if known is None or known.updated_at is None:
            return True
        return changed and self._clock() - known.updated_at >= A_DAY

    def rescan(self) -> ModuleMap:
        """Scan all files again. Corrections and what was learnt stay."""
        from recollect.code.modules.command_runs import read_runs
        from recollect.code.modules.scan import scan

        runs = read_runs(self._episodes, m.Owner(self._user_id, self._project)) if self._episodes else ()
        found = scan(read_scan_input(self._root, list_files(self._root).files, self._code.graph), runs)
        new = self._change(lambda old: merge_scan(old, found))
        return self._classify(new, self._sidecar) if self._sidecar else new

    def correct(self, name: str, correction: Correction, change_id: str = "") -> Module:
        """Correct a module, for all later scans, as a change that can be undone. Raise `UnknownName` or `Refused`."""
        correction = replace(
            correction,
            name=_clean_text(correction.name, LONGEST_NAME, "name"),
            description=_clean_text(correction.description, LONGEST_DESCRIPTION, "description"),
            dependencies=None
            if correction.dependencies is None
            else tuple(
                _clean_text(name, LONGEST_NAME, "dependency") or "" for name in correction.dependencies
            ),
            add_files=tuple(map(self._file, correction.add_files)),
            remove_files=tuple(path.removeprefix("./") for path in correction.remove_files),
            split_off=_clean_text(correction.split_off, LONGEST_NAME, "name"),
        )
        if m.is_agent(self._actor):
            _check_agents_words(correction)
        if correction == Correction():
            raise Refused("No change was given.", "Run `recollect map update --help` to list the options.")
        self.current()
        key = ""

        def change(old: ModuleMap | None) -> ModuleMap:
            nonlocal key
            before = old or ModuleMap()
            key = f"split:{correction.split_off}" if correction.split_off else before.find(name).key
            return apply_correction(before, name, correction, self._actor)

        with self._recorded(f"Corrected the module {name}.", change_id):
            after = self._change(change)
        return next(each for each in after.modules if each.key == key)

    def _recorded(self, summary: str, change_id: str) -> AbstractContextManager[None]:
        if self._changes is None:
            return nullcontext()
        now = self._clock()
        change_id = change_id or m.new_id(now)
        return self._changes.recorded(
            m.Change(
                change_id, self._user_id, self._project, now, self._actor, "correct", summary, finished_at=now
            )
        )

    def _file(self, name: str) -> str:
        path = Path(name)
        inside = path.relative_to(self._root) if path.is_relative_to(self._root) else path
        if inside.is_absolute() or ".." in inside.parts or not (self._root / inside).is_file():
            raise Refused(
                f"There is no file {name!r} in this project.", f"Give its path relative to {self._root}."
            )
        return inside.as_posix()

    def for_task(self, text: str, files: Sequence[str] = ()) -> list[ModuleMatch]:
        """Return the modules that a task is about, best first; `files` are those that a ranking found for it."""
        return match_modules(self.current(), text, files)

    def cards(self, text: str, files: Sequence[str] = (), *, trusted: bool = False) -> tuple[ModuleCard, ...]:
        """Return the same for a briefing; nothing without a map, because a briefing does not wait for a scan."""
        known = self.known()
        if known is None:
            return ()
        matches = match_modules(for_agents(known, trusted=trusted), text, files)
        return tuple(module_card(each.module, tuple(filter(looks_like_path, files))) for each in matches)

    def _classify(self, found: ModuleMap, sidecar: Sidecar) -> ModuleMap:
        """Let a model name and describe the modules that only a scan has named."""
        shallow = [
            each
            for each in found.modules
            if each.confidence is Confidence.SHALLOW and each.kind is FileRole.CODE
        ]
        names: list[NamedModule] = []
        for start in range(0, len(shallow), SHOWN_AT_ONCE):
            some = shallow[start : start + SHOWN_AT_ONCE]
            titles = sidecar.name_modules(
                [ModuleSketch(each.name, each.description, each.core_files) for each in some]
            )
            names += [
                NamedModule(some[title.place].key, title.name, title.description) for title in titles or ()
            ]
        return self._change(lambda old: apply_titles(old or ModuleMap(), names)) if names else found

    def _change(self, how: Callable[[ModuleMap | None], ModuleMap]) -> ModuleMap:
        return _change_stored(self._store, self._project, how, self._clock())


def mark_used(
    store: ModuleMapStore, project_id: str, files: Sequence[str], session: str, now: datetime
) -> None:
    """Raise the confidence of the modules whose files a session worked on. Does nothing without a map."""
    if files and store.get(project_id):
        _change_stored(store, project_id, lambda old: record_use(old or ModuleMap(), files, session), now)


def _change_stored(
    store: ModuleMapStore, project_id: str, how: Callable[[ModuleMap | None], ModuleMap], now: datetime
) -> ModuleMap:
    """Change the stored map in one transaction, and return it."""

    def change(document: str | None) -> str:
        old = from_document(document) if document else None
        new = how(old)
        return document if document and new == old else as_document(replace(new, updated_at=now))

    return from_document(store.change(project_id, change, now)) or ModuleMap()


def _check_agents_words(correction: Correction) -> None:
    """Raise `Refused` for names and descriptions of an agent that are too long or could pass for instructions."""
    for name in (correction.name, correction.split_off, *(correction.dependencies or ())):
        if name is not None and not looks_like_name(name):
            raise Refused(f"{name[:60]!r} does not look like a name.", "Use at most five words, no sentence.")
    description = correction.description
    if description is not None and len(description) > LONGEST_OF_AGENTS:
        raise Refused(
            f"The description has {len(description)} characters.", f"Use at most {LONGEST_OF_AGENTS}."
        )
    if description is not None and reads_like_instruction(description):
        raise Refused(
            "The description reads like an instruction.",
            "Say what the module does: 'Creates and checks tokens'.",
        )


def _clean_text(text: str | None, longest: int, what: str) -> str | None:
    if text is None:
        return None
    from recollect.text.redact import redact

    plain = redact(" ".join(text.split()))[0]
    if len(plain) > longest:
        raise Refused(f"The {what} has {len(plain)} characters.", f"Use at most {longest}.")
    return plain
