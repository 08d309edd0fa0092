"""When to look at a project's files again, for a program that runs all day."""

from pathlib import Path

SOONEST = 2.0  # seconds after something changed
LATEST = 60.0  # seconds if nothing has changed for a while
WATCHED = 900.0  # seconds if the system tells of changes: it loses some when there are very many, or on network drives


class RefreshSchedule:
    """Due at once after a commit or a change of branch, else the more rarely the longer nothing changes."""

    def __init__(self, root: Path) -> None:
        self._git = _git_folder(root)
        self._moved = self._moves()
        self._pause = SOONEST
        self._next = float("-inf")

    def is_due(self, now: float) -> bool:
        return now >= self._next or self._moves() != self._moved

    def record_refresh(self, now: float, *, changed: bool, watched: bool = False) -> None:
        self._moved = self._moves()
        self._pause = SOONEST if changed else min(self._pause * 2, LATEST)
        self._next = now + (WATCHED if watched else self._pause)

    def _moves(self) -> list[int]:
        return [_when(self._git / name) for name in ("HEAD", "index", "info/exclude")]


def _git_folder(root: Path) -> Path:
    """Return the git folder; a worktree has a file with its path instead."""
    git = root / ".git"
    try:
        text = git.read_text(encoding="utf-8") if git.is_file() else ""
    except (OSError, UnicodeDecodeError):
        return git
    return root / text.removeprefix("gitdir:").strip() if text.startswith("gitdir:") else git


def _when(file: Path) -> int:
    try:
        return file.stat().st_mtime_ns
    except OSError:
        return 0
