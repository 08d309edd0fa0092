"""Our part of a Markdown file that belongs to the user, between two fixed markers."""

from recollect.errors import Refused
from recollect.text.jsonc import newline_of

BEGIN = "<!-- recollect:begin -->"
END = "<!-- recollect:end -->"


def put(text: str, body: str) -> str:
    """Return `text` with `body` as our part, where it was or at the end. Raise `Refused` if the markers are broken."""
    newline = newline_of(text)
    block = newline.join([BEGIN, *body.strip("\n").split("\n"), END])
    span = _span(text)
    if span is not None:
        return text[: span[0]] + block + text[span[1] :]
    between = "" if not text.strip("\ufeff") else newline if text.endswith("\n") else newline * 2
    return text + between + block + newline


def take(text: str) -> str:
    """Return `text` without our part and the empty line before it."""
    span = _span(text)
    if span is None:
        return text
    newline = newline_of(text)
    before, after = text[: span[0]], text[span[1] :].removeprefix(newline)
    if before.endswith(newline * 2) and (not after or after.startswith(newline)):
        before = before[: -len(newline)]
    return before + after


def body(text: str) -> str | None:
    """Return the content of our part, or None if there is none."""
    span = _span(text)
    if span is None:
        return None
    inside = text[span[0] + len(BEGIN) : span[1] - len(END)]
    return inside.replace("\r\n", "\n").strip("\n")


def _span(text: str) -> tuple[int, int] | None:
    begin, end = text.count(BEGIN), text.count(END)
    if begin == end == 0:
        return None
    start, stop = text.find(BEGIN), text.find(END)
    if begin != 1 or end != 1 or stop < start:
        raise Refused(
            f"The lines {BEGIN} and {END} do not form one block.",
            "Fix or delete the two lines, then try again.",
        )
    return start, stop + len(END)
