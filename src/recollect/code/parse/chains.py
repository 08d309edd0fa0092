"""Chains (see `Reference`) from the text of an expression, for languages whose expressions look much alike."""

import re

from recollect.code.facts import UNKNOWN

_LONGEST = 400  # bytes: of more only the last name is kept
_PLAIN = re.compile(r"[^\W\d][\w$]*(?:\.[^\W\d][\w$]*)*").fullmatch
_STRING = re.compile(r'"(?:[^"\\]|\\.)*"|' + r"'(?:[^'\\]|\\.)*'|`[^`]*`")
_JOINS = re.compile(r"\s*(?:\?\.|!!\.|!\.|&\.|::|\?->|->|\\)\s*")
_GENERIC = re.compile(r"<[\w\s,&*?.:@$]*>")
_PREFIX = re.compile(r"^(?:(?:new|await|try|return|yield|ref|out|move|unsafe)\s+|[&*!\-~]+|mut\s+)+")
_INNERMOST = re.compile(r"\([^()]*\)|\{[^{}]*\}"), re.compile(r"\[[^\[\]]*\]")
_CALL, _ITEM = "\x01", "\x02"
_LINK = r"(?:[@$]{0,2}[^\W\d][\w$]*[?!]?)"
_CHAIN = re.compile(rf"(?:{_LINK}|\?)(?:\.{_LINK}|[{_CALL}{_ITEM}])*").fullmatch
_LAST = re.compile(r"([^\W\d][\w$]*[?!]?)\W*$")


def chain_of(text: str) -> str:
    """The chain that an expression is; `?` and the last name when it is something else; "" when it has none."""
    if _PLAIN(text):
        return text
    if len(text) > _LONGEST:
        return _only_last(text[-_LONGEST:])
    text = _STRING.sub("?", text).replace("::<", "<")
    for _ in range(12):
        shorter = _INNERMOST[1].sub(_ITEM, _INNERMOST[0].sub(_CALL, text))
        if shorter == text:
            break
        text = shorter
    text = _PREFIX.sub("", _JOINS.sub(".", text).strip())
    text = _GENERIC.sub("", _GENERIC.sub("", text)).replace("?.", ".").replace("!!", "").replace("..", ".")
    text = "".join(text.split()).lstrip(".")
    text = re.sub(f"^[{_CALL}{_ITEM}]", UNKNOWN, text)
    if not _CHAIN(text):
        return _only_last(text)
    return text.replace(_CALL, "()").replace(_ITEM, "[]")


def _only_last(text: str) -> str:
    last = _LAST.search(text)
    return f"{UNKNOWN}.{last[1]}" if last else ""
