"""Check the installation and report what is well, what is not, and what to do."""

import os
from datetime import datetime
from pathlib import Path

import recollect.model as m
from recollect.config import Settings
from recollect.context.confirmed_time import WORTH_A_NOTICE, ClockMark
from recollect.context.embedder import Embedder
from recollect.context.project import ProjectFolder
from recollect.context.store import Store
from recollect.embed.open import NoEmbedder
from recollect.errors import EmbedderUnavailable
from recollect.frozen import frozen
from recollect.memory.anchors.stale import stale_in
from recollect.memory.maintenance.vectors import models_of
from recollect.store.plain_files import plain_files

_MANY_UNDESCRIBED = 10  # memories that do not say when they are needed; fewer are not worth a hint


@frozen
class Diagnosis:
    part: str
    ok: bool
    finding: str
    hint: str = ""


def examine(
    *,
    store: Store,
    embedder: Embedder,
    settings: Settings,
    project: m.Project | None,
    place: ProjectFolder | None,
    view: m.View,
    now: datetime,
    clock: ClockMark,
) -> tuple[Diagnosis, ...]:
    return (
        _project(project, place),
        _home(settings),
        _clock(clock),
        *_store(store),
        *_encryption(settings, store),
        *_backups(store, now),
        _embedder(embedder),
        _vectors(store, embedder),
        _situations(store, view),
        _conflicts(store, view),
        _stale(store, view),
    )


def _project(project: m.Project | None, place: ProjectFolder | None) -> Diagnosis:
    if project is None:
        return Diagnosis("project", True, "No project: only global memories are available.")
    where = f", on branch {place.branch}" if place and place.branch else ""
    kind = f", {_kind_of(place)}" if place and _kind_of(place) else ""
    return Diagnosis(
        "project",
        True,
        f"{project.name} ({project.id}) in {project.root}{kind}{where}, identified by {project.why}.",
    )


def _kind_of(place: ProjectFolder) -> str:
    """Return "a worktree" or "a submodule"; "" for a main work tree."""
    try:
        text = (place.root / ".git").read_text(encoding="utf-8", errors="replace")
    except OSError:  # a folder, or missing
        return ""
    target = Path(text.removeprefix("gitdir:").strip()).parts
    if "worktrees" in target:
        return "a worktree"
    return "a submodule" if "modules" in target else ""


def close_to_others(home: Path) -> list[str]:
    """Remove the access of other users to the home folder; return what was done."""
    if os.name != "posix" or not home.stat().st_mode & 0o077:
        return []
    home.chmod(0o700)
    return [f"{home} is no longer readable by other users."]


def _home(settings: Settings) -> Diagnosis:
    home = settings.home
    if os.name == "posix" and home.stat().st_mode & 0o077:
        return Diagnosis(
            "home",
            False,
            f"{home} is readable by other users.",
            f"Run `chmod 700 {home}`, or `recollect doctor --fix`.",
        )
    if not os.access(home, os.W_OK):
        hint = f"Make {home} writable, or set RECOLLECT_HOME to another folder."
        return Diagnosis("home", False, f"{home} is not writable for {settings.user}.", hint)
    return Diagnosis("home", True, f"{home}, private to {settings.user}.")


def _clock(mark: ClockMark) -> Diagnosis:
    if not mark.jump:
        return Diagnosis("clock", True, "The machine's clock agrees with that of earlier runs.")
    hint = "Set the clock if it is wrong."
    return Diagnosis("clock", mark.jump < WORTH_A_NOTICE, mark.notice, hint)


def _store(store: Store) -> tuple[Diagnosis, ...]:
    info = store.info()
    problems = store.check()
    if problems:
        return tuple(Diagnosis("store", False, problem.what, problem.hint) for problem in problems)
    kind = "encrypted" if info.encrypted else "not encrypted"
    size = f"{info.size / 1e6:.1f} MB, schema {info.version}, {kind}"
    return (Diagnosis("store", True, f"Rows, full text, vectors, links and audit agree ({size})."),)


def _encryption(settings: Settings, store: Store) -> tuple[Diagnosis, ...]:
    """Return a diagnosis for each file beside an encrypted store that is not encrypted."""
    if not store.info().encrypted:
        return ()
    found = plain_files(settings.database)
    if not found:
        return (
            Diagnosis("encryption", True, "Everything in the home that has memories or events is encrypted."),
        )
    hint = "Move it out of the home, or delete it."
    return tuple(
        Diagnosis("encryption", False, f"{path.relative_to(settings.home)} is not encrypted.", hint)
        for path in found
    )


def _backups(store: Store, now: datetime) -> tuple[Diagnosis, ...]:
    checked = store.check_backups()
    if not checked:
        text = "None yet: one is made when a command or the daemon has written and ends."
        return (Diagnosis("backups", True, text),)
    damaged = tuple(
        Diagnosis(
            "backups",
            False,
            f"{Path(backup.path).name} is damaged: {backup.problem}.",
            f"Delete {backup.path}.",
        )
        for backup in checked
        if backup.problem
    )
    age = (now - checked[0].made_at).total_seconds() / 3600
    count = "1 backup is" if len(checked) == 1 else f"All {len(checked)} backups are"
    return damaged or (Diagnosis("backups", True, f"{count} intact, and the newest is {age:.0f} hours old."),)


def _embedder(embedder: Embedder) -> Diagnosis:
    try:
        dim = embedder.embed(["Does the model answer?"]).shape[1]
        return Diagnosis("embedder", True, f"{embedder.model} returns {dim} numbers per text.")
    except EmbedderUnavailable as error:
        return Diagnosis("embedder", error.by_choice, error.message, error.hint)


def _vectors(store: Store, embedder: Embedder) -> Diagnosis:
    if embedder.model == NoEmbedder.model:
        return Diagnosis("vectors", True, "Vectors are turned off.")
    try:
        missing, lacking = map(store.count_without_vector, models_of(embedder))
    except EmbedderUnavailable as error:
        return Diagnosis("vectors", False, error.message, error.hint)
    if missing:
        finding = f"{missing:,} memories have no vector of this model."
        return Diagnosis("vectors", False, finding, "Run `recollect init` to make them.")
    if lacking:
        finding = f"Memories whose situations have no vector of this model: {lacking:,}."
        return Diagnosis("vectors", False, finding, "Run `recollect init` to make them.")
    return Diagnosis("vectors", True, "Every memory has a vector of this model.")


def _situations(store: Store, view: m.View) -> Diagnosis:
    described, total = store.count_described(view)
    hint = "Run `recollect describe` to list the others." if total - described >= _MANY_UNDESCRIBED else ""
    return Diagnosis(
        "situations", True, f"{described:,} of {total:,} memories say when they are needed.", hint
    )


def _conflicts(store: Store, view: m.View) -> Diagnosis:
    count = len(store.conflicts(view))
    if count:
        finding = "1 contradiction is" if count == 1 else f"{count} contradictions are"
        return Diagnosis("conflicts", True, f"{finding} open.", "Run `recollect conflicts` to list them.")
    return Diagnosis("conflicts", True, "No open contradictions.")


def _stale(store: Store, view: m.View) -> Diagnosis:
    count = len(stale_in(store, view.project_id))
    if count:
        finding = "1 memory is" if count == 1 else f"{count:,} memories are"
        return Diagnosis(
            "stale",
            True,
            f"{finding} about code that has changed since.",
            "Run `recollect review --kind stale` to check them.",
        )
    return Diagnosis("stale", True, "No memory is about code that has changed since.")
