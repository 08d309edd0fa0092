"""Which parts of a user's message were inserted by a host or a tool, not written by the person."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from recollect.model import INJECTED_MARK
from recollect.text.lookalikes import has_mark

# Our own frames.
_FRAMES = (
    (f'<project_memory source="{INJECTED_MARK}"', "</project_memory>"),
    (f"--- {INJECTED_MARK}:", f"--- end of {INJECTED_MARK} ---"),
    (f"## Project memory\n*{INJECTED_MARK}:", f"*end of {INJECTED_MARK}*"),
    (f"## Project memory\n> {INJECTED_MARK}:", f"> end of {INJECTED_MARK}"),  # before version 0.3
)


def _escaped(text: str) -> str:
    """Return the text as Gemini CLI escapes what a hook adds."""
    return text.replace("<", "&lt;").replace(">", "&gt;")


# From the first to the second, anywhere in a message.
_BLOCKS = (
    ("<system-reminder>", "</system-reminder>"),
    ("<hook_context>", "</hook_context>"),  # of Gemini CLI, around what any hook adds
    *_FRAMES,
    *((_escaped(opening), _escaped(closing)) for opening, closing in _FRAMES if _escaped(closing) != closing),
    ("<ide_selection>", "</ide_selection>"),
    ("<ide_opened_file>", "</ide_opened_file>"),
)

# Beginnings of messages that are injected as a whole: those of Claude Code, Codex, Gemini CLI and aider,
# and our own commands, in this order.
_OPENINGS = tuple(filter(None, (Path(__file__).parent / "data/injected.txt").read_text("utf-8").splitlines()))


# Around the user's words in our command `remember`, as `interfaces/install/files` has it.
_REMEMBER = "The user wants this remembered in long-term memory:"
_RUN, _REMEMBER_END = "Run `", "` with that text, word for word"


def parts(text: str) -> Iterator[tuple[str, bool]]:
    """Yield the parts of a message in order, each with whether it was injected. Blank parts are dropped."""
    if text.lstrip().startswith(_OPENINGS):
        yield text, True
        return
    if (span := _remembered(text)) is not None:
        start, end = span
        yield text[:start].strip(), True
        yield from parts(text[start:end])
        yield text[end:].strip(), True
        return
    start_of_text = 0
    for start, end in _injected_spans(text):
        yield from _part(text[start_of_text:start], _is_ours(text[start_of_text:start]))
        yield from _part(text[start:end], True)
        start_of_text = end
    yield from _part(text[start_of_text:], _is_ours(text[start_of_text:]))


def own_words(text: str) -> str:
    """Return what the person wrote of a message; empty if nothing is left."""
    return "\n".join(part for part, is_injected in parts(text) if not is_injected)


def _remembered(text: str) -> tuple[int, int] | None:
    """Return where the user's own words are in a message that our command `remember` made; None for any other."""
    if not text.lstrip().startswith(_REMEMBER):
        return None
    end = text.rfind(_RUN, 0, max(text.rfind(_REMEMBER_END), 0))
    return (text.index(_REMEMBER) + len(_REMEMBER), end) if end > 0 else None


def _injected_spans(text: str) -> Iterator[tuple[int, int]]:
    at = 0
    ahead = {block: text.find(block[0]) for block in _BLOCKS}
    while ahead := {
        block: start if start >= at else text.find(block[0], at)
        for block, start in ahead.items()
        if start >= 0
    }:
        (opening, closing), start = min(ahead.items(), key=lambda item: (item[1] < 0, item[1]))
        if start < 0:
            return
        end = text.find(closing, start + len(opening))
        at = len(text) if end < 0 else end + len(closing)
        yield start, at


def _part(text: str, injected: bool) -> Iterator[tuple[str, bool]]:
    if text.strip():
        yield text.strip(), injected


def _is_ours(text: str) -> bool:
    """Return whether our mark is in the text: outside of the frames above it is left of a frame that someone cut."""
    return has_mark(text)
