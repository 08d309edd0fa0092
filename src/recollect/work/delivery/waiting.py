"""Memories that fit a session's last prompts, and that its agent is told when it opens one of their files."""

import threading
from collections import deque
from collections.abc import Collection

import recollect.model as m
from recollect.work.delivery.material import Material

PROMPTS = 3  # the last ones that count; those that fit nothing are not counted


class Waiting:
    """What one session may be told about the files it opens. Thread-safe."""

    def __init__(self) -> None:
        self._materials: deque[Material] = deque(maxlen=PROMPTS)
        self._lock = threading.Lock()

    def __bool__(self) -> bool:
        return bool(self._materials)

    def add(self, material: Material) -> None:
        """Keep what a prompt has found."""
        if material.waiting:
            with self._lock:
                self._materials.append(material)

    def about(self, paths: Collection[str]) -> Material:
        """Return what waits for one of these files, the likeliest to be useful first. The newest prompt decides how likely."""
        with self._lock:
            materials = tuple(self._materials)
        hits: dict[str, m.Hit] = {}
        likely: dict[str, float] = {}
        for material in materials:
            for hit in material.waiting:
                if is_about(hit.memory, paths):
                    hits[hit.memory.id] = hit
                    likely[hit.memory.id] = material.probabilities[hit.memory.id]
        return Material(
            matches=tuple(sorted(hits.values(), key=lambda hit: -likely[hit.memory.id])),
            conflicts=tuple(pair for material in materials for pair in material.conflicts),
            stale=frozenset[str]().union(*(material.stale for material in materials)),
            names={user: name for material in materials for user, name in material.names.items()},
            probabilities=likely,
        )


def is_about(memory: m.Memory, paths: Collection[str]) -> bool:
    """Return whether a memory names one of these files, or a folder that one is in."""
    return any(_is_within(path, named) for path in paths for named in memory.file_paths)


def _is_within(path: str, named: str) -> bool:
    """Whether a file is what a memory names, or lies in the folder that it names."""
    return path == named or path.startswith(named.rstrip("/") + "/")
