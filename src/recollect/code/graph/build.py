"""Brings the graph up to date with the files: looks at what changed, reads that, and resolves what it touches."""

import contextlib
import gc
import logging
import os
import time
import zlib
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from recollect.code.facts import FileFacts
from recollect.code.files import UNREADABLE, FileListing, is_unchanged, list_files, settled_mtime
from recollect.code.git_history import History
from recollect.code.graph.database import (
    ConcurrentUpdate,
    DamagedDatabase,
    FileRecord,
    GraphDatabase,
    ParseKey,
    WriteFailed,
)
from recollect.code.graph.file_node import FileNode
from recollect.code.graph.graph import CodeGraph
from recollect.code.graph.invalidation import FamilyFiles, LazyFacts
from recollect.code.graph.parsing import DEADLY, FileToParse, blob_hash, parse_files
from recollect.code.graph.resolving import config_reader, resolve_files
from recollect.code.languages.resolver import MajorityTypes, resolver_for
from recollect.code.languages.table import CONFIG_FILES, FAMILY_OF, language_of
from recollect.code.packing import PackedFacts, ParsedFile, pack, pack_edges, unpack, unpack_facts

logger = logging.getLogger(__name__)

GIANT = "over 1 MB"
NOT_CODE = "not code"
MOST_BYTES = 1_000_000  # of a source file; longer ones are data
_ATTEMPTS = 5  # against other processes that write at the same time
_KEPT_AT_ONCE = 500  # parses
_FEW = 20
_MUCH = 0.1  # of the files changed: resolving all is quicker than finding out who is touched
_MOST = 0.3  # of the files are touched: resolving all, in several processes, is quicker than resolving these
_HEAD = 128
_HISTORY = "history 2"
_DIGEST = "digest"
_VOTES = "votes"
_STALE = 300  # files that changed since a digest was made: from here on, it is made anew
_NO_LANGUAGE = (
    "none"  # of such a file, where there is no grammar for it: what it says is not kept, but that it changed
)

Progress = Callable[[int, int], None]


@dataclass(frozen=True, slots=True)
class Refreshed:
    """What a refresh found and did."""

    files: int  # in the graph
    parsed: int = 0
    resolved: int = 0  # files whose edges were looked for
    left_out: Mapping[str, int] = field(default_factory=dict)  # by reason
    seconds: float = 0.0
    complete: bool = True  # False: it was stopped, and the graph is as it was


class _Stopped(Exception):
    pass


class Builder:
    """The graph of one project, and what it takes to keep it up to date. Not for two threads at once."""

    def __init__(self, root: Path, shelf_path: Path, key: str | None) -> None:
        self._root = root
        self._shelf = GraphDatabase(shelf_path, key)
        self._walk = FileListing()
        self._history: History | None = None
        self._languages: dict[str, str] = {}  # of the files that were found and are code
        self._load()

    def close(self) -> None:
        self._shelf.close()

    def refresh(
        self, progress: Progress = lambda done, total: None, stop: Callable[[], bool] = lambda: False
    ) -> Refreshed:
        """Costs what changed since the last one, whichever process made that. Stopping keeps what was parsed."""
        began = time.perf_counter()
        for _ in range(_ATTEMPTS):
            try:
                with _uncollected():
                    done = self._refresh(_Watched(progress, stop))
                return replace(done, seconds=time.perf_counter() - began)
            except _Stopped:
                break
            except ConcurrentUpdate:
                self._load()
            except (DamagedDatabase, zlib.error) as error:
                logger.warning("the code graph cannot be read and is made anew: %s", error)
                self._shelf.start_again()
                self._load()
        return Refreshed(len(self.graph.paths), seconds=time.perf_counter() - began, complete=False)

    def known_history(self) -> History | None:
        """What git remembered of the project when it was last read; None = it has not been."""
        if self._history is None:
            with contextlib.suppress(DamagedDatabase, zlib.error):
                note = self._shelf.note(_HISTORY)
                self._history = History.unpacked(note) if note else None
        return self._history

    def keep_history(self, history: History | None) -> None:
        if history is not None and history is not self._history:
            self._attempt(self._shelf.put_note, _HISTORY, history.packed())
        self._history = history

    def _load(self) -> None:
        """What is on the shelf, without a look at the files."""
        try:
            records, parses = self._shelf.load()
        except DamagedDatabase:
            self._shelf.start_again()
            records, parses = {}, {}
        self._records: dict[str, FileRecord] = {}
        self._unwritten: dict[
            str, FileRecord | None
        ] = {}  # what the shelf has yet to hear of; None = it is gone
        self._unwritten_notes: dict[str, bytes] = {}
        self._known: dict[str, FamilyFiles] = {}
        leaves = {}
        for path, record in records.items():
            if record.left_out is None:
                parse = parses.get(record.key)
                if parse is None:
                    continue  # it is read again
                leaves[path] = FileNode(path, record.language, record.blob, *parse, record.edges)
            self._records[path] = record
        self.graph = CodeGraph(leaves)

    def _refresh(self, watched: "_Watched") -> Refreshed:
        if self._shelf.newest() != self._shelf.generation:
            self._load()
        left_out: Counter[str] = Counter()
        here, differing = self._look(left_out)
        fresh, touched = self._hash(differing, here, left_out, watched)
        parses, parsed = self._parse(fresh, here, left_out, watched)
        gone = self._records.keys() - here
        if touched:
            self._attempt(self._shelf.touch, touched)
            self._records |= touched
        edges: dict[str, bytes] = {}
        if fresh or gone:
            try:
                edges, notes = self._resolve(fresh, gone, parses, watched)
                self._put(fresh, gone, parses, edges, notes)
            except BaseException:
                self._known.clear()  # it may know files that are not in the graph yet
                raise
        left_out.update(record.left_out for record in self._records.values() if record.left_out)
        return Refreshed(len(self.graph.paths), parsed, len(edges), dict(+left_out))

    # what changed

    def _look(self, left_out: Counter[str]) -> tuple[set[str], dict[str, tuple[int, int]]]:
        """The files that are there, and size and time of those that are not as they were."""
        if not is_unchanged(self._root, self._walk):
            self._walk = list_files(self._root)
            named = ((path, self._language(path)) for path in self._walk.files)
            self._languages = {path: language for path, language in named if language}
        left_out.update(self._walk.left_out)
        left_out[NOT_CODE] += len(self._walk.files) - len(self._languages)
        differing: dict[str, tuple[int, int]] = {}
        here: set[str] = set()
        base = str(self._root)
        for path, language in self._languages.items():
            try:
                stat = os.lstat(f"{base}/{path}")
            except FileNotFoundError:
                continue
            except OSError:
                left_out[UNREADABLE] += 1
                continue
            if stat.st_size > MOST_BYTES:
                left_out[GIANT] += 1
                continue
            here.add(path)
            known = self._records.get(path)
            if known is None or known[1:4] != (language, stat.st_size, stat.st_mtime_ns):
                differing[path] = stat.st_size, stat.st_mtime_ns
        return here, differing

    def _language(self, path: str) -> str | None:
        language = language_of(path)
        name = path.rsplit("/", 1)[-1]
        if not language and name in CONFIG_FILES:
            return _NO_LANGUAGE
        if language or "." in name:
            return language
        try:
            with (self._root / path).open("rb") as file:
                return language_of(path, file.read(_HEAD))
        except OSError:
            return None

    def _hash(
        self,
        differing: Mapping[str, tuple[int, int]],
        here: set[str],
        left_out: Counter[str],
        watched: "_Watched",
    ) -> tuple[dict[str, FileRecord], dict[str, FileRecord]]:
        """Records of those whose content is new, and of those where only the time is.

        What cannot be the same as anything else has no blob yet: it is found when it is parsed.
        """
        fresh: dict[str, FileRecord] = {}
        touched: dict[str, FileRecord] = {}
        first = not self._records and not self._shelf.has_parses()
        sizes = Counter(size for size, _ in differing.values())
        for path, (size, mtime_ns) in differing.items():
            watched.check()
            looked = time.time_ns()
            if first and sizes[size] == 1 and self._languages[path] != _NO_LANGUAGE:
                fresh[path] = FileRecord(b"", self._languages[path], size, settled_mtime(mtime_ns, looked))
                continue
            try:
                blob = blob_hash((self._root / path).read_bytes())
            except OSError as error:
                left_out[UNREADABLE] += not isinstance(error, FileNotFoundError)
                here.discard(path)
                continue
            record = FileRecord(blob, self._languages[path], size, settled_mtime(mtime_ns, looked))
            known = self._records.get(path)
            if known is not None and known.key == record.key:
                touched[path] = known._replace(size=record.size, mtime_ns=record.mtime_ns)
            else:
                fresh[path] = record
        return fresh, touched

    # what it says

    def _parse(
        self, fresh: dict[str, FileRecord], here: set[str], left_out: Counter[str], watched: "_Watched"
    ) -> tuple[dict[ParseKey, ParsedFile], int]:
        """What all of `fresh` say, and how many had to be parsed for that. Takes out of it what cannot be read."""
        parses = dict(self._shelf.parses({record.key for record in fresh.values()}))
        alike: dict[ParseKey | str, list[str]] = {}
        for path, record in fresh.items():
            if record.language == _NO_LANGUAGE:
                fresh[path] = record._replace(left_out=NOT_CODE)
            elif record.key not in parses:
                alike.setdefault(record.key if record.blob else path, []).append(path)
        same = {paths[0]: paths for paths in alike.values()}
        wanted = [FileToParse(path, fresh[path].language, fresh[path].size) for path in same]
        watched.expect(len(wanted) + len(fresh))
        unkept: dict[ParseKey, ParsedFile] = {}
        for each, found in parse_files(self._root, wanted, watched.stop):
            watched.advance()
            deadly = found.left_out in DEADLY
            blob = fresh[each.path].blob or (self._blob(each.path) if deadly else found.blob)
            if not blob or (found.blob != blob and not deadly):
                for path in same[each.path]:  # it changed, or went, between two looks: the next one will see
                    del fresh[path]
                    if found.left_out:
                        left_out[found.left_out] += 1
                        here.discard(path)
                continue
            for path in same[each.path]:
                fresh[path] = fresh[path]._replace(blob=blob, left_out=found.left_out)
            if found.parse:
                parses[blob, each.language] = unkept[blob, each.language] = found.parse
            if len(unkept) == _KEPT_AT_ONCE:
                self._attempt(self._shelf.keep, unkept, _today())
                unkept = {}
        self._attempt(self._shelf.keep, unkept, _today())
        watched.check()
        return parses, len(wanted)

    def _blob(self, path: str) -> bytes:
        try:
            return blob_hash((self._root / path).read_bytes())
        except OSError:
            return b""

    # what it means

    def _resolve(
        self,
        fresh: Mapping[str, FileRecord],
        gone: Iterable[str],
        parses: Mapping[ParseKey, ParsedFile],
        watched: "_Watched",
    ) -> tuple[dict[str, bytes], dict[str, bytes]]:
        """The edges, packed, of all files whose edges may have changed, and notes that are true from then on."""
        new: dict[str, dict[str, PackedFacts | None]] = {}
        for path in [*gone, *fresh]:
            for record, is_new in ((self._records.get(path), False), (fresh.get(path), True)):
                family = FAMILY_OF.get(record.language) if record and record.left_out is None else None
                if record and family:
                    says = (record.language, *parses[record.key][:3]) if is_new else None
                    new.setdefault(family, {})[path] = says
        if any(path.rsplit("/", 1)[-1] in CONFIG_FILES for path in [*gone, *fresh]):
            self._known.clear()
            for family in set(map(FAMILY_OF.get, self._languages.values())):
                if family:
                    new.setdefault(family, {})
        edges: dict[str, bytes] = {}
        notes: dict[str, bytes] = {}
        for family, changed in new.items():
            for path, found in self._edges(family, changed, fresh, notes, watched):
                edges[path] = found
                watched.advance()
        return edges, notes

    def _edges(
        self,
        family: str,
        changed: Mapping[str, PackedFacts | None],
        fresh: Mapping[str, FileRecord],
        notes: dict[str, bytes],
        watched: "_Watched",
    ) -> Iterator[tuple[str, bytes]]:
        """Of all files of the family whose edges may have changed, packed. What was found out goes into `notes`."""
        before = {
            path: record
            for path, record in self._records.items()
            if record.left_out is None and FAMILY_OF.get(record.language) == family
        }
        touched = self._touched(family, changed, before)
        if touched is None:
            self._known.pop(family, None)
            files = self._packed({path: record for path, record in before.items() if path not in changed})
            files |= {path: says for path, says in changed.items() if says}
            watched.expect(len(files) - len(changed))

            def keep(digest: bytes, votes: MajorityTypes) -> None:
                if digest:
                    notes[f"{_DIGEST} {family}"] = pack((_keys(before, changed, fresh), digest))
                notes[f"{_VOTES} {family}"] = pack(votes)

            yield from resolve_files(family, files, self._root, watched.stop, keep)
            watched.check()
            return
        resolver = self._known[family].resolver
        watched.expect(len(touched) - len(changed))
        for path in sorted(touched):
            watched.check()
            yield path, pack_edges(resolver.edges(path))
        notes[f"{_VOTES} {family}"] = pack(resolver.majority_types)

    def _touched(
        self, family: str, changed: Mapping[str, PackedFacts | None], before: Mapping[str, FileRecord]
    ) -> set[str] | None:
        """The files whose edges may be different now; None = so many that all may as well be resolved."""
        if not changed or not before or len(changed) > max(_FEW, _MUCH * len(before)):
            return None
        if family not in self._known:
            self._known[family] = self._family(family, before)
        touched: set[str] = set()
        for path, says in changed.items():
            touched |= self._known[family].take(path, unpack_facts(*says) if says else None)
            if len(touched) > max(_FEW, _MOST * len(before)):
                return None
        return touched - {path for path, says in changed.items() if says is None}

    def _packed(self, records: Mapping[str, FileRecord]) -> dict[str, PackedFacts]:
        """All that the files said when they were recorded."""
        parses = dict(self._shelf.parses({record.key for record in records.values()}))
        return {
            path: (record.language, *parses[record.key][:3])
            for path, record in records.items()
            if record.key in parses
        }

    def _family(self, name: str, records: Mapping[str, FileRecord]) -> FamilyFiles:
        """With the files as they were recorded."""
        keys = {path: record.key for path, record in records.items()}
        files = LazyFacts(records, self._said)
        known, digest = self._noted(_DIGEST, name, ({}, b""))
        stale = {path for path in known.keys() | keys.keys() if known.get(path) != keys.get(path)}
        if len(stale) > _STALE:
            digest = b""
        resolver = resolver_for(name, files, config_reader(self._root), digest, stale)
        votes: MajorityTypes = self._noted(_VOTES, name, {})
        resolver.majority_types = {name: one for name, one in votes.items() if not one or one[0] in keys}
        if not digest and (digest := resolver.digest()):
            self._attempt(self._shelf.put_note, f"{_DIGEST} {name}", pack((keys, digest)))
        return FamilyFiles(resolver, files, self._terms, self._mentioning)

    def _said(self, path: str) -> FileFacts:
        """What a file said when it was recorded."""
        record = self._records[path]
        for _, parse in self._shelf.parses([record.key]):
            return unpack_facts(record.language, *parse[:3])
        raise ConcurrentUpdate  # who no longer needs it has thrown it away

    def _terms(self, path: str) -> bytes | None:
        leaf = self.graph.leaves.get(path)
        return leaf.terms if leaf else None

    def _mentioning(self, names: Collection[str]) -> set[str]:
        found = self._shelf.mentioning(names)
        return {path for path, record in self._records.items() if record.key in found}

    def _noted(self, what: str, family: str, nothing: Any) -> Any:
        """What an earlier resolver found out; `nothing` if that was not kept."""
        name = f"{what} {family}"
        note = self._unwritten_notes.get(name) or self._shelf.note(name)
        return unpack(note) if note else nothing

    def _put(
        self,
        fresh: Mapping[str, FileRecord],
        gone: Iterable[str],
        parses: Mapping[ParseKey, ParsedFile],
        edges: Mapping[str, bytes],
        notes: Mapping[str, bytes],
    ) -> None:
        """On the shelf, and into a new graph: who has the old one keeps it."""
        leaves = {path: leaf for path, leaf in self.graph.leaves.items() if path not in gone}
        changed = {path: record._replace(edges=edges.get(path, b"")) for path, record in fresh.items()}
        for path, record in changed.items():
            if record.left_out is not None:
                leaves.pop(path, None)
            else:
                parse = parses[record.key]
                leaves[path] = FileNode(
                    path, record.language, record.blob, parse.outline, parse.terms, record.edges
                )
        for path, found in edges.items():
            if path not in fresh and found != leaves[path].packed_edges:
                leaves[path] = replace(leaves[path], packed_edges=found)
                changed[path] = self._records[path]._replace(edges=found)
        self._unwritten |= dict.fromkeys(gone) | changed
        self._unwritten_notes |= notes
        self._attempt(self._write)
        for path in gone:
            del self._records[path]
        self._records |= changed
        came = leaves.keys() - self.graph.leaves.keys()
        self.graph = CodeGraph(dict(sorted(leaves.items())) if came else leaves)

    def _write(self) -> None:
        changed = {path: record for path, record in self._unwritten.items() if record}
        self._shelf.replace(changed, self._unwritten.keys() - changed.keys(), _today(), self._unwritten_notes)
        self._unwritten, self._unwritten_notes = {}, {}

    def _attempt(self, write: Callable[..., None], *what: object) -> None:
        """What cannot be written now is found again, or written, next time."""
        try:
            write(*what)
        except WriteFailed as error:
            logger.warning("the code graph could not be kept: %s", error)


def _keys(
    before: Mapping[str, FileRecord],
    changed: Mapping[str, PackedFacts | None],
    fresh: Mapping[str, FileRecord],
) -> dict[str, ParseKey]:
    """Of the files of a family, as they are after a change."""
    records = {**before, **fresh}
    return {path: records[path].key for path in before.keys() | changed.keys() if changed.get(path, True)}


@contextlib.contextmanager
def _uncollected() -> Iterator[None]:
    """A million facts come to life here, and stay: to look through them for rubbish again and again costs a fifth of the time."""
    was_on = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was_on:
            gc.enable()


def _today() -> int:
    return int(time.time() // 86_400)


class _Watched:
    """Whom a refresh tells how far it is, and who may stop it."""

    def __init__(self, progress: Progress, stop: Callable[[], bool]) -> None:
        self._progress = progress
        self.stop = stop
        self._done = self._total = 0

    def expect(self, more: int) -> None:
        self._total += more

    def advance(self) -> None:
        self._done += 1
        self._progress(self._done, max(self._total, self._done))

    def check(self) -> None:
        if self.stop():
            raise _Stopped
