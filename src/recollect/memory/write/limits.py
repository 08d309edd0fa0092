"""What cannot be kept, and why. A refusal says which limit it was and what to do."""

import re
from collections.abc import Sequence
from pathlib import Path

from recollect.code.ignore import kept_out_by
from recollect.errors import ContentRefused
from recollect.model import INJECTED_MARK

MAX_CONTENT = 2048  # bytes of UTF-8
MAX_FIELD = 512  # characters of a tag, a path, a step…
MAX_ITEMS = 64  # tags, files, steps… of one memory

_SPACE = re.compile(r"[ \t]+\n")


def clean(content: object) -> str:
    """`content` as it may be kept. Raises `ContentRefused`."""
    if not isinstance(content, str):
        raise ContentRefused(
            f"A memory is a text, not {type(content).__name__}.", "Give the statement as a string."
        )
    if len(content) > 4 * MAX_CONTENT:  # cannot fit whatever it holds: say so before looking closer
        raise too_long(len(content.encode("utf-8", "replace")))
    text = _SPACE.sub("\n", content.replace("\r\n", "\n")).strip()
    if not text:
        raise ContentRefused("There is nothing to remember: the text is empty.", "Say it in a sentence.")
    return plain(text, "The text")


def check_size(text: str) -> None:
    """After redaction, which may have made it shorter."""
    size = len(text.encode())
    if size > MAX_CONTENT:
        raise too_long(size)


def too_long(size: int) -> ContentRefused:
    return ContentRefused(
        f"The text is {size:,} bytes; a memory holds {MAX_CONTENT:,}.",
        "Split it into statements that stand alone, or name the file where the rest is.",
    )


def plain(text: str, what: str) -> str:
    """`text`, if it is text: no NUL, nothing that is not UTF-8. Raises `ContentRefused`."""
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
    """`text`, if it is short enough for a field that is not the statement itself."""
    if len(text) > MAX_FIELD:
        raise ContentRefused(
            f"The {what.replace('_', ' ')} has {len(text):,} characters.", f"At most {MAX_FIELD}."
        )
    return text


def check_items(what: str, items: Sequence[str]) -> tuple[str, ...]:
    """A list that came with the content: bounded, of bounded texts, without empty ones or repeats."""
    kept = dict.fromkeys(item.strip() for item in items if item.strip())
    if len(kept) > MAX_ITEMS:
        raise ContentRefused(f"{len(kept)} {what} are too many.", f"At most {MAX_ITEMS}.")
    for item in kept:
        if len(item) > MAX_FIELD:
            raise ContentRefused(f"One of the {what} has {len(item):,} characters.", f"At most {MAX_FIELD}.")
        plain(item, f"One of the {what}")
    return tuple(kept)


def refuse_echo(text: str) -> None:
    """What Recollect injected is never learnt again."""
    if INJECTED_MARK in text:
        raise ContentRefused(
            "This is text that Recollect itself put into the conversation.",
            "Say in your own words what is new about it.",
        )


def refuse_ignored(paths: Sequence[str], root: Path | None) -> None:
    """Content from a file that is kept out of version control, or marked secret, is not for keeping."""
    for path in paths:
        rule = _ignored(path, root)
        if rule:
            raise ContentRefused(
                f"{path} is kept private by {rule}: what it says is not remembered.",
                "Leave --file out if the memory is only about the file and holds nothing of it.",
            )


def _ignored(path: str, root: Path | None) -> str | None:
    """The rule that keeps `path` private; None if there is none."""
    if path.rsplit("/", 1)[-1].startswith(".env"):
        return "the rule for .env files"
    return kept_out_by(root, path) if root is not None else None
