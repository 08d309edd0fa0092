"""Remove secrets and personal data from texts, so that none reach the store.

Three sources find them: our rules (`redaction_rules`), the `redact-secret` library, which knows the providers' formats,
and high entropy. The result is searched again until nothing is found, so redacting twice is the same as once.
"""

import re
from bisect import bisect_right
from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING, NamedTuple

from recollect.text.redaction_rules import (
    CAUTIOUS,
    CONTEXTS,
    ENTROPY,
    FORMATS,
    PII,
    PUBLIC,
    RedactionRule,
    span_of,
)
from recollect.text.secret_values import is_ordinary, is_placeholder

if TYPE_CHECKING:
    from recollect.model import Redaction


def redact(text: str) -> "tuple[str, tuple[Redaction, ...]]":
    """Return `text` with every secret and piece of personal data replaced by `[REDACTED: type]`, and what was removed."""
    types: list[str] = []
    while spans := _find(text):
        types.extend(span.type for span in spans)
        text = _replace(text, spans)
    if not types:
        return text, ()
    from recollect.model import Redaction  # half the start-up time of a process that only reads code

    return text, tuple(map(Redaction, types))


def redact_name(name: str) -> "tuple[str, tuple[Redaction, ...]]":
    """Redact the name of a session, a branch or a folder. High entropy alone makes no secret of it, because ids have it too."""
    text, removed = redact(name)
    return (text, removed) if any(each.type != "high-entropy" for each in removed) else (name, ())


class _Span(NamedTuple):
    start: int
    end: int
    rank: int  # of overlapping spans, the one with the lowest rank names the type
    type: str


def _replace(text: str, spans: list[_Span]) -> str:
    pieces: list[str] = []
    end = 0
    for span in spans:
        pieces += text[end : span.start], f"[REDACTED: {span.type}]"
        end = span.end
    return "".join(pieces) + text[end:]


def _find(text: str) -> list[_Span]:
    """Return the spans to remove, in order, without overlaps and outside earlier marks."""
    lowered = text.lower()
    credentials = [
        *_matches(FORMATS, text, lowered, rank=0),
        *_found_by_library(text),  # ranks 1 and 3
        *_matches(CONTEXTS, text, lowered, rank=2),
        *_unexplained(text),
    ]
    spans = _separate(text, _outside_marks(text, credentials))
    # A password and its host, `s3cret@db.corp.com`, look like an address too: the credential has priority.
    pii = [
        span
        for span in _outside_marks(text, _matches(PII, text, lowered, rank=5))
        if not _overlaps(span, spans)
    ]
    return _separate(text, [*spans, *pii])


def _matches(rules: Iterable[RedactionRule], text: str, lowered: str, rank: int) -> Iterator[_Span]:
    for rule in rules:
        if rule.hints and not any(hint in lowered for hint in rule.hints):
            continue
        for match in rule.pattern.finditer(text):
            if rule.accepts(match):
                yield _Span(*span_of(match), rank, rule.type)


def _unexplained(text: str) -> list[_Span]:
    """Return strings of high entropy, except those known to be public, such as digests and images."""
    spans = list(_matches((ENTROPY,), text, text, rank=4))
    if not spans:
        return []
    public = [_Span(*match.span(), 0, "") for match in PUBLIC.finditer(text)]
    return [span for span in spans if not _overlaps(span, public)]


# What the library finds by the name beside it rather than by its format. We check these values ourselves.
_GUESSES = {
    "contextual_secret": "secret",
    "connection_string_password": "connection-string",
    "bearer_token": "authorization",
}


def _found_by_library(text: str) -> Iterator[_Span]:
    try:
        findings = _scan(text)
    except BaseException as failure:  # a panic in Rust is not an Exception
        if isinstance(failure, (KeyboardInterrupt, SystemExit, GeneratorExit)):
            raise
        # Nothing else knows the providers' formats, so redact anything that could be a key.
        yield from _matches((CAUTIOUS,), text, text, rank=3)
        return
    for start, end, type in findings:
        guess = _GUESSES.get(type)
        value = text[start:end].rstrip(",;)")
        if not is_placeholder(value) and not (guess and is_ordinary(value)):
            yield _Span(start, end, 3 if guess else 1, guess or re.sub(r"[^a-z]+", "-", type))


_SURROGATES = re.compile("[\ud800-\udfff]")
_NO_LIMIT = 2**40
# The library's time grows with the square of some texts (`eyJ` repeated), so it gets them in pieces. They overlap by more
# than any secret but keys in PEM format, which our own rules find.
_PIECE, _OVERLAP = 6_000, 2_000


def _scan(text: str) -> list[tuple[int, int, str]]:
    import redact_secret  # a native extension; most commands never write

    # The library rejects lone surrogates. Replacing each with one character keeps the offsets.
    text = text if text.isascii() else _SURROGATES.sub("\ufffd", text)
    limits = redact_secret.WholeInputLimits(max_input_bytes=_NO_LIMIT, max_findings=_NO_LIMIT)
    findings: list[tuple[int, int, str]] = []
    for start in range(0, max(len(text) - _OVERLAP, 1), _PIECE - _OVERLAP):
        piece = redact_secret.scan(text[start : start + _PIECE], limits=limits)
        findings += [
            (start + found.start, start + found.end, found.type) for found in piece if found.action != "warn"
        ]
    return findings


_MARK = re.compile(r"\[REDACTED: [a-z-]{1,60}\]")


def _outside_marks(text: str, spans: Iterable[_Span]) -> Iterator[_Span]:
    """Yield the parts of `spans` that are not redacted yet."""
    marks = [_Span(*match.span(), 0, "") for match in _MARK.finditer(text)] if "[REDACTED: " in text else []
    for span in spans:
        start, index = span.start, _first_after(marks, span.start)
        while index < len(marks) and marks[index].start < span.end:
            yield span._replace(start=start, end=marks[index].start)
            start, index = marks[index].end, index + 1
        yield span._replace(start=start)


# The rest of a token. A rule may stop early, at the length it knows or at an odd character, and half a secret left
# behind is still a leak.
_TAIL = re.compile(r"(?:[A-Za-z0-9_~+-]|%[0-9A-Fa-f]{2}|[.!=/](?=[A-Za-z0-9_~+-]{6})|(?!))*+")


def _separate(text: str, spans: Iterable[_Span]) -> list[_Span]:
    """Return `spans` in order, extended to whole tokens, with overlapping ones merged."""
    separate: list[_Span] = []
    for span in sorted(spans):
        if not re.search(r"\w", text[span.start : span.end]):
            continue
        last = separate[-1] if separate else None
        if last and span.end <= last.end:
            separate[-1] = min(last, span, key=_rank)._replace(start=last.start, end=last.end)
            continue
        tail = _TAIL.match(text, span.end)
        end = tail.end() if tail else span.end
        if last and span.start < last.end:
            separate[-1] = min(last, span, key=_rank)._replace(start=last.start, end=end)
        else:
            separate.append(span._replace(end=end))
    return separate


def _rank(span: _Span) -> int:
    return span.rank


def _overlaps(span: _Span, others: list[_Span]) -> bool:
    """Return whether any of `others`, in order and without overlaps, shares a character with `span`."""
    index = _first_after(others, span.start)
    return index < len(others) and others[index].start < span.end


def _first_after(spans: list[_Span], position: int) -> int:
    """Return the index of the first of `spans` that ends after `position`."""
    return bisect_right(spans, position, key=lambda span: span.end)
