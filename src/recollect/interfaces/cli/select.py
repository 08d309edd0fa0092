"""Choose one of several lines in a terminal: type to filter, arrows to move, Enter to choose, Escape to leave."""

import shutil
import sys
from collections.abc import Callable, Sequence

import click

from recollect.interfaces.cli.output import cut

_UP, _DOWN = ("\x1b[A", "\x1bOA", "\x10"), ("\x1b[B", "\x1bOB", "\x0e")  # arrows, Ctrl-P, Ctrl-N
_ENTER, _BACK, _LEAVE = ("\r", "\n"), ("\x7f", "\b"), ("\x1b", "\x03", "\x04")
_CLEAR_LINE, _CLEAR_BELOW = "\x1b[2K", "\x1b[J"


def matches(line: str, typed: str) -> bool:
    """Whether each word of `typed` is in the line as it is, or as letters in this order."""
    low = line.lower()
    return all(word in low or _in_order(word, low) for word in typed.lower().split())


def _in_order(word: str, line: str) -> bool:
    position = 0
    for char in word:
        position = line.find(char, position) + 1
        if not position:
            return False
    return True


def filtered(lines: Sequence[str], typed: str) -> list[int]:
    """Return the numbers of the lines that match; those that contain the words as they are come first."""
    words = typed.lower().split()
    hits = [number for number, line in enumerate(lines) if matches(line, typed)]
    return sorted(hits, key=lambda number: not all(word in lines[number].lower() for word in words))


def select(lines: Sequence[str], read: Callable[[], str] = click.getchar) -> int | None:
    """Return the number of the chosen line; None if the person leaves. Draws on standard error."""
    typed, current = "", 0
    try:
        while True:
            shown = filtered(lines, typed)
            current = max(0, min(current, len(shown) - 1))
            _draw(lines, shown, current, typed)
            key = read()
            if key in _ENTER:
                return shown[current] if shown else None
            if key in _LEAVE:
                return None
            if key in _UP or key in _DOWN:
                current += 1 if key in _DOWN else -1
            elif key in _BACK:
                typed = typed[:-1]
            elif key.isprintable():
                typed, current = typed + key, 0
    except (KeyboardInterrupt, EOFError):
        return None
    finally:
        sys.stderr.write(f"\r{_CLEAR_BELOW}")
        sys.stderr.flush()


def _draw(lines: Sequence[str], shown: Sequence[int], current: int, typed: str) -> None:
    size = shutil.get_terminal_size()
    room = max(3, min(size.lines - 2, 20))
    first = max(0, current - room + 1)
    drawn = [
        ("> " if number == current else "  ") + cut(lines[shown[number]], size.columns - 3)
        for number in range(first, min(len(shown), first + room))
    ]
    prompt = f"{len(shown)} of {len(lines)}, type to filter, Enter shows: {typed}"
    out = [f"\r{_CLEAR_BELOW}", cut(prompt, size.columns - 1)]
    out += [f"\r\n{_CLEAR_LINE}{line}" for line in drawn]
    out.append(f"\x1b[{len(drawn)}A\r" if drawn else "\r")
    sys.stderr.write("".join(out))
    sys.stderr.flush()
