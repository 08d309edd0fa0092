"""What a file says, without what should not have been written into it: secrets, and the texts of literals. Pure."""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace

from recollect.codebase.facts import Definition, FileFacts

_LITERAL = re.compile(r'"[^"\\]*(?:\\.[^"\\]*)*(?:"|$)|`[^`]*(?:`|$)')  # one that was cut off has no end
_SINGLE = re.compile(r"'[^'\\]*(?:\\.[^'\\]*)*(?:'|$)")
_SINGLE_QUOTED = frozenset({"javascript", "typescript", "tsx"})  # elsewhere it may be a lifetime
_QUOTE = re.compile(r"[\"'`]").search
_DIGIT = re.compile(r"\d").search
# Without one of these, no rule of redaction finds anything in a line of prose.
_TELLS = re.compile(
    r"\d|[@=]|://|-----|passw|passphrase|pwd|secret|token|key|credential|bearer|authoriz|pin\b|\bA[A-Z]{2}\w{8}|[\w+/-]{20}",
    re.IGNORECASE,
).search
_LONG = re.compile(r"[\w+/=-]{16,}").search


def discreet(facts: FileFacts) -> FileFacts:
    """The same facts. What names a secret is left out; a definition stays, for others may stand in it."""
    single = facts.language in _SINGLE_QUOTED
    definitions = [
        _without_literals(each, single) if _QUOTE(each.signature) else each for each in facts.definitions
    ]
    bindings = [
        each._replace(value=_hidden(each.value, single)) if each.annotated and _QUOTE(each.value) else each
        for each in facts.bindings
    ]
    facts = replace(facts, definitions=definitions, bindings=bindings)
    docs = {facts.doc, *(each.doc for each in definitions)} - {""}
    secrets = _redacted([*filter(_TELLS, docs), *filter(_is_suspect, set(_names(facts)))])
    return _without(facts, secrets) if secrets else facts


def _without_literals(each: Definition, single: bool) -> Definition:
    return each._replace(
        signature=_hidden(each.signature, single),
        returns=_hidden(each.returns, single),
        parameters=tuple((name, _hidden(typed, single)) for name, typed in each.parameters),
    )


def _hidden(text: str, single: bool) -> str:
    text = _LITERAL.sub('"…"', text)
    return _SINGLE.sub("'…'", text) if single else text


def _names(facts: FileFacts) -> Iterator[str]:
    for each in facts.definitions:
        yield from (each.name, each.signature, each.returns, *each.bases, *each.decorators)
        for parameter in each.parameters:
            yield from parameter
    for one in facts.imports:
        yield from one[:3]
    for chain, *_ in facts.references:
        yield chain
    for name, value, *_ in facts.bindings:
        yield name
        yield value
    yield from facts.exports


def _is_suspect(name: str) -> bool:
    """Long and with a digit, or an address: of what stands in code, no other name is taken for a secret."""
    return bool((len(name) >= 16 and _DIGIT(name) and _LONG(name)) or "://" in name or "@" in name)


def _redacted(texts: Sequence[str]) -> dict[str, str]:
    """What those with secrets are without them. Mostly there are none: all are looked at as one first."""
    from recollect.learn.redact import redact  # its rules take 30 ms to load

    if not texts or not redact("\n".join(texts))[1]:
        return {}
    clean = {text: redact(text)[0] for text in texts}
    return {text: found for text, found in clean.items() if found != text}


def _without(facts: FileFacts, secrets: Mapping[str, str]) -> FileFacts:
    def said(text: str) -> str:
        return secrets.get(text, text)

    return replace(
        facts,
        doc=said(facts.doc),
        definitions=[
            each._replace(
                name=said(each.name),
                signature=said(each.signature),
                doc=said(each.doc),
                bases=tuple(base for base in each.bases if base not in secrets),
                returns=said(each.returns),
                decorators=tuple(chain for chain in each.decorators if chain not in secrets),
                parameters=tuple((said(name), said(typed)) for name, typed in each.parameters),
            )
            for each in facts.definitions
        ],
        imports=[each for each in facts.imports if secrets.keys().isdisjoint(each[:3])],
        references=[each for each in facts.references if each.chain not in secrets],
        bindings=[each for each in facts.bindings if secrets.keys().isdisjoint(each[:2])],
        exports=[name for name in facts.exports if name not in secrets],
    )
