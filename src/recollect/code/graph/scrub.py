"""Remove secrets and the texts of literals from the facts of a file before they are stored. Pure."""

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
# Without one of these, no redaction rule matches in a line of prose.
_TELLING = (
    *("@", "=", "://", "-----", "passw", "passphrase", "pwd", "secret", "token", "key"),
    *("credential", "bearer", "authoriz"),
)
_PIN = re.compile(r"pin\b").search
_KEY = re.compile(r"(?<![A-Za-z0-9])A[A-Z]{2}\w{8}").search
_RUN = re.compile(r"[\w+/-]{20}").search
_LONG = re.compile(r"[\w+/=-]{16,}").search


def scrub_secrets(facts: FileFacts, scrubbed: FileFacts | None = None) -> FileFacts:
    """Return the facts without secrets. A definition whose name is a secret stays, because it may contain others.

    `scrubbed` are those of an earlier version of the file: what they have is not searched again.
    """
    single = LANGUAGES[facts.language].has_single_quoted_strings
    if _QUOTE("\n".join([definition.signature for definition in facts.definitions])):
        definitions = [
            _without_literals(definition, single) if _QUOTE(definition.signature) else definition
            for definition in facts.definitions
        ]
        facts = replace(facts, definitions=definitions)
    if _QUOTE("\n".join([value for _, value, annotated, *_ in facts.bindings if annotated])):
        bindings = [
            definition._replace(value=_hidden(definition.value, single))
            if definition.annotated
            else definition
            for definition in facts.bindings
        ]
        facts = replace(facts, bindings=bindings)
    docs, suspects = _docs(facts), set(_suspects(_names(facts)))
    if scrubbed is not None:
        docs -= _docs(scrubbed)
        suspects -= _names(scrubbed) if suspects else set()
    secrets = _redacted([*filter(_is_telling, docs), *suspects])
    return _without(facts, secrets) if secrets else facts


def _without_literals(definition: Definition, single: bool) -> Definition:
    return definition._replace(
        signature=_hidden(definition.signature, single),
        returns=_hidden(definition.returns, single),
        parameters=tuple((name, _hidden(typed, single)) for name, typed in definition.parameters),
    )


def _hidden(text: str, single: bool) -> str:
    text = _LITERAL.sub('"…"', text)
    return _SINGLE.sub("'…'", text) if single else text


def _docs(facts: FileFacts) -> set[str]:
    return {facts.doc, *[definition.doc for definition in facts.definitions]}


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
    """Return names that may be secrets: long ones with a digit, and addresses. No other names in code match a rule."""
    found = [name for name in names if len(name) >= 16 and _DIGIT(name) and _LONG(name)]
    together = "\n".join(names)
    if "@" in together or "://" in together:
        found += [name for name in names if "@" in name or "://" in name]
    return found


def _is_telling(doc: str) -> bool:
    """Return whether a doc may contain a secret. One expression for all of this would take five times as long."""
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
    """Return the redacted text for each text with a secret. All are checked as one first, because most have none."""
    if not texts:
        return {}
    from recollect.text.redact import redact  # its rules take 30 ms to load

    if not redact("\n".join(texts))[1]:
        return {}
    clean = {text: redact(text)[0] for text in texts}
    return {text: found for text, found in clean.items() if found != text}


def _without(facts: FileFacts, secrets: Mapping[str, str]) -> FileFacts:
    def clean(text: str) -> str:
        return secrets.get(text, text)

    return replace(
        facts,
        doc=clean(facts.doc),
        definitions=[
            definition._replace(
                name=clean(definition.name),
                signature=clean(definition.signature),
                doc=clean(definition.doc),
                bases=tuple(base for base in definition.bases if base not in secrets),
                returns=clean(definition.returns),
                decorators=tuple(chain for chain in definition.decorators if chain not in secrets),
                parameters=tuple((clean(name), clean(typed)) for name, typed in definition.parameters),
            )
            for definition in facts.definitions
        ],
        imports=[definition for definition in facts.imports if secrets.keys().isdisjoint(definition[:3])],
        references=[definition for definition in facts.references if definition.chain not in secrets],
        bindings=[definition for definition in facts.bindings if secrets.keys().isdisjoint(definition[:2])],
        exports=[name for name in facts.exports if name not in secrets],
    )
