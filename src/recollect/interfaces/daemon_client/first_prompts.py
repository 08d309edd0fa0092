"""Which sessions have had their first prompt: a small file for each, because hooks cannot afford to open the store.

The first prompt of a session may wait for a daemon that is starting; later ones may not, whatever the daemon does.
"""

import hashlib
import os
import time
from contextlib import suppress
from pathlib import Path

KEPT_SECONDS = 2 * 86400.0  # a session that goes on after that may wait once more
MOST = 1000  # files


class FirstPrompts:
    """The sessions of one home. Hooks and the daemon use it at the same time."""

    def __init__(self, home: str | Path) -> None:
        self._folder = Path(home) / "run" / "first-prompts"

    def claim(self, session: str, event_id: str) -> bool:
        """Return whether the event is the first prompt of the session; False also if that cannot be noted.

        The hook and the daemon may both ask about one event.
        """
        name = hashlib.sha256(session.encode("utf-8", "surrogatepass")).hexdigest()[:32]
        try:
            self._folder.mkdir(parents=True, exist_ok=True, mode=0o700)
            file = os.open(self._folder / name, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
        except FileExistsError:
            return self._claimed_by(name) == event_id
        except OSError:
            return False
        try:
            os.write(file, event_id.encode("utf-8", "surrogatepass"))
        finally:
            os.close(file)
        return True

    def _claimed_by(self, name: str) -> str:
        try:
            return (self._folder / name).read_text(encoding="utf-8", errors="surrogatepass")
        except OSError:
            return ""

    def clean(self) -> None:
        """Delete the files of old sessions, and of the oldest if there are too many."""
        with suppress(OSError):
            files = [(entry.stat().st_mtime, entry.path) for entry in os.scandir(self._folder)]
            oldest = time.time() - KEPT_SECONDS
            for number, (changed_at, path) in enumerate(sorted(files, reverse=True)):
                if number >= MOST or changed_at < oldest:
                    Path(path).unlink(missing_ok=True)
