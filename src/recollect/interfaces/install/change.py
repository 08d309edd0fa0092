"""Change other programs' files: all of them or none, each atomically, and only if nobody else changed them meanwhile."""

import difflib
import os
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path

from recollect.errors import Refused
from recollect.frozen import frozen

LARGEST = 64 * 1024 * 1024  # bytes; no configuration is larger


@frozen
class FileChange:
    """What a file holds before and after; None = it does not exist."""

    path: Path
    before: bytes | None
    after: bytes | None

    @property
    def diff(self) -> str:
        lines = difflib.unified_diff(
            _lines(self.before),
            _lines(self.after),
            "/dev/null" if self.before is None else str(self.path),
            "/dev/null" if self.after is None else str(self.path),
            lineterm="",
            n=2,
        )
        return "\n".join(lines)

    def counts(self) -> tuple[int, int]:
        """Return how many lines are added and how many removed."""
        body = self.diff.split("\n")[2:]  # without the two names
        return sum(line.startswith("+") for line in body), sum(line.startswith("-") for line in body)


def read(path: Path, within: Path | None = None) -> bytes | None:
    """Return what is in `path`, through links; None if there is no file. Raise `Refused` for one not safe to touch.

    Links must not lead out of the folder `within`: not everything in a project was put there by its user.
    """
    try:
        target = path.resolve()
        if within is not None and not target.is_relative_to(within.resolve()):
            raise Refused(
                f"{path} is a link out of the project, to {target}.", "Replace the link with a file."
            )
        if not target.exists():
            if path.is_symlink() and not target.parent.is_dir():
                raise Refused(
                    f"{path} is a link to {target}, which does not exist.", "Fix or remove the link."
                )
            return None
        if not target.is_file():
            raise Refused(f"{path} is not a file.", "Move it away, then try again.")
        if target.stat().st_size > LARGEST:
            raise Refused(f"{path} is too large for a configuration file.", "Check its content.")
        return target.read_bytes()
    except (OSError, RuntimeError) as error:  # RuntimeError: a cycle of links
        reason = (error.strerror if isinstance(error, OSError) else None) or str(error)
        raise Refused(f"{path} cannot be read: {reason}.", "Check its permissions.") from error


def text_of(path: Path, data: bytes) -> str:
    """Return the data as text, with its line ends and byte order mark. Raise `Refused` if it is not UTF-8."""
    try:
        return data.decode("utf-8")
    except UnicodeDecodeError as error:
        line = data.count(b"\n", 0, error.start) + 1
        raise Refused(
            f"{path}, line {line}: not valid UTF-8.", "Save it as UTF-8, then try again."
        ) from error


def apply(changes: Sequence[FileChange]) -> list[Path]:
    """Make all of the changes or none, and return the folders that were created. Raise `Refused` if one fails."""
    for change in changes:
        _check_writable(change)
    made: list[Path] = []
    fresh: list[tuple[FileChange, Path, Path | None]] = []
    done: list[FileChange] = []
    try:
        for change in changes:
            target = change.path.resolve()
            fresh.append((change, target, _stage(change, target, made)))
        for change, target, new in fresh:
            if read(change.path) != change.before:
                raise Refused(f"{change.path} was just changed by another program.", "Try again.")
            if new is None:
                target.unlink()
            else:
                new.replace(target)
            done.append(change)
    except (OSError, Refused, KeyboardInterrupt) as error:
        _discard(fresh)
        _revert(done, made)
        if not isinstance(error, OSError):
            raise
        raise Refused(
            f"{error.filename or 'A file'} cannot be written: {error.strerror}.", "Nothing was changed."
        ) from error
    return made


def remove_empty(folders: Sequence[Path]) -> list[Path]:
    """Remove the folders that are empty, innermost first, and return those that are not."""
    left = []
    for folder in sorted(set(folders), key=lambda path: len(path.parts), reverse=True):
        try:
            folder.rmdir()
        except FileNotFoundError:
            continue
        except OSError:
            left.append(folder)
    return left


def replace_file(path: Path, data: bytes, mode: int | None = None) -> None:
    """Replace the file atomically, keeping its mode; a new one gets `mode`."""
    new = _write_beside(path, data, mode)
    try:
        new.replace(path)
    except OSError:
        new.unlink()
        raise


def _check_writable(change: FileChange) -> None:
    target = change.path.resolve()
    if target.exists() and not (target.stat().st_mode & 0o200 and os.access(target, os.W_OK)):
        raise Refused(
            f"{change.path} is read-only.", f"Nothing was changed. Run `chmod u+w {target}`, then try again."
        )
    folder = next(parent for parent in target.parents if parent.exists())
    if not folder.is_dir() or not os.access(folder, os.W_OK):
        raise Refused(f"{folder} is not writable.", "Check its permissions; nothing was changed.")


def _stage(change: FileChange, target: Path, made: list[Path]) -> Path | None:
    if change.after is None:
        return None
    missing = [folder for folder in target.parents if not folder.exists()]
    for folder in reversed(missing):
        folder.mkdir()
        made.append(folder)
    return _write_beside(target, change.after, None)


def _write_beside(target: Path, data: bytes, mode: int | None) -> Path:
    """Write a new file beside `target` with its mode and owner, synced to disk."""
    new = target.with_name(f".{target.name}.{os.getpid()}.new")
    with _remove_on_error(new):
        descriptor = os.open(new, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o666 if mode is None else mode)
        with os.fdopen(descriptor, "wb") as file:
            file.write(data)
            file.flush()
            os.fsync(file.fileno())
        with suppress(FileNotFoundError):
            old = target.stat()
            new.chmod(old.st_mode & 0o7777)
            if hasattr(os, "chown") and os.geteuid() == 0:
                os.chown(new, old.st_uid, old.st_gid)
    return new


@contextmanager
def _remove_on_error(path: Path) -> Iterator[None]:
    try:
        yield
    except OSError:
        with suppress(OSError):
            path.unlink()
        raise


def _discard(fresh: Sequence[tuple[FileChange, Path, Path | None]]) -> None:
    for _, _, new in fresh:
        if new is not None:
            new.unlink(missing_ok=True)


def _revert(done: Sequence[FileChange], made: Sequence[Path]) -> None:
    for change in reversed(done):
        with suppress(OSError):
            if change.before is None:
                change.path.resolve().unlink()
            else:
                replace_file(change.path.resolve(), change.before)
    remove_empty(made)


def _lines(data: bytes | None) -> list[str]:
    return [] if data is None else data.decode("utf-8", "backslashreplace").splitlines()
