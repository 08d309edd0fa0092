"""What Recollect put into a request: the blocks with its mark, as the model reads them."""

import re
from collections.abc import Iterable
from html import unescape

from livehosts.model_request import ModelRequest, RequestPart

_BLOCK = re.compile(
    r'<project_memory source="recollect-memory".*?</project_memory>'
    r"|--- recollect-memory:.*?--- end of recollect-memory ---"
    r"|(?:## Project memory\n)?[>*] ?recollect-memory:.*?[>*] ?end of recollect-memory\*?",
    re.DOTALL,
)
_ID = re.compile(r"#([0-9a-z]{6})\b")


def blocks_in(text: str) -> list[str]:
    """Return the blocks in a text. Gemini CLI escapes them, which a model reads as if it did not."""
    return _BLOCK.findall(unescape(text))


def delivered(request: ModelRequest, before: Iterable[RequestPart] = ()) -> list[str]:
    """Return the blocks of a request, without those in parts that an earlier request had already."""
    known = set(before)
    return [block for part in request.parts if part not in known for block in blocks_in(part.text)]


def memory_ids(block: str) -> list[str]:
    """Return the short ids of the memories that a block shows."""
    return _ID.findall(block)
