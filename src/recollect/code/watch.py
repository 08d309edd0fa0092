"""Notice that files of a project have changed without looking at them: the operating system tells.

Only folders that a listing has are watched, so that a folder of dependencies costs nothing. Where the system refuses, or
there are too many folders, nothing is watched, and the files have to be looked at from time to time.
"""

import logging
import sys
import threading
from collections.abc import Collection, Generator
from pathlib import Path
from typing import TYPE_CHECKING

from recollect.code.ignore import IGNORE_FILES

if TYPE_CHECKING:
    from watchfiles import Change

logger = logging.getLogger(__name__)

MOST_FOLDERS = (
    8_192  # of one project. Linux allows a user 8,192 to a million in all, by the size of the memory
)
_SHARE = 4  # of those: the editors of the user need some, too
_LIMIT = Path("/proc/sys/fs/inotify/max_user_watches")
_MILLISECOND = 1  # the shortest that the library waits

_Changes = Generator["set[tuple[Change, str]]", None, None]


class FolderWatch:
    """Watches the folders of one project. Thread-safe."""

    def __init__(self, root: Path) -> None:
        self._root = root
        self._lock = threading.Lock()
        self._folders: frozenset[str] = frozenset()
        self._files: Collection[str] = ()
        self._changes: _Changes | None = None

    @property
    def is_active(self) -> bool:
        return self._changes is not None

    def follow(self, folders: Collection[str], files: Collection[str]) -> bool:
        """Watch these folders, of which only these `files` matter; all are paths as in a `FileListing`.

        Return whether the watch is new, so that what changed before it has to be looked for.
        """
        with self._lock:
            self._files = files
            if self._changes is not None and self._folders == folders:
                return False
            self._stop()
            self._folders = frozenset(folders)
            if 0 < len(folders) <= _most_folders():
                self._changes = self._started()
            return self._changes is not None

    def has_changes(self) -> bool:
        """Return whether anything that matters may have changed since the last call; False if nothing is watched."""
        with self._lock:
            if self._changes is None:
                return False
            try:
                return any(self._matters(*change) for change in next(self._changes))
            except (OSError, RuntimeError, StopIteration) as error:
                logger.info("the files of %s are not watched any more: %s", self._root, error)
                self._stop()
                return True

    def close(self) -> None:
        with self._lock:
            self._stop()

    def _started(self) -> _Changes | None:
        try:
            from watchfiles import watch  # only a daemon needs it
        except ImportError:  # no wheel for this platform
            return None
        # Linux watches folder by folder. Elsewhere one watch sees everything below a folder.
        by_folder = sys.platform == "linux"
        changes = watch(
            *([self._root / folder for folder in self._folders] if by_folder else [self._root]),
            watch_filter=None,
            debounce=_MILLISECOND,
            step=_MILLISECOND,
            rust_timeout=_MILLISECOND,
            yield_on_timeout=True,
            raise_interrupt=False,
            recursive=not by_folder,
            ignore_permission_denied=True,
        )
        try:
            next(changes)  # from here on it is watched
        except (OSError, RuntimeError, StopIteration) as error:  # a folder is gone, or there are too many
            logger.info("the files of %s cannot be watched: %s", self._root, error)
            return None
        return changes

    def _matters(self, change: "Change", path: str) -> bool:
        """Return whether a change can change the listing, or the contents of a file that matters."""
        try:
            inside = Path(path).relative_to(self._root).as_posix()
        except ValueError:
            return True  # the same folder by another name
        folder, slash, name = inside.rpartition("/")
        if folder + slash not in self._folders and f"{inside}/" not in self._folders and inside != ".":
            return False
        return change.name != "modified" or inside in self._files or name in IGNORE_FILES

    def _stop(self) -> None:
        if self._changes is not None:
            self._changes.close()
            self._changes = None


def _most_folders() -> int:
    try:
        return min(MOST_FOLDERS, int(_LIMIT.read_text()) // _SHARE)
    except (OSError, ValueError):
        return MOST_FOLDERS
