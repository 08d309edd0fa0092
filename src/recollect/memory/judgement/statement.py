"""Parse a statement into comparable words: numbers, units, contractions and synonyms get one form.

There is no grammar, only the clues in short technical notes: where the verb is, what is written as code, which clause a
"not" is in.
"""

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from enum import StrEnum
from functools import lru_cache
from itertools import takewhile

from recollect.frozen import frozen
from recollect.memory.judgement import word_tables as tables
from recollect.text.stem import strip_endings


class TokenKind(StrEnum):
    """What a token is, which decides what it can be compared with."""

    WORD = "word"
    LIGHT = "light"  # may be opposed to another word, but changes nothing by itself
    NUMBER = "number"  # ports and versions too
    DURATION = "duration"
    SIZE = "size"
    TIME = "time"  # of the day
    PATH = "path"
    CODE = "code"


@frozen
class Token:
    """A word of a statement, with its neighbours."""

    word: str  # stemmed; all synonyms have the same
    surface: str
    kind: TokenKind
    before: str  # the word before it in lower case; "" at the start of a clause
    after: str  # the word after it
    in_subject: bool
    slot: str = ""  # the word before its phrase, articles left out: "in" for "in the cache"


class Revision(StrEnum):
    """Whether a statement says of itself that it differs from what held before."""

    NONE = ""
    CHANGE = "change"  # "from now on", "instead"
    CORRECTION = "correction"  # "actually", "forget", "no longer"


@frozen
class Clause:
    """The words of a clause, and how often it says "not"."""

    words: frozenset[str]
    negations: int


@frozen
class Statement:
    """A parsed statement."""

    tokens: dict[str, Token]  # by word; the first of each
    content: frozenset[str]  # the words that are not light
    clauses: tuple[Clause, ...]
    rejected: frozenset[str]  # "instead of X", "from X to …", "X was replaced"
    scopes: dict[str, frozenset[str]]  # "environment" → {"production"}
    subject: frozenset[str]
    has_exception: bool
    permits: bool
    imperative: str  # the verb that a command starts with, or ""
    stance: str  # the word that denies ("never", "no longer") or insists ("always"), or ""
    is_event: bool  # it tells what was done once, like the subject of a commit
    lowers: frozenset[str]  # all words that are not code, in lower case
    may_be_event: bool  # the same, or a rule: "Add a trailing comma"
    order: (
        str | None
    )  # the verb, if it only says what to do, once or always: "Use CLDR 35.1"; "" without one; None if it says what holds
    claims: bool  # it says something of something, unlike "Python 3.12 compatibility"
    conditions: frozenset[str]  # the words after "if": the statement holds only then
    restrictions: frozenset[str]  # the words of "that were cancelled": it holds only for these
    sequences: tuple[tuple[frozenset[str], frozenset[str]], ...]  # the words of what comes earlier, and later
    is_question: bool
    first_words: frozenset[str]  # the first two, in lower case
    asides: frozenset[str]  # the words of its reasons, which it does not state
    revision: Revision
    revision_words: str  # "from now on", "actually"; "" without


@lru_cache(maxsize=2048)
def parse(text: str) -> Statement:
    """Return the statement in `text`."""
    raws = list(_raws(_spell_out(text)))
    verb = _verb(raws)
    tokens = _tokens(raws, verb)
    content = frozenset(word for word, token in tokens.items() if token.kind is not TokenKind.LIGHT)
    clauses = _clauses(raws)
    lowers = {raw.lower for raw in raws if not raw.in_code}
    stance = _STANCE.search(text)
    revision, revision_words = _revision(text)
    return Statement(
        tokens=tokens,
        content=content,
        clauses=clauses,
        rejected=_rejected(raws) & content,
        scopes=_scopes(raws),
        subject=_subject(raws, verb),
        has_exception=not lowers.isdisjoint(tables.EXCEPTIONS),
        permits=not lowers.isdisjoint(tables.PERMISSIONS)
        and lowers.isdisjoint(("max", "only"))
        and not any(clause.negations for clause in clauses),
        imperative=raws[0].word if raws and verb == 0 else "",
        stance=stance[0].lower() if stance else "",
        is_event=_is_event(text, raws),
        lowers=frozenset(lowers),
        may_be_event=_may_be_event(raws),
        order=_order(raws) if revision_words in ("", "instead") else None,
        claims=verb < len(raws)
        or "→" in text
        or "->" in text
        or any(raw.word in _PREDICATES for raw in raws)
        or any(_is_verb_of_object(raws, place) for place in range(1, len(raws) - 1))
        or (len(raws) > 2 and raws[0].lower in _PRONOUNS),
        conditions=_conditions(raws),
        restrictions=_restrictions(raws),
        sequences=_sequences(raws),
        is_question=_is_question(text, raws),
        first_words=frozenset(raw.lower for raw in raws[:2]),
        asides=frozenset(raw.word for raw in raws if raw.word and raw.word not in tokens),
        revision=revision,
        revision_words=revision_words,
    )


@lru_cache(maxsize=8192)
def canonical(word: str) -> str:
    """Return the stem of `word`, or of the synonym that stands for it."""
    root = strip_endings(word)
    return _CANONICAL.get(root, root)


def canonical_set(words: Iterable[str]) -> frozenset[str]:
    """Return the canonical form of each word."""
    return frozenset(map(canonical, words))


def add_known_tool(tool: str) -> None:
    """Read `tool` as one word from now on, even if it has a hyphen or a dot."""
    _KNOWN.add(tool)


def word_set(words: str) -> frozenset[str]:
    """Return the words of a line."""
    return frozenset(words.split())


@dataclass(slots=True)
class _RawToken:
    """A token as it is read, before any is left out."""

    surface: str
    lower: str
    word: str = ""  # "" for a stop word
    kind: TokenKind = TokenKind.WORD
    in_code: bool = False
    is_break: bool = False
    negates: bool = False
    in_compound: bool = False  # "deleted" in "soft-deleted": names what is so, and is no verb


def _tokens(raws: list[_RawToken], verb: int) -> dict[str, Token]:
    tokens: dict[str, Token] = {}
    is_aside = False  # in the reason for the statement, which it does not state
    for place, raw in enumerate(raws):
        if raw.is_break or raw.lower in _ASIDES:
            is_aside = raw.lower in _REASONS or raw.lower in _ASIDES
        elif raw.lower == "once":  # "once the tests pass", unlike "at least once" and "once a day"
            is_aside |= (
                _lower_at(raws, place + 1) not in _AFTER_ONCE
                and _lower_at(raws, place - 1) not in _BEFORE_ONCE
            )
        if not raw.word or (is_aside and raw.kind is TokenKind.WORD) or (is_aside and raw.lower == "once"):
            continue
        kind = raw.kind
        if kind is TokenKind.WORD and raw.word in _HEADS and not _is_modifier(raws, place):
            kind = TokenKind.LIGHT
        if raw.word not in tokens or tokens[raw.word].kind is TokenKind.LIGHT:
            before, after = _lower_at(raws, place - 1), _lower_at(raws, place + 1)
            slot = _slot(raws, place)
            tokens[raw.word] = Token(raw.word, raw.surface, kind, before, after, place < verb, slot)
    return tokens


def _lower_at(raws: list[_RawToken], place: int) -> str:
    """Return the word at `place`, or "" beyond the clause."""
    return raws[place].lower if 0 <= place < len(raws) and not raws[place].is_break else ""


def _slot(raws: list[_RawToken], place: int) -> str:
    """Return the word before the phrase that the token at `place` is in."""
    before = place - 1
    while before >= 0 and not raws[before].is_break and raws[before].lower in _ARTICLES - {"to"}:
        before -= 1
    return _lower_at(raws, before)


def _clauses(raws: list[_RawToken]) -> tuple[Clause, ...]:
    clauses: list[Clause] = []
    words: set[str] = set()
    negations = 0
    for raw in (*raws, _RawToken("", "", is_break=True)):
        if raw.is_break:
            if words or negations:
                clauses.append(Clause(frozenset(words), negations))
            words, negations = set(), 0
        negations += raw.negates
        if raw.word:
            words.add(raw.word)
    return tuple(clauses)


def _spell_out(text: str) -> str:
    text = " ".join(text.translate(_TYPOGRAPHY).split())
    for pattern, replacement in _SPELLINGS:
        text = pattern.sub(replacement, text)
    return _PHRASE.sub(lambda phrase: _PHRASES[phrase[0].lower()], text)


def _raws(text: str) -> Iterator[_RawToken]:
    number: _RawToken | None = None  # the last token, until we know whether a unit follows
    before = before_number = last = ""
    for part, segment in enumerate(_QUOTED.split(text)):
        for match in _TOKEN.finditer(segment):
            for raw in _read(match, in_code=part % 2 == 1, before=before):
                before = raw.lower
                if number and raw.lower in _UNITS and not raw.in_code:
                    yield _measure(number, raw.lower)
                    number = None
                    continue
                if number and raw.lower in _HALVES_OF_DAY and not raw.in_code:
                    yield _time(number, raw.lower)
                    number = None
                    continue
                if number:
                    yield _hour(number, before_number, raw)
                    number = None
                if raw.kind is TokenKind.NUMBER:
                    number, before_number = raw, last
                else:
                    yield raw
                last = raw.lower
    if number:
        yield _hour(number, before_number, None)


def _read(token: re.Match[str], in_code: bool, before: str) -> Iterator[_RawToken]:
    surface = token[0]
    lower = surface.lower()
    match token.lastgroup:
        case "break":
            yield _RawToken(surface, lower, is_break=not in_code)
        case "number":
            number, unit = token["digits"].lower(), token["unit"].lower()
            raw = _RawToken(surface, lower, _plain_number(number), TokenKind.NUMBER)
            if not unit:
                yield _clock_time(raw)
            elif unit == "k" and _DECIMAL.fullmatch(raw.word):
                yield replace(raw, word=f"{1000 * float(raw.word):.12g}")
            elif unit in _HALVES_OF_DAY:
                yield _time(raw, unit)
            elif unit in _UNITS:
                yield _measure(raw, unit)
            else:
                yield _RawToken(surface, lower, lower)
        case "flag":
            yield _RawToken(surface, lower, lower, TokenKind.CODE, in_code)
        case "path" if not _is_path(surface):
            for part in lower.split("/"):
                yield from _plain(part, part, in_code, before)
        case "path":
            yield _RawToken(surface, lower, lower.strip("/."), TokenKind.PATH, in_code)
        case _:
            yield from _plain(surface, lower.rstrip("()"), in_code, before)


def _plain(surface: str, lower: str, in_code: bool, before: str) -> Iterator[_RawToken]:
    if lower in _KNOWN:
        yield _RawToken(
            surface, lower, canonical(lower), TokenKind.CODE if in_code else TokenKind.WORD, in_code
        )
    elif "." in lower and lower.rpartition(".")[2] in tables.FILE_EXTENSIONS:
        yield _RawToken(surface, lower, lower, TokenKind.PATH, in_code)
    elif _is_identifier(surface, lower):
        yield _RawToken(surface, lower, lower, TokenKind.CODE, in_code)
    elif "-" in lower:
        for part in lower.split("-"):  # "soft-deleted" names what is so, and denies nothing
            for raw in _plain(part, part, in_code, "-"):
                yield replace(raw, in_compound=True)
    elif in_code:
        yield _RawToken(surface, lower, canonical(lower), TokenKind.CODE, in_code)
    elif lower in tables.NUMBERS:
        yield _RawToken(surface, lower, str(tables.NUMBERS[lower]), TokenKind.NUMBER)
    elif lower in tables.FREQUENCIES:
        yield _RawToken(surface, lower, f"{tables.FREQUENCIES[lower]:g}s", TokenKind.DURATION)
    elif _negates(lower, before):
        yield _RawToken(surface, lower, negates=True)
    elif lower == "insteadof":
        yield _RawToken(surface, lower, is_break=True, negates=True)
    elif lower in _CLAUSE_WORDS:
        yield _RawToken(surface, lower, is_break=True)
    elif lower in tables.STOP_WORDS or lower in tables.EXCEPTIONS or lower in _MARKERS:
        yield _RawToken(surface, lower)
    elif lower:
        word = canonical(lower)
        is_light = word in _LIGHT and not _is_noun_of_verb(lower)
        yield _RawToken(surface, lower, word, TokenKind.LIGHT if is_light else TokenKind.WORD)


def _is_noun_of_verb(word: str) -> bool:
    """Return whether the word is a thing, though its verb says little: "migrations", unlike "options"."""
    one = word.removesuffix("s")
    return one.endswith(("tion", "ment")) and one not in tables.LIGHT_WORDS


def _is_identifier(surface: str, lower: str) -> bool:
    """Return whether it looks like code: `load_user`, `Client.fetch`, `select()`, `eu-west-1`."""
    numbered = "-" in lower and any(letter.isdigit() for letter in lower)
    return numbered or "_" in lower.strip("_") or "." in lower or surface.endswith(("(", "()"))


def _negates(word: str, before: str) -> bool:
    if word in tables.ENDED_ACTS and before.isalnum() and before not in _NOT_PAST:
        return True
    return word in tables.NEGATIONS or (word in tables.ENDED_STATES and before in _BEFORE_STATES)


def _revision(text: str) -> tuple[Revision, str]:
    prose = _NO_REVISION.sub(" ", _QUOTED.sub(" ", text))
    for pattern, revision in ((_CORRECTION, Revision.CORRECTION), (_NEW_STATE, Revision.CHANGE)):
        if found := pattern.search(prose):
            return revision, found[0].lower()
    return Revision.NONE, ""


def _measure(number: _RawToken, unit: str) -> _RawToken:
    amount = float(number.word) if _DECIMAL.fullmatch(number.word) else 0.0
    surface = (
        f"{number.surface} {unit}" if number.surface.lower() != f"{number.word}{unit}" else number.surface
    )
    if unit in tables.SECONDS:
        seconds = amount * tables.SECONDS[unit]
        if seconds and seconds % _TWELVE_MONTHS == 0:  # 12 months are the year that people mean
            seconds *= tables.SECONDS["year"] / _TWELVE_MONTHS
        return _RawToken(surface, unit, f"{seconds:g}s", TokenKind.DURATION)
    scale = tables.BYTES[unit]
    while amount >= 1_024 and amount % 1_024 == 0:  # 2048 MB are the 2 GB that people mean
        amount, scale = amount / 1_024, scale * 1_000
    return _RawToken(surface, unit, f"{amount * scale:.12g}b", TokenKind.SIZE)


def _plain_number(number: str) -> str:
    """Return one form of a number or version: "1,024" is "1024", "v20" and "20.0" are "20"."""
    plain = number.removeprefix("v").replace(",", "").replace("_", "")
    if _DECIMAL.fullmatch(plain):
        return plain.removesuffix(".0")
    return plain


def _clock_time(number: _RawToken) -> _RawToken:
    """Return "02:30" as a time of the day; other numbers unchanged."""
    if (clock := _CLOCK.fullmatch(number.word)) and int(clock[1]) < 24 and int(clock[2]) < 60:
        return replace(number, word=f"{int(clock[1]):02}:{clock[2]}", kind=TokenKind.TIME)
    return number


def _time(number: _RawToken, half: str) -> _RawToken:
    """Return "3 pm" as 15:00."""
    clock = _CLOCK.fullmatch(number.word) or _CLOCK.fullmatch(f"{number.word}:00")
    if clock is None or int(clock[1]) > 12 or int(clock[2]) > 59:
        return number
    hour = int(clock[1]) % 12 + (12 if half == "pm" else 0)
    return replace(
        number, surface=f"{number.surface} {half}", word=f"{hour:02}:{clock[2]}", kind=TokenKind.TIME
    )


def _hour(number: _RawToken, before: str, after: _RawToken | None) -> _RawToken:
    """Return the number in "at 3" or "at 3 UTC" as a time of the day; other numbers unchanged."""
    if number.kind is not TokenKind.NUMBER or before != "at" or not number.word.isdecimal():
        return number
    ends = after is None or after.is_break or after.lower in _AFTER_HOUR
    if not ends or int(number.word) > 23:
        return number
    return replace(number, word=f"{int(number.word):02}:00", kind=TokenKind.TIME)


def _is_event(text: str, raws: list[_RawToken]) -> bool:
    """Return whether the text tells what was done once, as the subjects of commits do, and not what holds."""
    if (
        (_COMMIT.match(text) and not _LABEL.fullmatch(text))
        or _PR_NUMBER.search(text)
        or _RELEASE.fullmatch(text)
        or (
            (part := _RELEASE_OF.fullmatch(text)) and part[1].lower() not in _TOOLS
        )  # unlike "python: v3.12.1"
    ):
        return True
    if not raws or raws[0].in_code:
        return False
    if raws[0].lower in tables.DONE_ONCE:
        return True
    # "config: inline `parse`" names where something was done
    stated = _without_labels(raws)
    if stated is raws or stated[0].in_code:
        return False
    return (
        raws[0].lower in tables.DONE_AT_ONCE or stated[0].lower in tables.DONE_ONCE | tables.DONE_BY_COMMITS
    )


def _may_be_event(raws: list[_RawToken]) -> bool:
    if not raws or raws[0].in_code:
        return False
    if raws[0].lower not in tables.DONE_BY_COMMITS:
        return len(raws) > 1 and (raws[0].lower, raws[1].lower) == ("document", "that")
    if _is_followed_by_auxiliary(raws):  # "port is 8080", "release notes are made from…"
        return False
    stated = list(takewhile(lambda raw: raw.lower not in _RELATIVE, raws))
    if raws[0].lower in tables.DONE_AT_ONCE:
        return not any(raw.lower in _RULE_MARKS for raw in stated)
    return not any(
        raw.lower in _HABITS or (raw.negates and raw.lower not in tables.ENDED_STATES) for raw in stated
    )


def _order(raws: list[_RawToken]) -> str | None:
    """Return the verb if the text says what to do or names it, and neither that it holds nor when or how often to do it.

    "Use pnpm" and the subject of a commit look alike. "Formatting: black" says what holds.
    """
    stated = _without_labels(raws)
    manner = stated[0].lower.endswith("ly") and stated[0].lower not in _HOW_OFTEN if stated else False
    if len(stated) > 2 and (manner or stated[0].lower in ("just", "also")):
        stated = stated[1:]
    if len(stated) < 2 or stated[0].in_code or stated[0].lower in _ARTICLES | _PRONOUNS:
        return None
    is_labelled = any(raw.surface == ":" for raw in raws[:_LONGEST_LABEL]) and raws[0].surface[0].islower()
    is_order = _is_order(stated)
    # "Middleware: avoid hiding …" tells of one place, and "suppress tests which are slow" says which.
    marks = stated[1:] if is_labelled else takewhile(_is_main, stated) if is_order else stated
    if any(_marks_rule(raw) or raw.surface in ("=", ":") for raw in marks):
        return None
    if is_order:
        verb = stated[0].word if stated[0].lower in _BASE_FORMS else ""
        return verb if not any(raw.lower in _HABITUAL for raw in stated) else None
    first = list(takewhile(lambda raw: not (raw.is_break or raw.lower in _ENDS_OF_NOUNS), stated))
    named = len(first) < len(stated) and stated[len(first)].lower in _RELATIVE  # "parse formats that …"
    if not named and any(
        _is_third_person(first, place) for place in range(1, len(first))
    ):  # "upload concurrency defaults to 5"
        return None
    if stated[0].lower in _BASE_FORMS:
        return stated[0].word
    if any(raw.surface == ":" for raw in raws):  # "cldr: parse …", unlike "Cache: expires …"
        return stated[0].word if is_labelled and not _is_third_person(stated, 0) else None
    says_what_holds = any(
        (_is_verb(raw) and raw.lower != "errors") or _is_third_person(stated, place)
        for place, raw in enumerate(stated)
    )
    return "" if not says_what_holds else None


def _is_order(raws: list[_RawToken]) -> bool:
    """Return whether the first word can only be the verb of an order: "suppress errors", "address the warnings"."""
    first, second = raws[0].lower, raws[1].lower
    if first in tables.ONLY_VERBS:
        return second not in _AUXILIARIES
    is_other = (
        first in _NO_VERBS or first.endswith(("ing", "ed")) or (first.endswith("s") and first[-2:] != "ss")
    )
    return second in _DETERMINERS and bool(raws[0].word) and raws[0].word.isalpha() and not is_other


def _is_main(raw: _RawToken) -> bool:
    """Return whether the clause that says what to do goes on."""
    return raw.lower not in _SUBORDINATE


def _without_labels(raws: list[_RawToken]) -> list[_RawToken]:
    """Return the words behind "core: tests:", by which the subject of a commit says where something was done."""
    stated = raws
    while len(stated) > _LONGEST_LABEL and ":" in (
        label := [raw.surface for raw in stated[1:_LONGEST_LABEL]]
    ):
        stated = stated[label.index(":") + 2 :]
    return stated


def _marks_rule(raw: _RawToken) -> bool:
    """Return whether the word says that something holds, or is to be done always or never."""
    denies = raw.negates and raw.lower not in _MARKERS
    return denies or raw.lower in _RULE_MARKS or raw.lower in _FINITE


def _is_verb_of_object(raws: list[_RawToken], place: int) -> bool:
    """Return whether the word can only be a verb in the third person: "the firmware samples the sensor"."""
    lower = raws[place].lower
    is_third = lower.endswith("s") and not lower.endswith("ss") and bool(raws[place - 1].word)
    return is_third and raws[place + 1].lower in _OF_OBJECTS


def _is_third_person(raws: list[_RawToken], place: int) -> bool:
    """Return whether the word is a verb in the third person, unlike "tests" in "some tests" and "warnings"."""
    raw = raws[place]
    if raw.word not in VERBS | _PREDICATES or not raw.lower.endswith("s") or raw.lower in _BASE_FORMS:
        return False
    return (
        not raw.lower.endswith(("ings", "errors"))
        and _lower_at(raws, place - 1) not in _PREPOSITIONS | _DETERMINERS
    )


def _is_followed_by_auxiliary(raws: list[_RawToken]) -> bool:
    """Return whether the first words name what is spoken of."""
    for raw in raws[1:]:
        if raw.is_break or raw.lower in _PREPOSITIONS or raw.lower in _ARTICLES:
            return False
        if raw.lower in _AUXILIARIES:
            return True
    return False


def _conditions(raws: list[_RawToken]) -> frozenset[str]:
    """Return the words of the clause after "if"."""
    words: set[str] = set()
    inside = False
    for raw in raws:
        inside = not raw.is_break and (inside or raw.lower == "if")
        if inside and raw.word:
            words.add(raw.word)
    return frozenset(words)


def _restrictions(raws: list[_RawToken]) -> frozenset[str]:
    """Return the words of clauses that say which things are meant: "jobs that were cancelled by the user"."""
    words: set[str] = set()
    inside = False
    for place, raw in enumerate(raws):
        starts = raw.lower in _RELATIVE and place > 0 and bool(raws[place - 1].word)
        inside = not raw.is_break and (inside or starts)
        if inside and raw.word:
            words.add(raw.word)
    return frozenset(words)


def _sequences(raws: list[_RawToken]) -> tuple[tuple[frozenset[str], frozenset[str]], ...]:
    """Return what comes before what: "deploy the API before the worker", "after the build, run the tests"."""
    clauses: list[list[_RawToken]] = [[]]
    for raw in raws:
        if raw.is_break:
            clauses.append([])
        else:
            clauses[-1].append(raw)
    sequences = []
    for number, clause in enumerate(clauses):
        for place, raw in enumerate(clause):
            if raw.lower not in ("before", "after"):
                continue
            behind = _things(clause[place + 1 :])
            ahead = _things(clause[:place]) or _things(
                clauses[number + 1] if number + 1 < len(clauses) else []
            )
            if ahead and behind:
                sequences.append((ahead, behind) if raw.lower == "before" else (behind, ahead))
    return tuple(sequences)


def _things(raws: list[_RawToken]) -> frozenset[str]:
    kinds = (TokenKind.WORD, TokenKind.CODE, TokenKind.PATH)
    return frozenset(raw.word for raw in raws if raw.word and raw.kind in kinds)


def _is_question(text: str, raws: list[_RawToken]) -> bool:
    """Return whether the text asks and states nothing."""
    if not text.rstrip().endswith("?"):
        return False
    return "?" not in text.rstrip()[:-1] and not (raws and raws[0].lower == "if")


def _is_path(surface: str) -> bool:
    """Return whether it is a path, unlike "Given/When/Then" or "HTTP/2"."""
    return surface.startswith(("/", "~", ".")) or surface.endswith("/") or "." in surface or surface.islower()


def _is_modifier(raws: list[_RawToken], place: int) -> bool:
    """Return whether the noun at `place` qualifies the next one: "module" in "module tests"."""
    behind = raws[place + 1] if place + 1 < len(raws) else None
    return behind is not None and behind.kind is TokenKind.WORD and bool(behind.word) and not _is_verb(behind)


def _verb(raws: list[_RawToken]) -> int:
    """Return where the subject ends: at the first verb, or at the end; 0 for a command."""
    if raws and _is_command(raws):
        return 0
    for place, raw in enumerate(raws):
        if place > 0 and _is_verb(raw) and raws[place - 1].lower not in _ARTICLES:
            return place
    return len(raws)


def _is_command(raws: list[_RawToken]) -> bool:
    first = raws[0]
    if first.negates or first.lower in _FIRST:
        return True
    if first.word not in _COMMANDS or first.lower.endswith("s"):
        return False
    for raw in raws[1:]:  # "release branches are …" speaks of branches
        if raw.is_break or raw.lower in _PREPOSITIONS or raw.lower in _ARTICLES:
            break
        if _is_verb(raw):
            return False
    return True


def _is_verb(raw: _RawToken) -> bool:
    if raw.lower in _AUXILIARIES or raw.surface in ("=", ":"):
        return True
    return (
        raw.word in VERBS
        and not raw.in_code
        and not raw.in_compound
        and not raw.lower.endswith(("ment", "ion", "ance"))
    )


def _subject(raws: list[_RawToken], verb: int) -> frozenset[str]:
    """Return the words before the verb; for a command or a pronoun ("we use X for Y"), those of its object or purpose."""
    before = frozenset(raw.word for raw in raws[:verb] if raw.word and raw.kind is not TokenKind.LIGHT)
    if before:
        return before
    rest = raws[verb:]
    while rest and (rest[0].negates or rest[0].lower in _AUXILIARIES or rest[0].lower in _FIRST):
        rest = rest[1:]
    if rest and rest[0].word in _COMMANDS:
        rest = rest[1:]
    aims = [place for place, raw in enumerate(rest) if raw.lower == "for"]
    if aims:
        rest = rest[aims[0] + 1 :]
    words: list[str] = []
    for raw in rest:
        if raw.lower in _PREPOSITIONS and words:
            break
        if raw.word and raw.kind is TokenKind.WORD:
            words.append(raw.word)
    return frozenset(words)


def _rejected(raws: list[_RawToken]) -> frozenset[str]:
    """Return the words for what is over: "X" in "Y instead of X", "from X to Y", "X was replaced by Y"."""
    rejected: set[str] = set()
    changes = False
    for place, raw in enumerate(raws):
        is_noun = place == 1 and raw.lower == "changes"  # "distill changes from the log into …"
        changes = not raw.is_break and (changes or (raw.word in _CHANGES and not is_noun))
        before = raws[place - 1].lower if place else ""
        passive = before in _PASSIVE
        if raw.lower in ("was", "were") and _is_other_number(raws, place):
            rejected.add(raws[place - 1].word)
        if raw.lower == "insteadof" or (raw.lower == "from" and changes and _leads_to(raws, place)):
            rejected |= _phrase_after(raws, place)
        elif raw.lower in _REPLACED:
            rejected |= _clause_before(raws, place) if passive else _phrase_after(raws, place)
        elif raw.negates and (raw.lower in tables.ENDED_ACTS or raw.lower in tables.ENDED_STATES):
            acts = raw.lower in tables.ENDED_ACTS and not passive
            rejected |= _phrase_after(raws, place) if acts else _clause_before(raws, place)
    return frozenset(rejected)


def _is_other_number(raws: list[_RawToken], place: int) -> bool:
    """Return whether a clause begins with a number that was, after another: "on port 6400, 6006 was taken"."""
    first = place - 1
    is_clause = first > 0 and raws[first - 1].is_break and raws[first].kind is TokenKind.NUMBER
    return is_clause and any(raw.kind is TokenKind.NUMBER for raw in raws[: first - 1])


def _leads_to(raws: list[_RawToken], place: int) -> bool:
    for raw in raws[place + 1 : place + 8]:
        if raw.is_break or raw.lower in ("to", "into", "onto"):
            return not raw.is_break
    return False


def _phrase_after(raws: list[_RawToken], place: int) -> set[str]:
    words: set[str] = set()
    for raw in raws[place + 1 :]:
        if raw.is_break or (raw.lower in _PREPOSITIONS and words) or raw.lower in _MARKERS:
            break
        if raw.word:
            words.add(raw.word)
    return words


def _clause_before(raws: list[_RawToken], place: int) -> set[str]:
    words: set[str] = set()
    for raw in reversed(raws[:place]):
        if raw.is_break:
            break
        if raw.word and raw.kind is not TokenKind.LIGHT:
            words.add(raw.word)
    return words


def _scopes(raws: list[_RawToken]) -> dict[str, frozenset[str]]:
    scopes: dict[str, set[str]] = {}
    for place, raw in enumerate(raws):
        if raw.lower in ("develop", "develops", "developed"):
            continue  # what somebody does, not where
        if raw.word in _SCOPE_OF and not raw.in_code and not (place == 0 and raw.word in _COMMANDS):
            scopes.setdefault(_SCOPE_OF[raw.word], set()).add(raw.word)
        elif raw.word in LANGUAGES and _bounds(raws, place):
            scopes.setdefault("language", set()).add(raw.word)
    return {scope: frozenset(words) for scope, words in scopes.items()}


def _bounds(raws: list[_RawToken], place: int) -> bool:
    """Return whether the language at `place` limits the subject ("Python code", "for Python")."""
    before = raws[place - 1].lower if place else ""
    after = raws[place + 1] if place + 1 < len(raws) else None
    if before == "for" or (before == "in" and place == 1):
        return True
    return after is not None and bool(after.word) and after.kind in (TokenKind.WORD, TokenKind.LIGHT)


_TYPOGRAPHY = str.maketrans({"’": "'", "‘": "'", "“": '"', "”": '"', "–": ",", "—": ",", "→": " to "})
_SPELLINGS = [
    (re.compile(pattern, re.IGNORECASE), replacement)
    for pattern, replacement in [
        (r"\bwon't\b", "will not"),
        (r"\b(?:can't|cannot|cant)\b", "can not"),
        (r"n't\b", " not"),
        # "Use tox, not just pytest" uses both.
        (r"(?<=[,;]) ?not (?:just|merely|simply) (?=\w)", " not only "),
        (r"\b(?:stop|stops|stopped|quit|skip|avoid) (?=\w{1,24}ing\b)", "not "),
        (r"\b(do|does|is|are|should|must|did|was)nt\b", r"\1 not"),
        (r"\b(we|you|they)'re\b", r"\1 are"),
        (r"\b(it|that|there|what|here)'s\b", r"\1 is"),
        (r"'(?:s|re|ve|ll|d|m)\b", ""),
        (r"\bno two (\w{1,24}) (?:share|have the same)\b", r"each \1 has its own"),
        (r"\b((?:is|are|was|be)(?: not)?) on(?=\s*(?:$|[.,;!]|by default|for (?:all|every)))", r"\1 enabled"),
        (r", (?:and )?not (?=(?:an? |the )?[\w`-]+(?: [\w`-]+)?\s*(?:$|[.,;!]))", " insteadof "),
        (r"(?:\((?:was|previously|formerly)|, (?:previously|formerly)) ", " insteadof "),
        (r"\b(prefer\w*|favou?r\w*) ([^.,;]{1,60}?) (?:over|to) (?!be\b)", r"\1 \2 insteadof "),
        (r"\band (?=(?:is|are|was|were|do|does|not|never|has|have)\b)", ", "),
        (r"\b(is|are) (?:now )?out(?=\s*(?:$|[.,;]))", r"\1 gone"),
        (r"\b(?-i:Go)\b(?! (?:to|through|over|back)\b)|\bgo(?= (?:code|modules?|version|\d))", "golang"),
        (r" (?:come |comes |go |goes )?first,? (?:and )?then\b", " before"),
        (r"\bno(?:body| one|ne|thing)?(?: \w{1,24})? (?:except|but|other than|apart from) (?=\w)", "only "),
        (r"\b(my|your|his|her|their|our) (?:ok|okay|go-ahead|blessing|say-so)\b", r"\1 approval"),
        (r"\blet ((?:the |our )?[@\w]{1,24}(?: [\w]{1,24})?) know\b", r"notify \1"),
        (r"\bevery other (?=(?:mon|tues|wednes|thurs|fri|satur|sun)day)", "fortnightly on "),
        (r", (?:and )?(?:nobody|no one|nothing) else\b[^.,;]{0,40}", " only"),
        (r">=\s?(?=v?\d)", "minimum "),
        (r"\b(?:is|are) (?:limited|restricted|reserved) (?:to|for) (?=[a-z])", "only "),
        (r"\b(?:is|are) the (?:one|ones|person|people) to (?=[a-z])", ""),
        (
            r"\b(?:forget|disregard|scrap) (?:about )?(?!that\b|this\b|it\b|what\b)(?=[\w`-]+(?: [\w`-]+)?\s*[,;])",
            "not ",
        ),
        (
            r"^without (?:an? |the )?([^,.;]{1,40}?)(?: up| running| set| installed)?, ([^,.;]{1,60}?) (?:fails?|breaks?|crash|crashes|hangs?)\b",
            r"\2 need \1",
        ),
        (r"\b(?:fails?|breaks?|crash|crashes|hangs?) without\b", "need"),
        (r"<=\s?(?=\d)", "max "),
        (r"\bend-to-end\b", "e2e"),
        (r"(?<=\w)::(?=[^\W\d])", "."),  # a name of code with where it is: `clippy::iter_skip_zero`
        (r"\b(read|pull|merge|lower|upper|camel|snake)-(?=only|request|case)", r"\1 "),
    ]
]
_TOKEN = re.compile(
    r"""
    (?P<url>https?://[^\s)>"']{1,200})
    | (?P<path>(?:~|\.{1,2})?/[\w@*.-]{1,64}(?:/[\w@*.-]{1,64}){0,12}/? | (?:[\w@*.-]{1,64}/){1,12}(?:[\w@*-]+(?:\.[\w*-]+)*)?)
    | (?P<flag>--?[a-z][\w-]*)
    | (?P<number>(?P<digits>v?\d+(?:[.,:_-]\d+)*)(?P<unit>[a-z]*))
    | (?P<word>[^\W\d][\w+\#]*(?:[-.'][^\W_]\w*)*(?:\(\)?)?)
    | (?P<break>[.,;:!?()\[\]={}])
    """,
    re.VERBOSE | re.IGNORECASE,
)
_DECIMAL = re.compile(r"\d+(?:\.\d+)?")
_CLOCK = re.compile(r"(\d{1,2}):(\d{2})")
_HALVES_OF_DAY = word_set("am pm")
_AFTER_HOUR = word_set("utc cet cest gmt est pst every each daily on in o'clock oclock")
# What stands between quotation marks or backticks is an error, code or a command: a "not" in it denies nothing.
_QUOTED = re.compile(r"""(`+[^`]*`+|"[^"]*")""")
_COMMIT = re.compile(
    r"\s*(?:\[[^\]\n]{1,40}\]|(?:feat|fix|docs?|chore|refactor|perf|tests?|build|ci|style|revert|deps|lint|typo|release|changelog|types?|meta|misc)(?:\([^)\n]{1,40}\))?!?:)\s"
    r"|\s*merge (?:pull request|branch|remote|tag|commit)\b|\s*revert \"",
    re.IGNORECASE,
)
_LABEL = re.compile(r"\s*[A-Z][a-z]+: \S+(?: \S+)?\s*")  # "Docs: Sphinx" says what is used
_RELEASE = re.compile(
    r"\s*(?:(?:start|begin|release|releasing|prepare|prep|bump|increment|raise|tag|publish|cut|set|new|next|the|for|to|version|number|dev|development)\s+){0,6}v?\d+\.\d+[\w.+-]*\s*",
    re.IGNORECASE,
)
_RELEASE_OF = re.compile(
    r"([\w/@.-]{1,40}): v\d{1,4}\.\d{1,6}\.\d{1,9}\S{0,40}"
)  # the subject of a commit that releases a part
_PR_NUMBER = re.compile(r"\(#\d{1,7}\)\s*$|\s#\d{2,7}\s*$")
_HABITS = word_set(
    "always must should please every each all any before after whenever when only ever shall need needs you we"
)
_RULE_MARKS = word_set("always must should please whenever ever shall you we i everyone everybody nobody")
_HABITUAL = word_set("always must should please whenever ever shall everyone everybody nobody never")
_SUBORDINATE = word_set("that which who whose where because since so than as now")
_DETERMINERS = word_set(
    "the a an some any all each every this these those our its their more another one few several"
)
_OF_OBJECTS = word_set("the a an each every its their our")
_FINITE = word_set("is are was were has have had may can will does would could might need needs our")
_LONGEST_LABEL = 3  # words and the colon: "import_cldr:", "fix test:"
_CANONICAL: dict[str, str] = {}
for _first, *_others in tables.SYNONYMS:
    for _word in _others:
        _CANONICAL.setdefault(strip_endings(_word), strip_endings(_first))

LANGUAGES = canonical_set(tables.FAMILIES["programming language"])
_TOOLS = {tool for tools in tables.FAMILIES.values() for tool in tools}
_KNOWN = {tool for tool in _TOOLS if re.search(r"[-.+#_\d]", tool)}
# "GitHub Actions" and "pip tools" are one word, however they are written.
_PHRASES = tables.PHRASES | {
    tool.replace("-", " ") + plural: tool for tool in _KNOWN if "-" in tool for plural in ("", "s")
}

_PHRASES |= {
    f"{part} {name}": f"{(hour + shift) % 24:02}:{minutes}"
    for part, minutes, shift in (("half past", "30", 0), ("quarter past", "15", 0), ("quarter to", "45", -1))
    for name, hour in tables.NUMBERS.items()
    if 1 <= hour <= 12
}


def _any_of(phrases: Iterable[str]) -> str:
    """Return a pattern for any of them, the longest first; grouped by initial, since `re` tries alternatives in turn."""
    by_initial: dict[str, list[str]] = {}
    for phrase in sorted(phrases, key=len, reverse=True):
        by_initial.setdefault(phrase[0], []).append(re.escape(phrase[1:]))
    return "|".join(f"{initial}(?:{'|'.join(rests)})" for initial, rests in by_initial.items())


_PHRASE = re.compile(rf"\b(?:{_any_of(_PHRASES)})\b", re.IGNORECASE)
_CORRECTION = re.compile(rf"\b(?:{_any_of(tables.CORRECTIONS)})\b", re.IGNORECASE)
_NEW_STATE = re.compile(rf"\b(?:{_any_of(tables.NEW_STATES)})\b", re.IGNORECASE)
_TWELVE_MONTHS = 12 * tables.SECONDS["month"]
_UNITS = tables.SECONDS.keys() | tables.BYTES.keys()
_SCOPE_OF = {canonical(word): scope for scope, words in tables.SCOPES.items() for word in words}
_LIGHT = canonical_set(tables.LIGHT_WORDS)
_HEADS = canonical_set(tables.HEAD_NOUNS)
VERBS = canonical_set(tables.VERBS)
_COMMANDS = canonical_set(tables.COMMANDS) | VERBS
_CHANGES = canonical_set(tables.CHANGES)
_BASE_FORMS = tables.COMMANDS | tables.ONLY_VERBS | tables.VERBS | tables.PREDICATES | tables.DONE_BY_COMMITS
_PREDICATES = canonical_set(tables.PREDICATES)
_STANCE = re.compile(
    rf"\b(?:no longer(?! than)|always|cannot|\w{{1,8}}n['’]t|{'|'.join(sorted(tables.NEGATIONS | tables.ENDED_STATES))})\b",
    re.IGNORECASE,
)
# A limit, what holds for a while, a reason, and what must not be forgotten: nothing has changed.
_NO_REVISION = re.compile(
    r"\b(?:no longer than|for now|now that|(?:don['’]t|do not|never) forget)\b", re.IGNORECASE
)
_PASSIVE = word_set("is are was were been being be got gets")
_REPLACED = word_set("replaced replaces superseded supersedes")
_MARKERS = word_set("insteadof infavourof")
_ARTICLES = word_set("the a an our this that each every its their your no to")
_AUXILIARIES = word_set(
    "is are was were be been has have had must should can may will do does did shall would could might need needs"
)
_FIRST = word_set("always please do prefer make ensure use let")
_PREPOSITIONS = word_set(
    "for to in on at by with from as into onto via through before after when if under using"
)
# "Were removed" ends something; "are removed" is a habit, and "the removed" or "of removed" names an object.
_NOT_PAST = word_set("is are be being gets get must should can and or of") | _ARTICLES | _PREPOSITIONS
_BEFORE_STATES = _PASSIVE | word_set("now officially long already fully finally has have had")
_PRONOUNS = word_set("i we you they")
_RELATIVE = word_set("that which who whose")
_ENDS_OF_NOUNS = _PREPOSITIONS | _ARTICLES | _RELATIVE | word_set("until till")
_NO_VERBS = _PREPOSITIONS | word_set(
    "only even half most many both twice double such what quite not no never during without within despite inside outside above below over"
)
_REASONS = word_set("because since so")
_ASIDES = word_set("until till")
_BEFORE_ONCE = word_set("least most minimum max exactly")
_AFTER_ONCE = word_set("a an per every daily more") | {""}
_CLAUSE_WORDS = word_set("but") | _REASONS
_HOW_OFTEN = word_set("hourly daily nightly weekly monthly quarterly yearly")  # "the nightly dump" is a thing
