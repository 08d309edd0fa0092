"""A part of someone else's Markdown file that is ours, between two markers that never change."""

from recollect.errors import Refused
from recollect.text.jsonc import newline_of

BEGIN = "<!-- recollect:begin -->"
END = "<!-- recollect:end -->"


def put(text: str, body: str) -> str:
    """`text` with `body` as our part, in the place it had or at the end. Raises `Refused` if the markers are broken."""
    newline = newline_of(text)
    block = newline.join([BEGIN, *body.strip("\n").split("\n"), END])
    span = _span(text)
    if span is not None:
        return text[: span[0]] + block + text[span[1] :]
    between = "" if not text.strip("\ufeff") else newline if text.endswith("\n") else newline * 2
    return text + between + block + newline


def take(text: str) -> str:
    """`text` without our part, and without the empty line that set it off."""
    span = _span(text)
    if span is None:
        return text
    newline = newline_of(text)
    before, after = text[: span[0]], text[span[1] :].removeprefix(newline)
    if before.endswith(newline * 2) and (not after or after.startswith(newline)):
        before = before[: -len(newline)]
    return before + after


def body(text: str) -> str | None:
    """What stands in our part; None if there is none."""
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
            f"Its part between {BEGIN} and {END} is broken.", "Mend or delete the two lines, then try again."
        )
    return start, stop + len(END)
