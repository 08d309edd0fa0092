"""Step 2 of the write path: secrets and PII never reach the store.

Three sources find stretches of the text that must go: our rules (`secret_rules`, `pii_rules`), the `redact-secret`
library, which knows the providers' formats, and entropy. What they find is cut out of the text, and the
result is read again until nothing more is found, so that redacting twice is redacting once.
"""

import re
from bisect import bisect_right
from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING, NamedTuple

from recollect.text.pii_rules import PII
from recollect.text.secret_rules import CAUTIOUS, CONTEXTS, ENTROPY, FORMATS, PUBLIC, Rule, span_of
from recollect.text.secret_values import is_ordinary, is_placeholder

if TYPE_CHECKING:
    from recollect.model import Redaction


def redact(text: str) -> "tuple[str, tuple[Redaction, ...]]":
    """`text` with every secret and piece of PII replaced by `[REDACTED: type]`."""
    types: list[str] = []
    while spans := _find(text):
        types.extend(span.type for span in spans)
        text = _replace(text, spans)
    if not types:
        return text, ()
    from recollect.model import Redaction  # half the time it takes to start a process that only reads code

    return text, tuple(map(Redaction, types))


class _Span(NamedTuple):
    start: int
    end: int
    rank: int  # of the spans that overlap, the one with the lowest rank names the type
    type: str


def _replace(text: str, spans: list[_Span]) -> str:
    pieces: list[str] = []
    end = 0
    for span in spans:
        pieces += text[end : span.start], f"[REDACTED: {span.type}]"
        end = span.end
    return "".join(pieces) + text[end:]


def _find(text: str) -> list[_Span]:
    """What must go: in order, apart from each other and from what was redacted before."""
    lowered = text.lower()
    credentials = [
        *_matches(FORMATS, text, lowered, rank=0),
        *_known_to_library(text),  # ranks 1 and 3
        *_matches(CONTEXTS, text, lowered, rank=2),
        *_unexplained(text),
    ]
    found = _apart(text, _outside_marks(text, credentials))
    # A password and its host, `s3cret@db.corp.com`, look like an address too: the credential goes first.
    pii = [
        span
        for span in _outside_marks(text, _matches(PII, text, lowered, rank=5))
        if not _overlaps(span, found)
    ]
    return _apart(text, [*found, *pii])


def _matches(rules: Iterable[Rule], text: str, lowered: str, rank: int) -> Iterator[_Span]:
    for rule in rules:
        if rule.hints and not any(hint in lowered for hint in rule.hints):
            continue
        for match in rule.pattern.finditer(text):
            if rule.accepts(match):
                yield _Span(*span_of(match), rank, rule.type)


def _unexplained(text: str) -> list[_Span]:
    """Strings of high entropy that are not known to be public, such as a digest or an image."""
    spans = list(_matches((ENTROPY,), text, text, rank=4))
    if not spans:
        return []
    public = [_Span(*match.span(), 0, "") for match in PUBLIC.finditer(text)]
    return [span for span in spans if not _overlaps(span, public)]


# Found by the name beside it rather than by its format: these are guesses, and we have our own opinion.
_GUESSES = {
    "contextual_secret": "secret",
    "connection_string_password": "connection-string",
    "bearer_token": "authorization",
}


def _known_to_library(text: str) -> Iterator[_Span]:
    try:
        findings = _scan(text)
    except BaseException as failure:  # a panic in Rust is no Exception
        if isinstance(failure, (KeyboardInterrupt, SystemExit, GeneratorExit)):
            raise
        # Nothing else knows the providers' formats, so now anything that could be a key goes.
        yield from _matches((CAUTIOUS,), text, text, rank=3)
        return
    for start, end, type in findings:
        guess = _GUESSES.get(type)
        value = text[start:end].rstrip(",;)")
        if not is_placeholder(value) and not (guess and is_ordinary(value)):
            yield _Span(start, end, 3 if guess else 1, guess or re.sub(r"[^a-z]+", "-", type))


_SURROGATES = re.compile("[\ud800-\udfff]")
_NO_LIMIT = 2**40


def _scan(text: str) -> list[tuple[int, int, str]]:
    import redact_secret  # a native extension, and most commands never write

    # The library wants Unicode, which a lone surrogate is not. One stand-in for each keeps the offsets.
    text = text if text.isascii() else _SURROGATES.sub("\ufffd", text)
    limits = redact_secret.WholeInputLimits(max_input_bytes=_NO_LIMIT, max_findings=_NO_LIMIT)
    findings = redact_secret.scan(text, limits=limits)
    return [(found.start, found.end, found.type) for found in findings if found.action != "warn"]


_MARK = re.compile(r"\[REDACTED: [a-z-]{1,60}\]")


def _outside_marks(text: str, spans: Iterable[_Span]) -> Iterator[_Span]:
    """The parts of `spans` that were not redacted before."""
    marks = [_Span(*match.span(), 0, "") for match in _MARK.finditer(text)] if "[REDACTED: " in text else []
    for span in spans:
        start, index = span.start, _first_after(marks, span.start)
        while index < len(marks) and marks[index].start < span.end:
            yield span._replace(start=start, end=marks[index].start)
            start, index = marks[index].end, index + 1
        yield span._replace(start=start)


# What belongs to the same token. A rule may stop early, at the length it knows or at an odd character,
# and half a secret left behind is a secret told.
_TAIL = re.compile(r"(?:[A-Za-z0-9_~+-]|%[0-9A-Fa-f]{2}|[.!=/](?=[A-Za-z0-9_~+-]{6})|(?!))*+")


def _apart(text: str, spans: Iterable[_Span]) -> list[_Span]:
    """`spans` in order, grown to whole tokens, those that overlap made one."""
    apart: list[_Span] = []
    for span in sorted(spans):
        if not re.search(r"\w", text[span.start : span.end]):
            continue
        last = apart[-1] if apart else None
        if last and span.end <= last.end:
            apart[-1] = min(last, span, key=_rank)._replace(start=last.start, end=last.end)
            continue
        tail = _TAIL.match(text, span.end)
        end = tail.end() if tail else span.end
        if last and span.start < last.end:
            apart[-1] = min(last, span, key=_rank)._replace(start=last.start, end=end)
        else:
            apart.append(span._replace(end=end))
    return apart


def _rank(span: _Span) -> int:
    return span.rank


def _overlaps(span: _Span, others: list[_Span]) -> bool:
    """Whether any of `others`, in order and apart, shares a character with `span`."""
    index = _first_after(others, span.start)
    return index < len(others) and others[index].start < span.end


def _first_after(spans: list[_Span], position: int) -> int:
    """The index of the first of `spans` that ends after `position`."""
    return bisect_right(spans, position, key=lambda span: span.end)
