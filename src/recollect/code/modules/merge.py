"""Update a module map from scans, use, a model's names, and corrections by people and agents. Pure.

A correction outranks a scan, and a person outranks an agent.
"""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any

from recollect.code.modules.for_agents import MODEL
from recollect.code.modules.module_map import Confidence, Module, ModuleMap, Placement
from recollect.code.paths import folder_of
from recollect.errors import Refused
from recollect.frozen import frozen
from recollect.policy import may_overrule

MAPPED_AFTER = 3  # sessions that worked in a module
SESSIONS_KEPT = 5
SAME = 0.5  # of the files of both: then two modules are the same, whatever their names
_SCANNED = ("name", "description", "entry_points", "dependencies")


@frozen
class Correction:
    """What someone corrects about a module; None leaves a field as it is."""

    name: str | None = None
    description: str | None = None
    dependencies: tuple[str, ...] | None = None
    add_files: tuple[str, ...] = ()
    remove_files: tuple[str, ...] = ()
    merge_with: str | None = None  # the other module, which is merged into this one
    split_off: str | None = None  # the name of a new module that takes `add_files`


@frozen
class NamedModule:
    """The name and description that a model gives a module."""

    key: str
    name: str
    description: str


def merge_scan(old: ModuleMap | None, new: ModuleMap) -> ModuleMap:
    """Return the new scan with the corrections, names and use of the old map."""
    if old is None:
        return new
    known = _matched(old, new)
    made = [module for module in old.modules if _is_made(module)]
    modules = [_renewed(known.get(module.key), module) for module in new.modules]
    now = {module.key: key for key, module in known.items()}
    files = {path: _at_home(placed, now) for path, placed in old.files.items()}
    merged = {now.get(key, key): _at_home(placed, now) for key, placed in old.merged.items()}
    return _placed(replace(new, modules=(*modules, *made), files=files, merged=merged))


def _at_home(placed: Placement, now: Mapping[str, str]) -> Placement:
    return replace(placed, key=now.get(placed.key, placed.key))


def _is_made(module: Module) -> bool:
    """Return whether someone split it off: no scan will find it."""
    return "split" in module.said


def _matched(old: ModuleMap, new: ModuleMap) -> dict[str, Module]:
    """Return the old module for each new one: with the same key, or with mostly the same files, wherever they are now."""
    by_key = {module.key: module for module in old.modules if not _is_made(module)}
    matched = {module.key: by_key[module.key] for module in new.modules if module.key in by_key}
    left = [module for key, module in by_key.items() if key not in matched]
    for files_of in (_paths, _paths_inside):
        for module in new.modules:
            if module.key not in matched:
                same = [
                    (_overlap(files_of(one), files_of(module)), one.key)
                    for one in left
                    if one.kind is module.kind
                ]
                overlap, key = max(same, default=(0.0, ""))
                if overlap >= SAME:
                    matched[module.key] = by_key[key]
                    left.remove(by_key[key])
    return matched


def _overlap(one: set[str], other: set[str]) -> float:
    return len(one & other) / max(1, len(one | other))


def _paths(module: Module) -> set[str]:
    return set(module.core_files)


def _paths_inside(module: Module) -> set[str]:
    """Return paths relative to its folder, which stay the same when that moves. A single file name says too little."""
    inside = {path.removeprefix(f"{module.key}/") for path in module.core_files}
    return inside if len(inside) > 1 else set()


def _renewed(old: Module | None, new: Module) -> Module:
    if old is None:
        return new
    corrected = {name: getattr(old, name) for name in _SCANNED if name in old.said}
    return replace(new, confidence=old.confidence, sessions=old.sessions, said=old.said, **corrected)


def _placed(module_map: ModuleMap) -> ModuleMap:
    """Apply all corrections of where files and modules belong."""
    modules = {module.key: module for module in module_map.modules}
    for key, placed in module_map.merged.items():
        if key in modules and placed.key in modules and key != placed.key:
            modules[placed.key] = _joined(modules[placed.key], modules.pop(key))
    for path, placed in module_map.files.items():
        homes = [
            module for module in modules.values() if path in module.core_files and module.key != placed.key
        ]
        for module in homes:
            modules[module.key] = replace(
                module, core_files=tuple(file for file in module.core_files if file != path)
            )
        target = modules.get(placed.key)
        if target and path not in target.core_files and (homes or not _is_known(module_map, path)):
            modules[target.key] = replace(target, core_files=(*target.core_files, path))
    order = {module.key: number for number, module in enumerate(module_map.modules)}
    return replace(module_map, modules=tuple(sorted(modules.values(), key=lambda module: order[module.key])))


def _is_known(module_map: ModuleMap, path: str) -> bool:
    return any(path in module.core_files for module in module_map.modules)


def _joined(one: Module, other: Module) -> Module:
    def both(name: str) -> tuple[str, ...]:
        return tuple(dict.fromkeys((*getattr(one, name), *getattr(other, name))))

    names = ("core_files", "entry_points", "test_files", "dependencies", "terms", "sessions")
    lists: dict[str, Any] = {name: both(name) for name in names}
    related = tuple(key for key in both("related") if key not in (one.key, other.key))
    ranks = list(Confidence)
    confidence = max(one.confidence, other.confidence, key=ranks.index)
    return replace(one, **lists, related=related, confidence=confidence)


def apply_correction(module_map: ModuleMap, name: str, correction: Correction, by: str) -> ModuleMap:
    """Return the corrected map. Raise `UnknownName` for the module, and `Refused` if an agent would overrule a person."""
    module = module_map.find(name)
    changes = {
        field: value
        for field in ("name", "description", "dependencies")
        if (value := getattr(correction, field)) is not None
    }
    for field in changes:
        _refuse_overruling(by, module.said.get(field), f"the {field} of {module.name!r}")
    if correction.name is not None:
        _refuse_taken(module_map, correction.name, module.key)
    module = replace(module, **changes, said={**module.said, **dict.fromkeys(changes, by)})
    module_map = _with(module_map, module)
    if correction.split_off is not None:
        module_map, module = _split(module_map, module, correction.split_off, correction.add_files, by)
    files = dict(module_map.files)
    for path, key in [
        *((path, module.key) for path in correction.add_files),
        *((path, "") for path in correction.remove_files),
    ]:
        if path in files:
            _refuse_overruling(by, files[path].by, f"where {path} belongs")
        files[path] = Placement(key, by)
    merged = dict(module_map.merged)
    if correction.merge_with is not None:
        other = module_map.find(correction.merge_with)
        if other.key == module.key:
            raise Refused(f"{module.name!r} cannot be merged with itself.", "Name another module.")
        if other.key in merged:
            _refuse_overruling(by, merged[other.key].by, f"where {other.name!r} belongs")
        merged[other.key] = Placement(module.key, by)
        files = {
            path: replace(placed, key=module.key) if placed.key == other.key else placed
            for path, placed in files.items()
        }
    return _placed(replace(module_map, files=files, merged=merged))


def _refuse_overruling(by: str, before: str | None, what: str) -> None:
    if not may_overrule(by, before):
        raise Refused(
            f"The user has decided {what}; an agent cannot overrule that.", "Ask the user to change it."
        )


def _refuse_taken(module_map: ModuleMap, name: str, key: str) -> None:
    if not name.strip():
        raise Refused("A module needs a name.", "Give one with --name.")
    if any(module.name.lower() == name.lower() and module.key != key for module in module_map.modules):
        raise Refused(
            f"A module named {name!r} exists already.",
            "Merge the two with --merge-with, or choose another name.",
        )


def _split(
    module_map: ModuleMap, module: Module, name: str, files: Sequence[str], by: str
) -> tuple[ModuleMap, Module]:
    if not files:
        raise Refused(
            f"A module {name!r} without files cannot be split off.", "Name its files with --add-file."
        )
    _refuse_taken(module_map, name, "")
    made = Module(
        f"split:{name}", name, module.kind, confidence=module.confidence, said={"split": by, "name": by}
    )
    return replace(module_map, modules=(*module_map.modules, made)), made


def _with(module_map: ModuleMap, module: Module) -> ModuleMap:
    return replace(
        module_map,
        modules=tuple(module if known.key == module.key else known for known in module_map.modules),
    )


def record_use(module_map: ModuleMap, files: Iterable[str], session: str) -> ModuleMap:
    """Raise the confidence of the modules of these files, and add unknown files to the modules of their neighbours."""
    touched: dict[str, Module] = {}
    strangers: list[str] = []
    for path in dict.fromkeys(files):
        home = module_map.home(path)
        if home is None:
            strangers.append(path)
        else:
            touched[home.key] = home
    for path in strangers:
        near = _neighbours(module_map, path) if path not in module_map.files else None
        if near:
            near = touched.get(near.key, near)
            touched[near.key] = replace(near, core_files=(*near.core_files, path))
    for module in touched.values():
        module_map = _with(module_map, _promoted(module, session))
    return module_map


def _neighbours(module_map: ModuleMap, path: str) -> Module | None:
    """Return the module with most of the files in the same folder."""
    folder = folder_of(path)
    beside = Counter(
        {
            module.key: sum(folder_of(file) == folder for file in module.core_files)
            for module in module_map.modules
        }
    )
    key, count = beside.most_common(1)[0] if beside else ("", 0)
    return (
        next((module for module in module_map.modules if module.key == key), None)
        if count and folder
        else None
    )


def _promoted(module: Module, session: str) -> Module:
    sessions = (*(earlier for earlier in module.sessions if earlier != session), session)[-SESSIONS_KEPT:]
    if module.confidence is Confidence.MAPPED or len(sessions) >= MAPPED_AFTER:
        confidence = Confidence.MAPPED
    else:
        confidence = Confidence.PARTIAL
    return replace(module, sessions=sessions, confidence=confidence)


def apply_titles(module_map: ModuleMap, names: Iterable[NamedModule]) -> ModuleMap:
    """Use a model's names where nobody has chosen any."""
    taken = {module.name.lower() for module in module_map.modules}
    by_key: Mapping[str, Module] = {module.key: module for module in module_map.modules}
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
        correction = {**module.said, **dict.fromkeys(changes, MODEL)}
        module_map = _with(
            module_map, replace(module, **changes, said=correction, confidence=Confidence.PARTIAL)
        )
    return module_map
