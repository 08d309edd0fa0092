"""Keep which memories of a project are stale, so that recall need not read the code."""

from collections.abc import Iterable, Mapping
from contextlib import suppress
from dataclasses import replace
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

import recollect.model as m
from recollect.context.context import Context
from recollect.context.store import Store
from recollect.errors import StoreUnwritable
from recollect.model import Stale

if TYPE_CHECKING:
    from recollect.memory.anchors.check import Seen
    from recollect.memory.anchors.tie import KnownCode

_STALE = "stale"  # the setting of a project: memory id → why and since when
_SEEN = "anchored_files"  # the setting of a project: path → its state when it was last read


def stale_in(store: Store, project_id: str | None) -> dict[str, Stale]:
    """Return the memories of a project that were stale at the last check, by id."""
    recorded = store.setting(project_id, _STALE) or {}
    return {name: Stale(why, m.from_text(since)) for name, (why, since) in recorded.items()}


def refresh(
    store: Store, user_id: str, project: m.Project, now: datetime, code: "KnownCode | None" = None
) -> dict[str, Stale]:
    """Check the code of `project` and store which memories are stale. Code that has only moved is followed.

    With `code`, memories that name something in it and have no anchor get one.
    """
    from recollect.memory.anchors.check import check  # it imports the parsers, which readers do not need

    root = Path(project.root)
    if not root.is_dir():  # on another machine or an unmounted disk
        return stale_in(store, project.id)
    view = m.View(user_id, project.id, all_sessions=True, branches=frozenset())
    memories = {each.id: each for each in store.iter_memories(view) if each.project_id == project.id}
    tied = [each if each.anchors or code is None else _tied(root, each, code) for each in memories.values()]
    checked = check(root, tied, _seen(store.setting(project.id, _SEEN) or {}), code)
    anchors = {each.id: checked.anchors.get(each.id, each.anchors) for each in tied}
    anew = {name: now_tied for name, now_tied in anchors.items() if now_tied != memories[name].anchors}
    before = stale_in(store, project.id)
    after = {
        name: Stale(why, before[name].since if name in before else now) for name, why in checked.stale.items()
    }
    with store.transaction():
        for memory in store.get_many(list(anew)).values():
            if memory.content == memories[memory.id].content:  # others may have written meanwhile
                store.put(replace(memory, anchors=anew[memory.id]))
        _record(store, project.id, after, checked.seen)
        ask_about(store, user_id, project.id, after, before, now)
    return after


def refresh_changed(context: Context, project: m.Project | None = None) -> dict[str, Stale]:
    """Check the memories whose files have changed since the last check; return the stale ones of the project by id.

    The project is the context's if none is given. It costs one look at the time of each anchored file. Everybody who shows
    memories calls it first, so that all say the same at once. What moved to another file is followed by the next `refresh`.
    A store that cannot be written is only read.
    """
    project, store = project or context.project, context.store
    if project is None:
        return {}
    before = stale_in(store, project.id)
    root = Path(project.root)
    kept = store.setting(project.id, _SEEN) or {}
    if not kept or not root.is_dir():
        return before
    changed = [path for path, row in kept.items() if _state(root / path) != (row[0], row[1])]
    if not changed:
        return before
    from recollect.memory.anchors.check import check

    seen = _seen(kept)
    ids = {name for path in changed for name in seen[path].memories}
    memories = [memory for memory in store.get_many(list(ids)).values() if memory.project_id == project.id]
    checked = check(root, memories, seen)
    now = context.clock()
    after = {name: each for name, each in before.items() if name not in ids}
    for name, why in checked.stale.items():
        after[name] = Stale(why, before[name].since if name in before else now)
    both = {
        path: replace(each, memories=tuple(dict.fromkeys((*each.memories, *seen[path].memories))))
        if path in seen
        else each
        for path, each in checked.seen.items()
    }
    with suppress(StoreUnwritable), store.transaction():
        _record(store, project.id, after, {**seen, **both})
        ask_about(store, context.user_id, project.id, after, before, now)
    return after


def ask_about(
    store: Store,
    user_id: str,
    project_id: str,
    stale: Mapping[str, Stale],
    before: Iterable[str],
    now: datetime,
) -> None:
    """Put each stale memory into the review list, unless that was answered since its code changed.

    The questions about those that were stale `before` and no longer are, because the code is as it was, are closed.
    """
    for name, each in stale.items():
        review = m.Review(m.new_id(now), user_id, project_id, "stale", (name,), each.why, now)
        store.reviews.ask(review, since=each.since)
    if settled := {(name,) for name in before if name not in stale}:
        for review in store.reviews.open(user_id, project_id, "stale"):
            if review.memories in settled:
                store.reviews.decide(review.id, "moot", now)


def track(context: Context, memory: m.Memory) -> None:
    """Note the files of a new memory, so that `refresh_changed` looks at them."""
    project, store = context.project, context.store
    if project is None or memory.project_id != project.id or not memory.anchors:
        return
    kept = store.setting(project.id, _SEEN) or {}
    added = dict(kept)
    for path in dict.fromkeys(anchor.path for anchor in memory.anchors):
        size, mtime_ns = _state(Path(project.root) / path)
        row = kept.get(path, [size, mtime_ns, {}])
        ids = row[3] if len(row) > 3 else []
        if memory.id not in ids:
            added[path] = [*row[:3], [*ids, memory.id]]
    _keep(store, project.id, _SEEN, added)


def _state(file: Path) -> tuple[int, int]:
    try:
        stat = file.stat()
    except (OSError, ValueError):
        return -1, 0
    return stat.st_size, stat.st_mtime_ns


def _record(store: Store, project_id: str, stale: Mapping[str, Stale], seen: "Mapping[str, Seen]") -> None:
    recorded = {name: [each.why, m.to_text(each.since)] for name, each in stale.items()}
    _keep(store, project_id, _STALE, recorded)
    _keep(store, project_id, _SEEN, _as_json(seen))


def _as_json(seen: "Mapping[str, Seen]") -> dict[str, Any]:
    return {path: [each.size, each.mtime_ns, each.marks, list(each.memories)] for path, each in seen.items()}


def check_anchors(context: Context, code: "KnownCode | None") -> dict[str, Stale]:
    """Check the memories of the context's project against its code; return the stale ones by id."""
    if context.project is None:
        return {}
    return refresh(context.store, context.user_id, context.project, context.clock(), code)


def _tied(root: Path, memory: m.Memory, code: "KnownCode") -> m.Memory:
    from recollect.memory.anchors.tie import tie

    return replace(memory, anchors=tie(root, memory.content, memory.file_paths, code))


def _keep(store: Store, project_id: str, name: str, value: Mapping[str, Any]) -> None:
    if (store.setting(project_id, name) or {}) != value:
        store.set_setting(project_id, name, value)


def _seen(kept: Mapping[str, Any]) -> "dict[str, Seen]":
    from recollect.memory.anchors.check import Seen

    return {
        path: Seen(size, mtime_ns, marks, tuple(*memories))  # older versions kept no memories
        for path, (size, mtime_ns, marks, *memories) in kept.items()
    }
