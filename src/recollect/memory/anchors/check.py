"""Check whether the code that memories are anchored to has changed. Unchanged files are not read."""

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from pathlib import Path

import recollect.model as m
from recollect.frozen import frozen
from recollect.memory.anchors.tie import KnownCode, marked_file

GONE = -1  # the size of a file that does not exist
_MOST_ELSEWHERE = 5  # symbols of the same name that are compared with one that is gone


@frozen
class Seen:
    """An anchored file as it was when it was last read."""

    size: int
    mtime_ns: int
    marks: Mapping[str, str | None]  # by symbol; None = it does not exist. Empty if the file cannot be read
    memories: tuple[str, ...] = ()  # the ids of those that are anchored to it


@frozen
class Checked:
    stale: Mapping[str, str]  # by memory: the reason, for users
    anchors: Mapping[str, tuple[m.Anchor, ...]]  # of memories whose code has only moved
    seen: Mapping[str, Seen]  # to pass to the next check


def check(
    root: Path,
    memories: Iterable[m.Memory],
    seen: Mapping[str, Seen] | None = None,
    code: KnownCode | None = None,
) -> Checked:
    """Check the anchors of `memories`. Code that moved unchanged to another file in `code` is followed there."""
    tied = [memory for memory in memories if memory.anchors]
    sight = _Sight(root, seen or {}, tied, code)
    stale: dict[str, str] = {}
    anchors: dict[str, tuple[m.Anchor, ...]] = {}
    for memory in tied:
        verdicts = [sight.look(anchor) for anchor in memory.anchors]
        now = tuple(anchor for anchor, _ in verdicts)
        why = "; ".join(dict.fromkeys(why for _, why in verdicts if why))
        if why:
            stale[memory.id] = why
        if now != memory.anchors:
            anchors[memory.id] = now
    return Checked(stale, anchors, {**sight.gone, **sight.seen})


class _Sight:
    """One check of a project, which reads each file at most once."""

    def __init__(
        self, root: Path, before: Mapping[str, Seen], tied: Iterable[m.Memory], code: KnownCode | None
    ) -> None:
        self._root = root
        self._before = before
        self._code = code
        self._wanted: defaultdict[str, set[str]] = defaultdict(set)
        self._about: defaultdict[str, dict[str, None]] = defaultdict(dict)
        for memory in tied:
            for anchor in memory.anchors:
                self._wanted[anchor.path].add(anchor.symbol)
                self._about[anchor.path][memory.id] = None
        self.seen: dict[str, Seen] = {}
        self.gone: dict[str, Seen] = {}

    def look(self, anchor: m.Anchor) -> tuple[m.Anchor, str]:
        """Return the anchor to store from now on, and why its memory is stale, or ""."""
        file = self._file(anchor.path)
        if file is not None and anchor.symbol not in file.marks:
            return anchor, ""  # the anchor is to the file only, or the file cannot be read
        digest = file.marks[anchor.symbol] if file is not None else None
        if digest is not None:
            changed = anchor.digest not in ("", digest)
            return anchor, f"`{anchor.symbol}` in {anchor.path} has changed" if changed else ""
        if moved := next(self._elsewhere(anchor), None):
            return moved, ""
        gone = f"`{anchor.symbol}` is no longer in {anchor.path}" if file else f"{anchor.path} is gone"
        return anchor, gone

    def _elsewhere(self, anchor: m.Anchor) -> Iterator[m.Anchor]:
        """Return an anchor to the same code in another file, or None."""
        found = self._code.find(anchor.symbol) if self._code and anchor.symbol else ()
        for symbol in found[:_MOST_ELSEWHERE]:
            name = symbol.id.partition("::")[2]
            file = marked_file(self._root, symbol.path)
            if file is not None and file.mark(name) == anchor.digest:
                yield m.Anchor(symbol.path, name, anchor.digest)

    def _file(self, path: str) -> Seen | None:
        """Return the state of a file, or None if it does not exist."""
        if path in self.seen:
            return self.seen[path]
        about = tuple(self._about[path])
        try:
            stat = (self._root / path).stat()
        except (OSError, ValueError):
            self.gone[path] = Seen(GONE, 0, {}, about)
            return None
        known = self._before.get(path)
        wanted = self._wanted[path] - {""}
        same = known is not None and (known.size, known.mtime_ns) == (stat.st_size, stat.st_mtime_ns)
        if known is None or not same or not wanted <= known.marks.keys():
            wanted |= known.marks.keys() if known is not None and same else set()
            read = marked_file(self._root, path) if wanted else None
            made = {name: read.mark(name) for name in sorted(wanted)} if read is not None else {}
            known = Seen(stat.st_size, stat.st_mtime_ns, made)
        self.seen[path] = known = replace(known, memories=about)
        return known
