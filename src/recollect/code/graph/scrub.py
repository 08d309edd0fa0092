"""What a file says, without what should not have been written into it: secrets, and the texts of literals. Pure."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import replace
from itertools import chain

from recollect.code.facts import Definition, FileFacts
from recollect.code.languages.table import LANGUAGES

_LITERAL = re.compile(r'"[^"\\]*(?:\\.[^"\\]*)*(?:"|$)|`[^`]*(?:`|$)')  # one that was cut off has no end
_SINGLE = re.compile(r"'[^'\\]*(?:\\.[^'\\]*)*(?:'|$)")
_QUOTE = re.compile(r"[\"'`]").search
_DIGIT = re.compile(r"\d").search
# Without one of these, no rule of redaction finds anything in a line of prose.
_TELLING = (
    *("@", "=", "://", "-----", "passw", "passphrase", "pwd", "secret", "token", "key"),
    *("credential", "bearer", "authoriz"),
)
_PIN = re.compile(r"pin\b").search
_KEY = re.compile(r"(?<![A-Za-z0-9])A[A-Z]{2}\w{8}").search
_RUN = re.compile(r"[\w+/-]{20}").search
_LONG = re.compile(r"[\w+/=-]{16,}").search


def scrub_secrets(facts: FileFacts) -> FileFacts:
    """The same facts. What names a secret is left out; a definition stays, for others may stand in it."""
    single = LANGUAGES[facts.language].has_single_quoted_strings
    if _QUOTE("\n".join([each.signature for each in facts.definitions])):
        definitions = [
            _without_literals(each, single) if _QUOTE(each.signature) else each for each in facts.definitions
        ]
        facts = replace(facts, definitions=definitions)
    if _QUOTE("\n".join([value for _, value, annotated, *_ in facts.bindings if annotated])):
        bindings = [
            each._replace(value=_hidden(each.value, single)) if each.annotated else each
            for each in facts.bindings
        ]
        facts = replace(facts, bindings=bindings)
    docs = {facts.doc, *[each.doc for each in facts.definitions]}
    secrets = _redacted([*filter(_is_telling, docs), *_suspects(_names(facts))])
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


def _names(facts: FileFacts) -> set[str]:
    names = set(facts.exports)
    if facts.definitions:
        name, _, _, _, _, signature, _, bases, returns, decorators, parameters, _ = zip(
            *facts.definitions, strict=True
        )
        names.update(name, signature, returns, *bases, *decorators, *chain.from_iterable(parameters))
    for module, imported, alias, *_ in facts.imports:
        names.update((module, imported, alias))
    names.update([reference[0] for reference in facts.references])
    names.update([binding[0] for binding in facts.bindings], [binding[1] for binding in facts.bindings])
    return names


def _suspects(names: set[str]) -> list[str]:
    """Long and with a digit, or an address: of what stands in code, no other name is taken for a secret."""
    found = [name for name in names if len(name) >= 16 and _DIGIT(name) and _LONG(name)]
    together = "\n".join(names)
    if "@" in together or "://" in together:
        found += [name for name in names if "@" in name or "://" in name]
    return found


def _is_telling(doc: str) -> bool:
    """One expression for all of it would say the same, and take five times as long."""
    lowered = doc.casefold()
    for word in _TELLING:
        if word in lowered:
            return True
    return bool(
        _DIGIT(doc)
        or _KEY(doc)
        or ("pin" in lowered and _PIN(lowered))
        or (max(map(len, doc.split()), default=0) >= 20 and _RUN(doc))
    )


def _redacted(texts: Sequence[str]) -> dict[str, str]:
    """What those with secrets are without them. Mostly there are none: all are looked at as one first."""
    from recollect.text.redact import redact  # its rules take 30 ms to load

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
