"""What cannot be stored. A refusal names the limit and says what to do."""

import re
from collections.abc import Sequence
from pathlib import Path

from recollect.code.ignore import kept_out_by
from recollect.errors import ContentRefused
from recollect.text.lookalikes import has_mark
from recollect.text.shapes import looks_like_path

MAX_CONTENT = 2048  # bytes of UTF-8
MAX_FIELD = 512  # characters of a tag, a path, a step…
MAX_ITEMS = 64  # tags, files, steps… of one memory
MAX_SITUATIONS = 5  # in which a memory is needed; more would bring it up everywhere
MAX_SITUATION = 160  # characters

_SPACE = re.compile(r"(?<![ \t])[ \t]+\n")


def clean(content: object) -> str:
    """Return `content` without trailing space. Raise `ContentRefused` if it cannot be stored."""
    if not isinstance(content, str):
        raise ContentRefused(
            f"A memory is a text, not {type(content).__name__}.", "Give the statement as a string."
        )
    if len(content) > 4 * MAX_CONTENT:  # too long whatever redaction removes
        raise too_long(len(content.encode("utf-8", "replace")))
    text = _SPACE.sub("\n", content.replace("\r\n", "\n")).strip()
    if not text:
        raise ContentRefused(
            "There is nothing to remember: the text is empty.", "Give the statement as a sentence."
        )
    return plain(text, "The text")


def check_size(text: str) -> None:
    """Raise `ContentRefused` if the redacted text is too long."""
    size = len(text.encode())
    if size > MAX_CONTENT:
        raise too_long(size)


def too_long(size: int) -> ContentRefused:
    """Return the error for a text of `size` bytes."""
    return ContentRefused(
        f"The text is {size:,} bytes; a memory holds {MAX_CONTENT:,}.",
        "Split it into separate statements, or name the file that has the details.",
    )


def plain(text: str, what: str) -> str:
    """Return `text` if it has no NUL and is valid UTF-8. Raise `ContentRefused` otherwise."""
    if "\x00" in text:
        raise ContentRefused(
            f"{what} contains a NUL character.", "Remove it; binary data cannot be remembered."
        )
    try:
        text.encode()
    except UnicodeEncodeError as error:
        raise ContentRefused(
            f"{what} is not valid UTF-8 (character {error.start + 1}).", "Save it as UTF-8 and try again."
        ) from error
    return text


def short(text: str, what: str) -> str:
    """Return `text` if it is short enough for a field other than the content. Raise `ContentRefused` otherwise."""
    if len(text) > MAX_FIELD:
        raise ContentRefused(
            f"The {what.replace('_', ' ')} has {len(text):,} characters.", f"The limit is {MAX_FIELD}."
        )
    return text


def check_items(what: str, items: Sequence[str]) -> tuple[str, ...]:
    """Return the items of a list field without empty ones and repeats. Raise `ContentRefused` for too many or too long ones."""
    unique = dict.fromkeys(item.strip() for item in items if item.strip())
    if len(unique) > MAX_ITEMS:
        raise ContentRefused(f"{len(unique)} {what} are too many.", f"The limit is {MAX_ITEMS}.")
    for item in unique:
        if len(item) > MAX_FIELD:
            raise ContentRefused(
                f"One of the {what} has {len(item):,} characters.", f"The limit is {MAX_FIELD}."
            )
        plain(item, f"One of the {what}")
    return tuple(unique)


def in_one_line(text: str) -> str:
    """Return `text` with single spaces for all space and line breaks."""
    return " ".join(text.split())


def check_situations(situations: Sequence[str]) -> None:
    """Raise `ContentRefused` for too many situations in which a memory is needed, or too long ones."""
    if len(situations) > MAX_SITUATIONS:
        raise ContentRefused(
            f"{len(situations)} situations are too many.",
            f"Name at most {MAX_SITUATIONS}, each in a few words.",
        )
    for situation in situations:
        if len(situation) > MAX_SITUATION:
            raise ContentRefused(
                f"A situation has {len(situation):,} characters.",
                f"The limit is {MAX_SITUATION}: say in a few words what somebody is doing who needs the memory.",
            )


def refuse_echo(text: str) -> None:
    """Raise `ContentRefused` for text that Recollect itself injected."""
    if has_mark(text):
        raise ContentRefused(
            "This text was added to the conversation by Recollect itself.",
            "Say in your own words what is new.",
        )


def refuse_no_paths(paths: Sequence[str], root: Path | None) -> None:
    """Raise `ContentRefused` for what an agent calls a file, although it neither exists nor looks like a path."""
    for path in paths:
        if not looks_like_path(path) and not _exists(root, path):
            raise ContentRefused(
                f"{path[:60]!r} does not look like the path of a file.",
                "Give paths as they are in the project, for example src/auth.py.",
            )


def _exists(root: Path | None, path: str) -> bool:
    try:
        return root is not None and (root / path).exists()
    except (OSError, ValueError):
        return False


def refuse_ignored(paths: Sequence[str], root: Path | None) -> None:
    """Raise `ContentRefused` for a file that is ignored by version control or marked secret."""
    for path in paths:
        rule = _ignored(path, root)
        if rule:
            raise ContentRefused(
                f"{path} is private by {rule}, so its content is not remembered.",
                "Leave --file out if the memory only mentions the file.",
            )


def _ignored(path: str, root: Path | None) -> str | None:
    """Return the rule that keeps `path` private, or None."""
    if path.rsplit("/", 1)[-1].startswith(".env"):
        return "the rule for .env files"
    return kept_out_by(root, path) if root is not None else None
