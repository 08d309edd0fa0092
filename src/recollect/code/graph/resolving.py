"""Resolves all files of a family: here, and where there are many beside that in processes of their own."""

import contextlib
import gc
import marshal
import queue
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator, Mapping
from itertools import islice
from pathlib import Path
from typing import Any

from recollect.code.graph import workers
from recollect.code.graph.invalidation import LazyFacts
from recollect.code.languages.resolver import MajorityTypes, resolver_for
from recollect.code.packing import PackedFacts, pack_edges, unpack_facts

MANY = 1000  # files; each process has to learn of all of them before it is of use
MOST_PROCESSES = 4  # 160 MB each

_MOST_CONFIGURATION = 1_000_000  # bytes


def resolve_files(
    family: str,
    files: Mapping[str, PackedFacts],
    root: Path,
    stop: Callable[[], bool] = lambda: False,
    keep: Callable[[bytes, MajorityTypes], None] = lambda digest, votes: None,
) -> Iterator[tuple[str, bytes]]:
    """The edges of each file, packed, in no order; nothing more once `stop` says so. Digest and votes are given to `keep`."""
    own, *others = _shares(files, min(workers.cpu_count(), MOST_PROCESSES) if len(files) >= MANY else 1)
    beside = [_ResolverProcess(root, family, share, files) for share in others]
    try:
        facts = {path: unpack_facts(*says) for path, says in files.items()}
        resolver = resolver_for(family, facts, config_reader(root))
        digest = resolver.digest()
        for each in beside:
            each.digest.put(digest)
        for path in own:
            if stop():
                return
            yield path, pack_edges(resolver.edges(path))
        left: list[str] = []
        for each in beside:
            while not stop() and (one := each.done.get()):
                yield one
            left += each.left
            resolver.majority_types |= each.majority_types
    finally:
        for each in beside:
            each.end()
    if stop():
        return
    for path in left:  # by a process that died, or never came up
        if stop():
            return
        yield path, pack_edges(resolver.edges(path))
    if not stop():
        keep(digest, resolver.majority_types)


def config_reader(root: Path) -> Callable[[str], bytes | None]:
    """Reads the files of a project that decide about imports; None for what is not there."""

    def read(path: str) -> bytes | None:
        file = root / path
        try:
            return file.read_bytes() if file.stat().st_size <= _MOST_CONFIGURATION else None
        except OSError:
            return None

    return read


def _shares(files: Mapping[str, PackedFacts], count: int) -> list[list[str]]:
    """Neighbours together, for they have to do with the same others; each share is about as much to read."""
    paths = sorted(files)
    whole = sum(len(files[path][3]) for path in paths)
    shares: list[list[str]] = [[] for _ in range(count)]
    done = 0
    for path in paths:
        shares[done * count // max(whole, 1)].append(path)
        done += len(files[path][3])
    return shares


class _ResolverProcess:
    """Has a process resolve a share. In `done` come its edges, and None after the last; `votes` are there then."""

    def __init__(self, root: Path, family: str, share: list[str], files: Mapping[str, PackedFacts]) -> None:
        self.left = share  # what has not come yet
        self.majority_types: MajorityTypes = {}
        self.digest: queue.SimpleQueue[bytes] = queue.SimpleQueue()  # what it waits for in the end
        self.done: queue.SimpleQueue[tuple[str, bytes] | None] = queue.SimpleQueue()
        self._process: subprocess.Popen[bytes] | None = None  # where no process can be
        with contextlib.suppress(OSError):
            self._process = workers.start_worker(__name__)
        asked = str(root), family, share, len(files)
        self._listening = threading.Thread(target=self._listen, args=(asked, files), daemon=True)
        self._listening.start()

    def _listen(self, asked: Any, files: Mapping[str, PackedFacts]) -> None:
        count = 0
        try:
            for found in self._found(asked, files):
                if count < len(self.left):
                    self.done.put((self.left[count], found))
                    count += 1
                else:
                    self.majority_types = marshal.loads(found)
        except OSError:
            pass  # it died before it had read all: the rest is resolved here
        finally:
            self.left = self.left[count:]
            self.done.put(None)

    def _found(self, asked: Any, files: Mapping[str, PackedFacts]) -> Iterator[bytes]:
        if self._process is None:
            return
        assert self._process.stdin and self._process.stdout
        with self._process.stdin as pipe:
            workers.send_frame(pipe, marshal.dumps(asked))
            for path, packed in files.items():  # one by one: all at once would take their room again
                workers.send_frame(pipe, marshal.dumps((path, packed)))
            pipe.flush()
            workers.send_frame(pipe, marshal.dumps(self.digest.get()))
        if workers.is_ready(self._process.stdout):
            yield from workers.read_frames(self._process.stdout)

    def end(self) -> None:
        if self._process is not None:
            self._process.kill()
        self.digest.put(b"")  # nobody needs it now
        self._listening.join()
        if self._process is not None:
            with contextlib.suppress(OSError), self._process:
                pass  # closes its pipes, and waits for it


def serve() -> None:
    """What a process does: all files and a share of them come in, and the edges of that share go out."""
    gc.disable()  # there are no cycles in what is read
    workers.send_ready()
    given = map(marshal.loads, workers.read_frames(sys.stdin.buffer))
    root, family, share, count = next(given)
    packed: dict[str, PackedFacts] = dict(islice(given, count))
    files = LazyFacts(packed, lambda path: unpack_facts(*packed.pop(path)))
    for path in share:  # while the digest is made
        files[path]
    resolver = resolver_for(family, files, config_reader(Path(root)), next(given))
    for path in share:
        workers.send_answer(pack_edges(resolver.edges(path)))
    workers.send_answer(marshal.dumps(resolver.majority_types))
    workers.exit_worker()
