"""Resolve all files of a family: in this process, and with many files also in worker processes."""

import contextlib
import gc
import marshal
import queue
import subprocess
import sys
import threading
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path

from recollect.code.facts import FileFacts
from recollect.code.graph import workers
from recollect.code.graph.database import ConcurrentUpdate, GraphDatabase, ParseKey
from recollect.code.graph.invalidation import LazyFacts
from recollect.code.languages.resolver import MajorityTypes, Resolver, resolver_for
from recollect.code.packing import pack_edges, unpack_facts

MANY_FILES = 1000  # files; each process has to learn about all of them first
MOST_PROCESSES = 4  # 160 MB each

_LARGEST_CONFIG = 1_000_000  # bytes

# The root, the family, the share of the process, the keys of all files, and the path and key of the database.
_Request = tuple[str, str, list[str], dict[str, ParseKey], tuple[str, str | None]]


def resolve_files(
    family: str,
    make_resolver: Callable[[], Resolver],
    wanted: Iterable[str],
    files: Callable[[], dict[str, ParseKey]],
    database: GraphDatabase,
    root: Path,
    stop: Callable[[], bool] = lambda: False,
) -> Iterator[tuple[str, bytes]]:
    """Yield the packed edges of each `wanted` file, in any order, until `stop` returns True.

    `make_resolver` returns one that knows all `files()`, and gets to know the majority types that other processes find. The
    facts are in the database, from which each process reads what it needs.
    """
    paths = sorted(wanted)
    shared = database.shared if len(paths) >= MANY_FILES else None
    # What a new resolver has read last is still there when it is resolved.
    *others, own_share = _shares(paths, min(workers.cpu_count(), MOST_PROCESSES) if shared else 1)
    processes = (
        [_ResolverProcess((str(root), family, share, files(), shared)) for share in others] if shared else []
    )
    try:
        resolver = make_resolver()
        digest = resolver.digest() if processes else b""
        for process in processes:
            process.digest.put(digest)
        for path in own_share:
            if stop():
                return
            yield path, pack_edges(resolver.edges(path))
        files_left: list[str] = []
        for process in processes:
            while not stop() and (answer := process.done.get()):
                yield answer
            files_left += process.files_left
            resolver.majority_types |= process.majority_types
    finally:
        for process in processes:
            process.end()
    if stop():
        return
    for path in files_left:  # of a process that crashed or never started
        if stop():
            return
        yield path, pack_edges(resolver.edges(path))


def stored_facts(database: GraphDatabase, key: ParseKey) -> FileFacts:
    """Return the facts of a parsed file. Raise `ConcurrentUpdate` if another process has removed it."""
    facts = database.facts(key)
    if facts is None:
        raise ConcurrentUpdate
    return unpack_facts(*facts)


def config_reader(root: Path) -> Callable[[str], bytes | None]:
    """Return a function that reads the project's files that decide where imports lead, or None for one that does not exist."""

    def read(path: str) -> bytes | None:
        file = root / path
        try:
            return file.read_bytes() if file.stat().st_size <= _LARGEST_CONFIG else None
        except OSError:
            return None

    return read


def _shares(paths: list[str], count: int) -> list[list[str]]:
    """Split sorted files into shares of similar size. Neighbours stay together, because they use the same other files."""
    return [paths[len(paths) * at // count : len(paths) * (at + 1) // count] for at in range(count)]


class _ResolverProcess:
    """Lets a worker process resolve a share. Puts its edges in `done`, then None; after that, `majority_types` are set."""

    def __init__(self, request: _Request) -> None:
        self.files_left = request[2]  # not yet resolved
        self.majority_types: MajorityTypes = {}
        self.digest: queue.SimpleQueue[bytes] = queue.SimpleQueue()  # sent last
        self.done: queue.SimpleQueue[tuple[str, bytes] | None] = queue.SimpleQueue()
        self._process: subprocess.Popen[bytes] | None = None  # None if no process could be started
        with contextlib.suppress(OSError):
            self._process = workers.start_worker(__name__)
        self._listening = threading.Thread(target=self._listen, args=(request,), daemon=True)
        self._listening.start()

    def _listen(self, request: _Request) -> None:
        count = 0
        try:
            for frame in self._frames(request):
                if count < len(self.files_left):
                    self.done.put((self.files_left[count], frame))
                    count += 1
                else:
                    self.majority_types = marshal.loads(frame)
        except OSError:
            pass  # it crashed before it had received everything: the rest is resolved in this process
        finally:
            self.files_left = self.files_left[count:]
            self.done.put(None)

    def _frames(self, request: _Request) -> Iterator[bytes]:
        if self._process is None:
            return
        assert self._process.stdin and self._process.stdout
        with self._process.stdin as pipe:
            workers.send_frame(pipe, marshal.dumps(request))
            pipe.flush()
            workers.send_frame(pipe, marshal.dumps(self.digest.get()))
        if workers.is_ready(self._process.stdout):
            yield from workers.read_frames(self._process.stdout)

    def end(self) -> None:
        if self._process is not None:
            self._process.kill()
        self.digest.put(b"")  # not needed any more
        self._listening.join()
        if self._process is not None:
            with contextlib.suppress(OSError), self._process:
                pass  # closes its pipes, and waits for it


def serve() -> None:
    """Run as a worker process: receive the keys of all files and a share of them, and send the edges of that share."""
    gc.disable()  # the facts have no cycles
    workers.send_ready()
    frames = map(marshal.loads, workers.read_frames(sys.stdin.buffer))
    root, family, share, keys, (path, key) = next(frames)
    database = GraphDatabase(Path(path), key)
    files = LazyFacts(keys, lambda path: stored_facts(database, keys[path]))
    resolver = resolver_for(family, files, config_reader(Path(root)), next(frames))
    for path in share:
        workers.send_answer(pack_edges(resolver.edges(path)))
    workers.send_answer(marshal.dumps(resolver.majority_types))
    workers.exit_worker()
