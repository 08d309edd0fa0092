"""Cut a text without leaving half a secret, which nothing would recognise afterwards.

Cut a text with these before you redact it, or redact it first.
"""

SPLIT = 4096  # characters at a cut that may belong to a secret: more than any key in one word or line
_KEY_BEGINS, _KEY_ENDS = "-----BEGIN", "-----END"


def start_of(text: str, size: int) -> str:
    """Return the first `size` characters, without the last word and without a key that has no end."""
    if len(text) <= size:
        return text
    part = text[:size]
    begin = part.rfind(_KEY_BEGINS)
    if begin >= 0 and _KEY_ENDS not in part[begin:]:
        return part[:begin]
    word = max(map(part.rfind, " \n\t\r"))
    return part[: max(word, size - SPLIT, 0)]


def end_of(text: str, size: int) -> str:
    """Return the last `size` characters, without the rest of a line, whose beginning may say that it is a secret."""
    if len(text) <= size:
        return text
    part = text[-size:]
    end = part.find(_KEY_ENDS)
    if end >= 0 and _KEY_BEGINS not in part[:end]:
        return part[end:]
    line = part.find("\n")
    return part[min(line if line >= 0 else size, SPLIT) :]
