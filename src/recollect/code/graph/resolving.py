"""Resolve all files of a family: in this process, and with many files also in worker processes."""

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

MANY_FILES = 1000  # files; each process has to learn about all of them first
MOST_PROCESSES = 4  # 160 MB each

_LARGEST_CONFIG = 1_000_000  # bytes


def resolve_files(
    family: str,
    files: Mapping[str, PackedFacts],
    root: Path,
    stop: Callable[[], bool] = lambda: False,
    keep: Callable[[bytes, MajorityTypes], None] = lambda digest, votes: None,
) -> Iterator[tuple[str, bytes]]:
    """Yield the packed edges of each file, in any order, until `stop` returns True. Gives `keep` the digest and the majority types."""
    own_share, *others = _shares(
        files, min(workers.cpu_count(), MOST_PROCESSES) if len(files) >= MANY_FILES else 1
    )
    processes = [_ResolverProcess(root, family, share, files) for share in others]
    try:
        facts = {path: unpack_facts(*says) for path, says in files.items()}
        resolver = resolver_for(family, facts, config_reader(root))
        digest = resolver.digest()
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
    if not stop():
        keep(digest, resolver.majority_types)


def config_reader(root: Path) -> Callable[[str], bytes | None]:
    """Return a function that reads the project's files that decide where imports lead, or None for one that does not exist."""

    def read(path: str) -> bytes | None:
        file = root / path
        try:
            return file.read_bytes() if file.stat().st_size <= _LARGEST_CONFIG else None
        except OSError:
            return None

    return read


def _shares(files: Mapping[str, PackedFacts], count: int) -> list[list[str]]:
    """Split the files into shares of similar size. Neighbours stay together, because they use the same other files."""
    paths = sorted(files)
    whole = sum(len(files[path][3]) for path in paths)
    shares: list[list[str]] = [[] for _ in range(count)]
    done = 0
    for path in paths:
        shares[done * count // max(whole, 1)].append(path)
        done += len(files[path][3])
    return shares


class _ResolverProcess:
    """Lets a worker process resolve a share. Puts its edges in `done`, then None; after that, `majority_types` are set."""

    def __init__(self, root: Path, family: str, share: list[str], files: Mapping[str, PackedFacts]) -> None:
        self.files_left = share  # not yet resolved
        self.majority_types: MajorityTypes = {}
        self.digest: queue.SimpleQueue[bytes] = queue.SimpleQueue()  # sent last
        self.done: queue.SimpleQueue[tuple[str, bytes] | None] = queue.SimpleQueue()
        self._process: subprocess.Popen[bytes] | None = None  # None if no process could be started
        with contextlib.suppress(OSError):
            self._process = workers.start_worker(__name__)
        request = str(root), family, share, len(files)
        self._listening = threading.Thread(target=self._listen, args=(request, files), daemon=True)
        self._listening.start()

    def _listen(self, request: Any, files: Mapping[str, PackedFacts]) -> None:
        count = 0
        try:
            for frame in self._frames(request, files):
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

    def _frames(self, request: Any, files: Mapping[str, PackedFacts]) -> Iterator[bytes]:
        if self._process is None:
            return
        assert self._process.stdin and self._process.stdout
        with self._process.stdin as pipe:
            workers.send_frame(pipe, marshal.dumps(request))
            for path, packed in files.items():  # one by one: all at once would need their memory again
                workers.send_frame(pipe, marshal.dumps((path, packed)))
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
    """Run as a worker process: receive all files and a share of them, and send the edges of that share."""
    gc.disable()  # the facts have no cycles
    workers.send_ready()
    frames = map(marshal.loads, workers.read_frames(sys.stdin.buffer))
    root, family, share, count = next(frames)
    packed: dict[str, PackedFacts] = dict(islice(frames, count))
    files = LazyFacts(packed, lambda path: unpack_facts(*packed.pop(path)))
    for path in share:  # while the digest is made
        files[path]
    resolver = resolver_for(family, files, config_reader(Path(root)), next(frames))
    for path in share:
        workers.send_answer(pack_edges(resolver.edges(path)))
    workers.send_answer(marshal.dumps(resolver.majority_types))
    workers.exit_worker()
