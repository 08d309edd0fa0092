"""Update the graph: list the files, parse those that changed, and find out whose edges are affected.

These are resolved when someone asks for them, and stored then.
"""

import contextlib
import logging
import os
import threading
import time
import zlib
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Mapping
from dataclasses import field, replace
from functools import partial
from pathlib import Path

from recollect.code.facts import FileFacts
from recollect.code.files import UNREADABLE, FileListing, Folder, list_files, settled_mtime
from recollect.code.git_history import History, history_version
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
from recollect.code.graph.parsing import CRASHING, FileToParse, blob_hash, parse_files
from recollect.code.graph.resolving import MANY_FILES, config_reader, resolve_files, stored_facts
from recollect.code.languages.resolver import MajorityTypes, Resolver, resolver_for
from recollect.code.languages.table import CONFIG_FILES, FAMILY_OF, language_of
from recollect.code.packing import ParsedFile, ShownParse, pack, unpack
from recollect.code.terms import word_hash
from recollect.code.uncollected import uncollected
from recollect.frozen import frozen

logger = logging.getLogger(__name__)

GIANT = "over 1 MB"
NOT_CODE = "not code"
MOST_BYTES = 1_000_000  # a longer source file is data
_ATTEMPTS = 5  # when other processes write at the same time
_WRITTEN_AT_ONCE = 500  # parsed files written in one transaction
_FEW_FILES = 20
_MANY_CHANGED = 0.1  # of the files changed: resolving all is faster than finding the affected ones
_MANY_AFFECTED = 0.3  # of the files are affected: resolving all, in several processes, is as fast
_HEAD = 128
_HISTORY = "history"
_LISTING = "listing"
_DIGEST = "digest"
_MAJORITY_TYPES = "majority types"
_STALE = "stale"  # the files that changed since the digest was made
_MOST_STALE = 300  # with more, the digest is made again
_NO_FILES, _NO_TYPES = pack(set()), pack({})
_NO_LANGUAGE = "none"  # of a configuration file without a grammar: only that it changed is recorded

Progress = Callable[[int, int], None]


@frozen
class Refreshed:
    """The result of a refresh."""

    files: int  # in the graph
    parsed: int = 0
    affected: int = 0  # files whose edges may be different, and are resolved when they are needed
    left_out: Mapping[str, int] = field(default_factory=dict)  # by reason
    seconds: float = 0.0
    complete: bool = True  # False if it was stopped: the graph is as before


class _Stopped(Exception):
    pass


class Builder:
    """Builds the graph of one project and keeps it up to date. Thread-safe, because its graphs resolve edges in any thread."""

    def __init__(self, root: Path, database_path: Path, key: str | None) -> None:
        self._root = root
        self._lock = threading.RLock()
        self._damage = ""  # what could not be read when edges were resolved
        self._database = GraphDatabase(database_path, key)
        self._walk = FileListing()
        self._history: History | None = None
        self._languages: dict[str, str] = {}  # of the listed files that are code
        self._load()

    def close(self) -> None:
        with self._lock:
            self._database.close()

    def refresh(self, progress: Progress | None = None, stop: Callable[[], bool] | None = None) -> Refreshed:
        """Update the graph. It costs what changed since the last refresh, in whichever process. Stopping keeps what was parsed."""
        began = time.perf_counter()
        for _ in range(_ATTEMPTS):
            try:
                with self._lock, uncollected():
                    done = self._refresh(_RefreshControl(progress, stop))
                return replace(done, seconds=time.perf_counter() - began)
            except _Stopped:
                break
            except ConcurrentUpdate:
                with self._lock:
                    self._load()
            except (DamagedDatabase, zlib.error) as error:
                logger.warning("the code graph cannot be read and is rebuilt: %s", error)
                with self._lock:
                    self._database.start_again()
                    self._load()
        return Refreshed(len(self.graph.paths), seconds=time.perf_counter() - began, complete=False)

    @property
    def folders(self) -> Collection[str]:
        """The folders that were listed last: "" is the root, and all others end in a slash."""
        return self._walk.folders.keys()

    @property
    def code_files(self) -> Collection[str]:
        """The files that the graph is made from."""
        return self._languages.keys()

    def known_history(self) -> History | None:
        """Return the history as it was last read; None if it has not been read."""
        with self._lock:
            if self._history is None:
                with contextlib.suppress(DamagedDatabase, zlib.error):
                    note = self._database.lasting_note(_HISTORY, history_version())
                    self._history = History.unpacked(note) if note else None
            return self._history

    def keep_history(self, history: History | None) -> None:
        with self._lock:
            if history is not None and history is not self._history:
                self._attempt(self._database.put_lasting_note, _HISTORY, history_version(), history.packed())
            self._history = history

    def _load(self) -> None:
        """Load the graph from the database without looking at the files."""
        try:
            records, parses = self._database.load()
        except DamagedDatabase:
            self._database.start_again()
            records, parses = {}, {}
        self._records: dict[str, FileRecord] = {}
        self._unwritten: dict[str, FileRecord | None] = {}  # not yet in the database; None = the file is gone
        self._unwritten_notes: dict[str, bytes] = {}
        self._known: dict[str, FamilyFiles] = {}
        self._kept_facts: dict[ParseKey, FileFacts] = {}  # during a refresh: of files that are parsed anew
        self._stale: dict[str, set[str]] = {}  # by family with a digest: the files that changed since
        nodes = {}
        for path, record in records.items():
            if record.left_out is None:
                parse = parses.get(record.key)
                if parse is None:
                    continue  # it is parsed again
                nodes[path] = FileNode(path, record.language, record.blob, *parse, record.edges)
            self._records[path] = record
        self.graph = CodeGraph(nodes, self)

    def _refresh(self, control: "_RefreshControl") -> Refreshed:
        if self._damage:
            damage, self._damage = self._damage, ""
            raise DamagedDatabase(damage)
        if self._database.newest() != self._database.generation:
            self._load()
        left_out: Counter[str] = Counter()
        existing, differing = self._find_changed(left_out)
        fresh, retimed = self._hash(differing, existing, left_out, control)
        parsed = self._parse(fresh, existing, left_out, control)
        gone = self._records.keys() - existing
        if retimed:
            self._attempt(self._database.touch, retimed)
            self._records |= retimed
        affected: set[str] = set()
        if fresh or gone:
            try:
                affected, notes = self._invalidate(fresh, gone)
                self._write_graph(fresh, gone, affected, notes)
            except BaseException:
                self._known.clear()  # it may know files that are not in the graph yet
                raise
        self._kept_facts.clear()
        left_out.update(record.left_out for record in self._records.values() if record.left_out)
        return Refreshed(len(self.graph.paths), parsed, len(affected), dict(+left_out))

    # Finding what changed

    def _find_changed(self, left_out: Counter[str]) -> tuple[set[str], dict[str, tuple[int, int]]]:
        """Return the files that exist, and size and time of those that differ from their records."""
        last = self._walk if self._walk.folders else self._known_listing()
        walk = list_files(self._root, last)
        if walk is not last:
            listing = (str(self._root), [(path, tuple(folder)) for path, folder in walk.folders.items()])
            self._attempt(self._database.put_note, _LISTING, pack(listing))
        if walk is not self._walk:
            self._walk = walk
            named = ((path, self._language(path)) for path in walk.files)
            self._languages = {path: language for path, language in named if language}
        left_out.update(self._walk.left_out)
        left_out[NOT_CODE] += len(self._walk.files) - len(self._languages)
        differing: dict[str, tuple[int, int]] = {}
        existing = set(self._languages)
        base, known_record, lstat = f"{self._root}/", self._records.get, os.lstat
        for path, language in self._languages.items():
            try:
                stat = lstat(base + path)
            except OSError as error:
                left_out[UNREADABLE] += not isinstance(error, FileNotFoundError)
                existing.discard(path)
                continue
            size, mtime_ns = stat.st_size, stat.st_mtime_ns
            if size > MOST_BYTES:
                left_out[GIANT] += 1
                existing.discard(path)
                continue
            known = known_record(path)
            if known is None or known[3] != mtime_ns or known[2] != size or known[1] != language:
                differing[path] = size, mtime_ns
        return existing, differing

    def _known_listing(self) -> FileListing:
        """Return the listing that an earlier process stored; an empty one if there is none."""
        note = self._database.note(_LISTING)
        root, folders = unpack(note) if note else ("", [])
        if root != str(self._root):
            return FileListing()
        return FileListing.of({path: Folder(*folder) for path, folder in folders})

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
        existing: set[str],
        left_out: Counter[str],
        control: "_RefreshControl",
    ) -> tuple[dict[str, FileRecord], dict[str, FileRecord]]:
        """Return records of the files with new contents, and of those where only the time is new.

        Files that cannot equal any other have no blob yet: it is found when they are parsed.
        """
        fresh: dict[str, FileRecord] = {}
        retimed: dict[str, FileRecord] = {}
        first = not self._records and not self._database.has_parses()
        sizes = Counter(size for size, _ in differing.values())
        for path, (size, mtime_ns) in differing.items():
            control.check()
            looked = time.time_ns()
            if first and sizes[size] == 1 and self._languages[path] != _NO_LANGUAGE:
                fresh[path] = FileRecord(b"", self._languages[path], size, settled_mtime(mtime_ns, looked))
                continue
            try:
                blob = blob_hash((self._root / path).read_bytes())
            except OSError as error:
                left_out[UNREADABLE] += not isinstance(error, FileNotFoundError)
                existing.discard(path)
                continue
            record = FileRecord(blob, self._languages[path], size, settled_mtime(mtime_ns, looked))
            known = self._records.get(path)
            if known is not None and known.key == record.key:
                retimed[path] = known._replace(size=record.size, mtime_ns=record.mtime_ns)
            else:
                fresh[path] = record
        return fresh, retimed

    # Parsing

    def _parse(
        self,
        fresh: dict[str, FileRecord],
        existing: set[str],
        left_out: Counter[str],
        control: "_RefreshControl",
    ) -> int:
        """Return how many of `fresh` had to be parsed. What is known of them is in the database then, and not here: of many
        files it takes as much memory as a process that resolves them.

        Removes those that cannot be read from `fresh`.
        """
        stored = {key for key, _ in self._database.shown({record.key for record in fresh.values()})}
        alike: dict[ParseKey | str, list[str]] = {}
        for path, record in fresh.items():
            if record.language == _NO_LANGUAGE:
                fresh[path] = record._replace(left_out=NOT_CODE)
            elif record.key not in stored:
                alike.setdefault(record.key if record.blob else path, []).append(path)
        alike_files = {paths[0]: paths for paths in alike.values()}
        wanted = [FileToParse(path, fresh[path].language, fresh[path].size) for path in alike_files]
        control.expect(len(wanted))
        unwritten: dict[ParseKey, ParsedFile] = {}
        for file, result in parse_files(self._root, wanted, control.stop, self._facts_before):
            control.advance()
            is_crash = result.left_out in CRASHING
            blob = fresh[file.path].blob or (self._blob(file.path) if is_crash else result.blob)
            if not blob or (result.blob != blob and not is_crash):
                # It changed or vanished between two looks: the next refresh will see it.
                for path in alike_files[file.path]:
                    del fresh[path]
                    if result.left_out:
                        left_out[result.left_out] += 1
                        existing.discard(path)
                continue
            for path in alike_files[file.path]:
                fresh[path] = fresh[path]._replace(blob=blob, left_out=result.left_out)
            if result.parse:
                unwritten[blob, file.language] = result.parse
            if len(unwritten) == _WRITTEN_AT_ONCE:
                self._attempt(self._database.keep, unwritten, _today())
                unwritten = {}
        self._attempt(self._database.keep, unwritten, _today())
        control.check()
        return len(wanted)

    def _facts_before(self, path: str) -> FileFacts | None:
        """Return the facts of the recorded version of a file. They are kept until it is known whom its change affects."""
        if path not in self._records or self._records[path].left_out is not None:
            return None
        key = self._records[path].key
        self._kept_facts[key] = facts = stored_facts(self._database, key)
        return facts

    def _blob(self, path: str) -> bytes:
        try:
            return blob_hash((self._root / path).read_bytes())
        except OSError:
            return b""

    # Finding the edges that are affected

    def _invalidate(
        self, fresh: Mapping[str, FileRecord], gone: Iterable[str]
    ) -> tuple[set[str], dict[str, bytes]]:
        """Return the files whose edges may be different now, and the notes to store with that."""
        new: dict[str, dict[str, ParseKey | None]] = {}
        for path in [*gone, *fresh]:
            for record, is_new in ((self._records.get(path), False), (fresh.get(path), True)):
                family = FAMILY_OF.get(record.language) if record and record.left_out is None else None
                if record and family:
                    new.setdefault(family, {})[path] = record.key if is_new else None
        if any(path.rsplit("/", 1)[-1] in CONFIG_FILES for path in [*gone, *fresh]):
            self._known.clear()
            for family in set(map(FAMILY_OF.get, self._languages.values())):
                if family:
                    new.setdefault(family, {})
        affected: set[str] = set()
        notes: dict[str, bytes] = {}
        for family, changed in new.items():
            affected |= self._invalidate_family(family, changed, notes)
        return affected, notes

    def _invalidate_family(
        self, family: str, changed: Mapping[str, ParseKey | None], notes: dict[str, bytes]
    ) -> set[str]:
        """Return the files of the family whose edges may be different now. Adds what a later resolver needs to `notes`."""
        before = self._recorded(family)
        affected = self._affected(family, changed, before, notes)
        if affected is None:
            self._known.pop(family, None)
            self._stale.pop(family, None)
            notes[f"{_DIGEST} {family}"] = b""
            notes[f"{_MAJORITY_TYPES} {family}"] = _NO_TYPES
            return {path for path in before.keys() | changed if path not in changed or changed[path]}
        resolver = self._known[family].resolver
        notes[f"{_MAJORITY_TYPES} {family}"] = pack(resolver.majority_types)
        if (stale := self._stale.get(family)) is not None:
            stale |= changed.keys()
            if len(stale) > _MOST_STALE:
                self._keep_digest(family, resolver.digest(), notes)
            else:
                notes[f"{_STALE} {family}"] = pack(stale)
        return affected

    def _recorded(self, family: str) -> dict[str, FileRecord]:
        """Return the files of the family that are in the graph."""
        return {
            path: record
            for path, record in self._records.items()
            if record.left_out is None and FAMILY_OF.get(record.language) == family
        }

    def _keep_digest(self, family: str, digest: bytes, notes: dict[str, bytes]) -> None:
        """Store a digest of all files as they are in the graph from now on."""
        if digest:
            self._stale[family] = set()
            notes[f"{_DIGEST} {family}"] = digest
            notes[f"{_STALE} {family}"] = _NO_FILES

    def _affected(
        self,
        family: str,
        changed: Mapping[str, ParseKey | None],
        before: Mapping[str, FileRecord],
        notes: dict[str, bytes],
    ) -> set[str] | None:
        """Return the affected files; None if there are so many that all may as well be resolved, or none is resolved yet."""
        if not changed or len(changed) > max(_FEW_FILES, _MANY_CHANGED * len(before)):
            return None
        if all(record.edges is None for record in before.values()):
            return None
        known = self._known_family(family, notes)
        affected: set[str] = set()
        for path, key in changed.items():
            affected |= known.update(path, stored_facts(self._database, key) if key else None)
            if len(affected) > max(_FEW_FILES, _MANY_AFFECTED * len(before)):
                return None
        return affected - {path for path, key in changed.items() if key is None}

    def _known_family(self, name: str, notes: dict[str, bytes]) -> FamilyFiles:
        """Return the family with the files as they were recorded. Adds its digest to `notes` if it is new."""
        if name not in self._known:
            self._known[name] = self._read_family(name, self._recorded(name), notes)
        return self._known[name]

    def _read_family(
        self, name: str, records: Mapping[str, FileRecord], notes: dict[str, bytes]
    ) -> FamilyFiles:
        files = LazyFacts(records, self._recorded_facts)
        stale: set[str] = unpack(self._note(_STALE, name) or _NO_FILES)
        digest = self._note(_DIGEST, name)
        majority_types: MajorityTypes = unpack(self._note(_MAJORITY_TYPES, name) or _NO_TYPES)
        if self._database.newest() != self._database.generation:
            raise ConcurrentUpdate  # the notes may be about other files
        resolver = resolver_for(name, files, config_reader(self._root), digest, stale)
        resolver.majority_types = {
            receiver: one for receiver, one in majority_types.items() if not one or one[0] in records
        }
        if digest:
            self._stale[name] = stale
        else:
            self._keep_digest(name, resolver.digest(), notes)
        return FamilyFiles(resolver, files, self._find_words)

    def _recorded_facts(self, path: str) -> FileFacts:
        """Return the facts of a file as it was recorded."""
        key = self._records[path].key
        return self._kept_facts.get(key) or stored_facts(self._database, key)

    def _find_words(self, words: Collection[str]) -> set[str]:
        """Return the recorded files whose texts have one of these words."""
        result = self._database.mentioning([word_hash(word) for word in words])
        return {path for path, record in self._records.items() if record.key in result} if result else set()

    def _note(self, what: str, family: str) -> bytes:
        """Return a note of an earlier resolver; empty if there is none."""
        name = f"{what} {family}"
        return self._unwritten_notes.get(name) or self._database.note(name) or b""

    def _write_graph(
        self,
        fresh: Mapping[str, FileRecord],
        gone: Iterable[str],
        affected: Iterable[str],
        notes: Mapping[str, bytes],
    ) -> None:
        """Write to the database, and replace the graph by a new one: the old one stays as it is."""
        nodes = {path: node for path, node in self.graph.nodes.items() if path not in gone}
        parses = self._shown(fresh.values())
        has_edges = FAMILY_OF.keys()
        changed = {
            path: record if record.language in has_edges else record._replace(edges=b"")
            for path, record in fresh.items()
        }
        for path, record in changed.items():
            if record.left_out is not None:
                nodes.pop(path, None)
            else:
                nodes[path] = FileNode(path, record.language, record.blob, *parses[record.key], record.edges)
        for path in affected:
            if nodes[path].packed_edges is not None:
                nodes[path] = replace(nodes[path], packed_edges=None)
                changed[path] = self._records[path]._replace(edges=None)
        self._unwritten |= dict.fromkeys(gone) | changed
        self._unwritten_notes |= notes
        self._attempt(self._write)
        for path in gone:
            del self._records[path]
        self._records |= changed
        came = nodes.keys() - self.graph.nodes.keys()
        self.graph = CodeGraph(dict(sorted(nodes.items())) if came else nodes, self)

    def _shown(self, records: Iterable[FileRecord]) -> dict[ParseKey, ShownParse]:
        """Return what the graph has of these files. Raise `ConcurrentUpdate` if another process has removed some of it."""
        keys = {record.key for record in records if record.left_out is None}
        shown = dict(self._database.shown(keys))
        if len(shown) < len(keys):
            raise ConcurrentUpdate
        return shown

    def _write(self) -> None:
        changed = {path: record for path, record in self._unwritten.items() if record}
        self._database.replace(
            changed, self._unwritten.keys() - changed.keys(), _today(), self._unwritten_notes
        )
        self._unwritten, self._unwritten_notes = {}, {}

    # Resolving

    def resolve(
        self,
        graph: CodeGraph,
        paths: Collection[str],
        progress: Progress | None,
        stop: Callable[[], bool] | None,
    ) -> bool:
        """Resolve edges, and store them if the graph is the newest one; see `EdgeSource`."""
        control = _RefreshControl(progress, stop)
        with self._lock, uncollected():
            try:
                self._resolve(graph, graph.pending(paths), control)
            except _Stopped:
                return False
            except (ConcurrentUpdate, DamagedDatabase, WriteFailed, zlib.error) as error:
                pending = graph.pending(paths)
                logger.warning("the edges of %d files cannot be resolved now: %s", len(pending), error)
                if isinstance(error, DamagedDatabase | zlib.error):
                    self._damage = str(error)  # the next refresh builds the graph anew
                graph.add_edges(dict.fromkeys(pending, b""))
            return True

    def _resolve(self, graph: CodeGraph, paths: Collection[str], control: "_RefreshControl") -> None:
        control.expect(len(paths))
        is_newest = graph is self.graph and self._database.newest() == self._database.generation
        edges: dict[str, bytes] = {}
        notes: dict[str, bytes] = {}
        for family in {FAMILY_OF[graph.language(path)] for path in paths}:
            wanted = [path for path in paths if FAMILY_OF[graph.language(path)] == family]
            files = partial(_keys_of, graph, family)
            # Of an older graph, nothing is known but its files.
            make = (
                partial(self._known_resolver, family, notes)
                if is_newest
                else partial(self._resolver_of, family, files())
            )
            for path, packed in resolve_files(
                family, make, wanted, files, self._database, self._root, control.stop
            ):
                edges[path] = packed
                control.advance()
            control.check()
            if is_newest:
                types = self._known[family].resolver.majority_types
                notes[f"{_MAJORITY_TYPES} {family}"] = pack(types)
                if len(wanted) >= MANY_FILES:
                    del self._known[family]  # the facts that it keeps take much memory
        graph.add_edges(edges)
        if is_newest:
            self._records |= {
                path: self._records[path]._replace(edges=packed) for path, packed in edges.items()
            }
            self._store_edges(edges, notes)

    def _known_resolver(self, family: str, notes: dict[str, bytes]) -> Resolver:
        return self._known_family(family, notes).resolver

    def _resolver_of(self, family: str, files: Mapping[str, ParseKey]) -> Resolver:
        facts = LazyFacts(files, lambda path: stored_facts(self._database, files[path]))
        return resolver_for(family, facts, config_reader(self._root))

    def _store_edges(self, edges: Mapping[str, bytes], notes: Mapping[str, bytes]) -> None:
        """Store edges, unless what they follow from is not stored, or another process has written: it resolves them again."""
        with contextlib.suppress(ConcurrentUpdate):
            if self._unwritten:
                self._attempt(self._write)
            if not self._unwritten:
                self._attempt(self._database.put_edges, edges, notes)

    def _attempt(self, write: Callable[..., None], *what: object) -> None:
        """Write, or log why not: the next refresh finds or writes it again."""
        try:
            write(*what)
        except WriteFailed as error:
            logger.warning("the code graph could not be saved: %s", error)


def _keys_of(graph: CodeGraph, family: str) -> dict[str, ParseKey]:
    """Return the parsed files of a family that are in the graph."""
    return {
        path: (node.blob, node.language)
        for path, node in graph.nodes.items()
        if FAMILY_OF.get(node.language) == family
    }


def _today() -> int:
    return int(time.time() // 86_400)


class _RefreshControl:
    """The progress of a refresh, and the way to stop it."""

    def __init__(self, progress: Progress | None, stop: Callable[[], bool] | None) -> None:
        self._progress = progress or _no_progress
        self.stop = stop or _never
        self._done = self._total = 0

    def expect(self, more: int) -> None:
        self._total += more

    def advance(self) -> None:
        self._done += 1
        self._progress(self._done, max(self._total, self._done))

    def check(self) -> None:
        if self.stop():
            raise _Stopped


def _no_progress(done: int, total: int) -> None:
    pass


def _never() -> bool:
    return False
