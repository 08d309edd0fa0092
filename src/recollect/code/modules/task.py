"""Which modules a task is about, by common words and by the files that a ranking found for it. Pure."""

import math
from collections import Counter
from collections.abc import Sequence
from pathlib import PurePosixPath

from recollect.code.modules.for_agents import marks_of
from recollect.code.modules.module_map import Module, ModuleCard, ModuleMap, covers
from recollect.code.modules.stems import stems_of
from recollect.code.paths import FileRole
from recollect.frozen import frozen

MOST = 5
BEHIND = 0.25  # of the best score: what has less only shares a word
_WEIGHTS = {"name": 4.0, "file": 2.0, "description": 1.5, "term": 1.0}
_FILE = 3.0  # for the first of the files; less for later ones
_ASIDE = 0.4  # modules that are no code are meant less often


@frozen
class ModuleMatch:
    module: Module
    score: float
    why: str  # "name: auth; files: src/auth/tokens.py"


def match_modules(found: ModuleMap, text: str, files: Sequence[str] = ()) -> list[ModuleMatch]:
    """Return modules, best first. `files` are those that a ranking found for the same text, best first."""
    wanted = list(dict.fromkeys(stems_of(text)))
    words = {module.key: _words(module) for module in found.modules}
    spread = Counter(stem for each in words.values() for stem in each)
    scored: list[ModuleMatch] = []
    for module in found.modules:
        score = 0.0
        hits: dict[str, list[str]] = {}
        for stem in wanted:
            if field := words[module.key].get(stem):
                score += _WEIGHTS[field] * math.log(1 + len(found.modules) / spread[stem])
                hits.setdefault(field, []).append(stem)
        hits = {field: hits[field] for field in _WEIGHTS if field in hits}
        for number, path in enumerate(files):
            if _has(module, path):
                score += _FILE / (1 + number / 3)
                hits.setdefault("files", []).append(path)
        if score:
            score *= 1.0 if module.kind is FileRole.CODE else _ASIDE
            scored.append(
                ModuleMatch(
                    module,
                    score,
                    "; ".join(f"{field}: {', '.join(some[:4])}" for field, some in hits.items()),
                )
            )
    scored.sort(key=lambda each: (-each.score, each.module.name))
    best = scored[0].score if scored else 0.0
    return [each for each in scored if each.score >= BEHIND * best][:MOST]


def _words(module: Module) -> dict[str, str]:
    """Return each stem with the most telling field it is in."""
    found: dict[str, str] = dict.fromkeys(module.terms, "term")
    found |= dict.fromkeys(stems_of(module.description), "description")
    for path in module.core_files:
        found |= dict.fromkeys(stems_of(PurePosixPath(path).stem), "file")
    return found | dict.fromkeys(stems_of(module.name), "name")


def _has(module: Module, path: str) -> bool:
    return any(covers(entry, path) for entry in (*module.core_files, *module.test_files))


def module_card(module: Module, files: Sequence[str] = ()) -> ModuleCard:
    """Return the module for a briefing: the files of the task first, then the most important ones."""
    first = [path for path in files if path in module.core_files]
    core = dict.fromkeys((*first, *module.entry_points, *module.core_files))
    return ModuleCard(module.name, tuple(core), module.test_files, module.dependencies, marks_of(module)[:1])
