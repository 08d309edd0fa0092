"""A map is refined, never written anew: by scans, by use, by a model's words, and by people and agents who correct it. Pure.

Who corrects outranks who scans, and a person outranks an agent.
"""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import recollect.model as m
from recollect.code.modules.module_map import Confidence, Module, ModuleMap, Placement
from recollect.code.paths import folder_of
from recollect.errors import Refused

MAPPED_AFTER = 3  # sessions that worked in a module
SESSIONS_KEPT = 5
SAME = 0.5  # of the files of both: then two modules are one, whatever they are called
MODEL = "model"  # who has said it, where the sidecar has
_SCANNED = ("name", "description", "entry_points", "dependencies")


@dataclass(frozen=True, slots=True)
class Correction:
    """What someone says of a module; what is None stays as it is."""

    name: str | None = None
    description: str | None = None
    dependencies: tuple[str, ...] | None = None
    add_files: tuple[str, ...] = ()
    remove_files: tuple[str, ...] = ()
    merge_with: str | None = None  # the other goes up in this one
    split_off: str | None = None  # a new module of this name takes `add_files`


@dataclass(frozen=True, slots=True)
class ModuleTitle:
    """What a model calls a module."""

    key: str
    name: str
    description: str


def merge_scan(old: ModuleMap | None, new: ModuleMap) -> ModuleMap:
    """`new` is a scan; what was said, learnt and used is kept."""
    if old is None:
        return new
    known = _matched(old, new)
    made = [each for each in old.modules if _is_made(each)]
    modules = [_renewed(known.get(each.key), each) for each in new.modules]
    now = {each.key: key for key, each in known.items()}
    files = {path: _at_home(placed, now) for path, placed in old.files.items()}
    merged = {now.get(key, key): _at_home(placed, now) for key, placed in old.merged.items()}
    return _placed(replace(new, modules=(*modules, *made), files=files, merged=merged))


def _at_home(placed: Placement, now: Mapping[str, str]) -> Placement:
    return replace(placed, key=now.get(placed.key, placed.key))


def _is_made(module: Module) -> bool:
    """Split off by someone: no scan will find it."""
    return "split" in module.said


def _matched(old: ModuleMap, new: ModuleMap) -> dict[str, Module]:
    """By key of the new, the old that it was: of the same key, or of mostly the same files, wherever they are now."""
    by_key = {each.key: each for each in old.modules if not _is_made(each)}
    found = {each.key: by_key[each.key] for each in new.modules if each.key in by_key}
    left = [each for key, each in by_key.items() if key not in found]
    for files_of in (_paths, _paths_inside):
        for each in new.modules:
            if each.key not in found:
                same = [
                    (_overlap(files_of(one), files_of(each)), one.key)
                    for one in left
                    if one.kind is each.kind
                ]
                overlap, key = max(same, default=(0.0, ""))
                if overlap >= SAME:
                    found[each.key] = by_key[key]
                    left.remove(by_key[key])
    return found


def _overlap(one: set[str], other: set[str]) -> float:
    return len(one & other) / max(1, len(one | other))


def _paths(module: Module) -> set[str]:
    return set(module.core_files)


def _paths_inside(module: Module) -> set[str]:
    """As seen from its folder: the same when that has moved. One file's name alone says too little."""
    inside = {path.removeprefix(f"{module.key}/") for path in module.core_files}
    return inside if len(inside) > 1 else set()


def _renewed(old: Module | None, new: Module) -> Module:
    if old is None:
        return new
    kept = {name: getattr(old, name) for name in _SCANNED if name in old.said}
    return replace(new, confidence=old.confidence, sessions=old.sessions, said=old.said, **kept)


def _placed(found: ModuleMap) -> ModuleMap:
    """The map with each module that was merged, and each file that was placed, where it was said to belong."""
    modules = {each.key: each for each in found.modules}
    for key, placed in found.merged.items():
        if key in modules and placed.key in modules and key != placed.key:
            modules[placed.key] = _joined(modules[placed.key], modules.pop(key))
    for path, placed in found.files.items():
        homes = [each for each in modules.values() if path in each.core_files and each.key != placed.key]
        for each in homes:
            modules[each.key] = replace(
                each, core_files=tuple(file for file in each.core_files if file != path)
            )
        target = modules.get(placed.key)
        if target and path not in target.core_files and (homes or not _is_known(found, path)):
            modules[target.key] = replace(target, core_files=(*target.core_files, path))
    order = {each.key: number for number, each in enumerate(found.modules)}
    return replace(found, modules=tuple(sorted(modules.values(), key=lambda each: order[each.key])))


def _is_known(found: ModuleMap, path: str) -> bool:
    return any(path in each.core_files for each in found.modules)


def _joined(one: Module, other: Module) -> Module:
    def both(name: str) -> tuple[str, ...]:
        return tuple(dict.fromkeys((*getattr(one, name), *getattr(other, name))))

    names = ("core_files", "entry_points", "test_files", "dependencies", "terms", "sessions")
    lists: dict[str, Any] = {name: both(name) for name in names}
    related = tuple(key for key in both("related") if key not in (one.key, other.key))
    ranks = list(Confidence)
    confidence = max(one.confidence, other.confidence, key=ranks.index)
    return replace(one, **lists, related=related, confidence=confidence)


def apply_correction(found: ModuleMap, name: str, said: Correction, by: str) -> ModuleMap:
    """Raises `UnknownName` for the module, and `Refused` where an agent would overrule a person."""
    module = found.find(name)
    changes = {
        field: value
        for field in ("name", "description", "dependencies")
        if (value := getattr(said, field)) is not None
    }
    for field in changes:
        _refuse_overruling(by, module.said.get(field), f"the {field} of {module.name!r}")
    if said.name is not None:
        _refuse_taken(found, said.name, module.key)
    module = replace(module, **changes, said={**module.said, **dict.fromkeys(changes, by)})
    found = _with(found, module)
    if said.split_off is not None:
        found, module = _split(found, module, said.split_off, said.add_files, by)
    files = dict(found.files)
    for path, key in [
        *((path, module.key) for path in said.add_files),
        *((path, "") for path in said.remove_files),
    ]:
        if path in files:
            _refuse_overruling(by, files[path].by, f"where {path} belongs")
        files[path] = Placement(key, by)
    merged = dict(found.merged)
    if said.merge_with is not None:
        other = found.find(said.merge_with)
        if other.key == module.key:
            raise Refused(f"{module.name!r} cannot be merged with itself.", "Name another module.")
        if other.key in merged:
            _refuse_overruling(by, merged[other.key].by, f"what becomes of {other.name!r}")
        merged[other.key] = Placement(module.key, by)
        files = {
            path: replace(each, key=module.key) if each.key == other.key else each
            for path, each in files.items()
        }
    return _placed(replace(found, files=files, merged=merged))


def _refuse_overruling(by: str, before: str | None, what: str) -> None:
    if before is not None and m.is_agent(by) and not m.is_agent(before) and before != MODEL:
        raise Refused(
            f"A person has said {what}; an agent does not overrule that.", "Ask the user to change it."
        )


def _refuse_taken(found: ModuleMap, name: str, key: str) -> None:
    if not name.strip():
        raise Refused("A module needs a name.", "Give one with --name.")
    if any(each.name.lower() == name.lower() and each.key != key for each in found.modules):
        raise Refused(
            f"There is a module {name!r} already.", "Merge the two with --merge-with, or choose another name."
        )


def _split(
    found: ModuleMap, module: Module, name: str, files: Sequence[str], by: str
) -> tuple[ModuleMap, Module]:
    if not files:
        raise Refused(
            f"A module {name!r} of no files cannot be split off.", "Name its files with --add-file."
        )
    _refuse_taken(found, name, "")
    made = Module(
        f"split:{name}", name, module.kind, confidence=module.confidence, said={"split": by, "name": by}
    )
    return replace(found, modules=(*found.modules, made)), made


def _with(found: ModuleMap, module: Module) -> ModuleMap:
    return replace(found, modules=tuple(module if each.key == module.key else each for each in found.modules))


def record_use(found: ModuleMap, files: Iterable[str], session: str) -> ModuleMap:
    """Work in a session makes its modules surer, and brings files that no scan has seen to where their neighbours are."""
    touched: dict[str, Module] = {}
    strangers: list[str] = []
    for path in dict.fromkeys(files):
        home = found.home(path)
        if home is None:
            strangers.append(path)
        else:
            touched[home.key] = home
    for path in strangers:
        near = _neighbours(found, path) if path not in found.files else None
        if near:
            near = touched.get(near.key, near)
            touched[near.key] = replace(near, core_files=(*near.core_files, path))
    for module in touched.values():
        found = _with(found, _promoted(module, session))
    return found


def _neighbours(found: ModuleMap, path: str) -> Module | None:
    """The module that has most of the files beside it."""
    folder = folder_of(path)
    beside = Counter(
        {each.key: sum(folder_of(file) == folder for file in each.core_files) for each in found.modules}
    )
    key, count = beside.most_common(1)[0] if beside else ("", 0)
    return next((each for each in found.modules if each.key == key), None) if count and folder else None


def _promoted(module: Module, session: str) -> Module:
    sessions = (*(each for each in module.sessions if each != session), session)[-SESSIONS_KEPT:]
    if module.confidence is Confidence.MAPPED or len(sessions) >= MAPPED_AFTER:
        confidence = Confidence.MAPPED
    else:
        confidence = Confidence.PARTIAL
    return replace(module, sessions=sessions, confidence=confidence)


def apply_titles(found: ModuleMap, names: Iterable[ModuleTitle]) -> ModuleMap:
    """What a model calls the modules, where nobody has called them anything."""
    taken = {each.name.lower() for each in found.modules}
    by_key: Mapping[str, Module] = {each.key: each for each in found.modules}
    for named in names:
        module = by_key.get(named.key)
        if module is None or module.confidence is not Confidence.SHALLOW:
            continue
        changes: dict[str, Any] = {}
        if named.name.lower() not in taken and "name" not in module.said:
            changes["name"] = named.name
            taken.add(named.name.lower())
        if "description" not in module.said:
            changes["description"] = named.description
        said = {**module.said, **dict.fromkeys(changes, MODEL)}
        found = _with(found, replace(module, **changes, said=said, confidence=Confidence.PARTIAL))
    return found
