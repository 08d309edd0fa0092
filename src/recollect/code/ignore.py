"""Which files a project keeps out of version control or marks as secret, by git's rules."""

import re
import stat
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

IGNORE_FILES = (".gitignore", ".secretsignore")  # in each folder; the later one decides
EXCLUDE = ".git/info/exclude"  # of this clone only; every other ignore file overrides it
LARGEST = 512 * 1024  # characters of an ignore file that count; the largest we have seen has 40,000
_MEMORY = 64 * 1024 * 1024  # bytes for one expression; re2 refuses a larger one


class Rules:
    """The patterns of one ignore file. Neighbouring lines with the same effect become one expression, for speed.

    A repository writes its patterns, so they are matched by re2, whose time grows with the length of pattern and path only:
    `*a*a*a*b` cannot make it try every way to match.
    """

    def __init__(self, folder: str, name: str, lines: Iterable[str]) -> None:
        """`folder` is "" for the root, and ends in a slash for any other."""
        from pathspec import GitIgnoreSpec

        self.file = folder + name
        self._depth = len(folder)
        parts: list[tuple[bool, list[str], list[str]]] = []
        for line in lines:
            try:
                patterns = GitIgnoreSpec.from_lines([line]).patterns
            except ValueError:  # `!` alone: to git, such a line matches nothing
                continue
            for pattern in patterns:
                include, regex = pattern.include, getattr(pattern, "regex", None)
                if include is None or regex is None:
                    continue
                if not parts or parts[-1][0] != include:
                    parts.append((include, [], []))
                # The library also matches what is inside a folder. We have checked the folder before.
                text = re.sub(r"\(\?P<\w+>/\)", "/$", regex.pattern)
                text += "." if text.endswith("/") else ""
                # A line without a slash matches names, which are shorter than paths.
                if text.startswith(_ANYWHERE) and "/" not in line.strip().rstrip("/"):
                    parts[-1][1].append("^" + text[len(_ANYWHERE) :])
                else:
                    parts[-1][2].append(text)
        self._parts = [(include, _either(names), _either(paths)) for include, names, paths in reversed(parts)]

    def verdict(self, path: str, name: str) -> bool | None:
        """Return whether to ignore it; None if no line matches. A folder's path and name end in a slash."""
        if not path.isascii():  # re2 takes no lone surrogates, which stand for names that are not UTF-8
            path, name = (text.encode("utf-8", "replace").decode() for text in (path, name))
        for include, names, paths in self._parts:
            if (names and names.search(name)) or (paths and paths.search(path[self._depth :])):
                return include
        return None


_ANYWHERE = "^(?:.+/)?"


def _either(texts: list[str]) -> Any:
    """Return an expression that matches where one of `texts` does, with the method `search`; None for no texts."""
    import re2  # a native extension; most commands look at no ignore file

    if not texts:
        return None
    options = re2.Options()
    options.max_mem = _MEMORY
    options.log_errors = False
    return re2.compile("|".join(f"(?:{text})" for text in texts), options)


def ignored_by(rules: Sequence[Rules], path: str, *, folder: bool) -> str | None:
    """Return the ignore file that excludes `path`, or None. The caller has checked the folders above it.

    The rules are git's: the nearest file with a matching line decides, and in it the last such line.
    """
    end = "/" if folder else ""
    name = path.rsplit("/", 1)[-1]
    for each in reversed(rules):
        verdict = each.verdict(path + end, name + end)
        if verdict is not None:
            return each.file if verdict else None
    return None


def kept_out_by(root: Path, path: str) -> str | None:
    """Return the ignore file that excludes `path` or a folder above it, or None."""
    parts = path.split("/")
    rules = _read(root, "", EXCLUDE)
    for depth in range(len(parts)):
        folder = "".join(f"{part}/" for part in parts[:depth])
        for name in IGNORE_FILES:
            rules += _read(root, folder, name)
        here = "/".join(parts[: depth + 1])
        if file := ignored_by(rules, here, folder=depth + 1 < len(parts)):
            return file
    return None


def _read(root: Path, folder: str, name: str) -> list[Rules]:
    lines = ignore_lines(f"{root}/{folder}{name}")
    return [Rules(folder, name, lines)] if lines is not None else []


def ignore_lines(file: str) -> list[str] | None:
    """Return the lines of an ignore file that count; None if it cannot be read or is no plain file."""
    try:
        if not stat.S_ISREG(Path(file).stat().st_mode):  # a pipe would make us wait
            return None
        with Path(file).open(encoding="utf-8", errors="replace") as stream:
            return stream.read(LARGEST).splitlines()
    except OSError:
        return None
