"""One statement, cut into words that can be compared: numbers, units, contractions and synonyms made alike.

There is no grammar here, only what a reader of short technical notes goes by: where the verb stands, what is written
as code, which clause a "not" stands in.
"""

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from enum import StrEnum
from functools import lru_cache

from recollect.memory.write import opposites


class Kind(StrEnum):
    WORD = "word"
    LIGHT = "light"  # may be opposed to another word, but alone changes nothing
    NUMBER = "number"  # ports and versions too
    DURATION = "duration"
    SIZE = "size"
    PATH = "path"
    CODE = "code"


@dataclass(frozen=True, slots=True)
class Token:
    word: str  # stemmed, and one for all its synonyms
    surface: str
    kind: Kind
    before: str  # the raw word in front, lower case; "" at the start of a clause
    after: str  # and the one behind
    in_subject: bool


@dataclass(frozen=True, slots=True)
class Clause:
    words: frozenset[str]
    negations: int


@dataclass(frozen=True, slots=True)
class Statement:
    tokens: dict[str, Token]  # by word, the first of each
    content: frozenset[str]  # of which those that are not light
    clauses: tuple[Clause, ...]
    rejected: frozenset[str]  # "instead of X", "from X to …", "X was replaced"
    scopes: dict[str, frozenset[str]]  # "environment" → {"production"}
    subject: frozenset[str]
    has_exception: bool
    permits: bool
    imperative: str  # the word of command it starts with, or ""
    stance: str  # the word it denies ("never", "no longer") or insists with ("always"), or ""


@lru_cache(maxsize=2048)
def parse(text: str) -> Statement:
    raws = list(_raws(_spell_out(text)))
    verb = _verb(raws)
    tokens = _tokens(raws, verb)
    content = frozenset(word for word, token in tokens.items() if token.kind is not Kind.LIGHT)
    clauses = _clauses(raws)
    lowers = {raw.lower for raw in raws if not raw.in_code}
    stance = _STANCE.search(text)
    return Statement(
        tokens=tokens,
        content=content,
        clauses=clauses,
        rejected=_rejected(raws) & content,
        scopes=_scopes(raws),
        subject=_subject(raws, verb),
        has_exception=not lowers.isdisjoint(_EXCEPTIONS),
        permits=not lowers.isdisjoint(_PERMISSIONS) and not any(clause.negations for clause in clauses),
        imperative=raws[0].word if raws and verb == 0 else "",
        stance=stance[0].lower() if stance else "",
    )


def stem(word: str) -> str:
    """The word without its endings: "formatted", "formatting" and "formats" alike. Not always a word itself."""
    word = _BRITISH.sub(r"iz\1", _IRREGULAR.get(word, word))
    if len(word) > 4 and word.endswith("ies"):
        word = word[:-3] + "y"
    elif len(word) > 3 and word.endswith("s") and not word.endswith(("ss", "us", "is")):
        word = word[:-1]
    for ending, shortest in _ENDINGS if word.endswith(_LAST_LETTERS) else ():
        if word.endswith(ending) and len(word) - len(ending) >= shortest:
            root = word[: -len(ending)]
            if _VOWEL.search(root) and not word.endswith("eed"):
                word = root
                break
    if len(word) > 3 and word[-1] == word[-2] and word[-1] not in "aeiouslz":
        word = word[:-1]
    return word[:-1] if len(word) > 3 and word.endswith("e") else word


@lru_cache(maxsize=8192)
def canonical(word: str) -> str:
    """The stem of `word`, or of the synonym that stands for it."""
    root = stem(word)
    return _CANONICAL.get(root, root)


def canonical_set(words: str) -> frozenset[str]:
    return frozenset(canonical(word) for word in words.split())


def word_set(words: str) -> frozenset[str]:
    return frozenset(words.split())


@dataclass(slots=True)
class _Raw:
    """A piece of text, before anything is left out."""

    surface: str
    lower: str
    word: str = ""  # "" for a word that says nothing
    kind: Kind = Kind.WORD
    in_code: bool = False
    is_break: bool = False
    negates: bool = False


def _tokens(raws: list[_Raw], verb: int) -> dict[str, Token]:
    tokens: dict[str, Token] = {}
    is_aside = False  # a reason given for the statement is not what it states
    for place, raw in enumerate(raws):
        if raw.is_break:
            is_aside = raw.lower in _REASONS
        if not raw.word:
            continue
        kind = raw.kind
        if kind is Kind.WORD and (is_aside or (raw.word in _HEADS and not _is_modifier(raws, place))):
            kind = Kind.LIGHT
        if raw.word not in tokens or tokens[raw.word].kind is Kind.LIGHT:
            before, after = _lower_at(raws, place - 1), _lower_at(raws, place + 1)
            tokens[raw.word] = Token(raw.word, raw.surface, kind, before, after, place < verb)
    return tokens


def _lower_at(raws: list[_Raw], place: int) -> str:
    """The word at `place`, "" where the clause has ended."""
    return raws[place].lower if 0 <= place < len(raws) and not raws[place].is_break else ""


def _clauses(raws: list[_Raw]) -> tuple[Clause, ...]:
    clauses: list[Clause] = []
    words: set[str] = set()
    negations = 0
    for raw in (*raws, _Raw("", "", is_break=True)):
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
    return _PHRASE.sub(lambda found: _PHRASES[found[0].lower()], text)


def _raws(text: str) -> Iterator[_Raw]:
    held: _Raw | None = None  # a number, until we know whether a unit follows
    before = ""
    for part, segment in enumerate(text.split("`")):
        for found in _TOKEN.finditer(segment):
            for raw in _read(found, in_code=part % 2 == 1, before=before):
                before = raw.lower
                if held and raw.lower in _UNITS and not raw.in_code:
                    yield _measure(held, raw.lower)
                    held = None
                    continue
                if held:
                    yield held
                    held = None
                if raw.kind is Kind.NUMBER:
                    held = raw
                else:
                    yield raw
    if held:
        yield held


def _read(found: re.Match[str], in_code: bool, before: str) -> Iterator[_Raw]:
    surface = found[0]
    lower = surface.lower()
    match found.lastgroup:
        case "break":
            yield _Raw(surface, lower, is_break=not in_code)
        case "number":
            number, unit = found["digits"].lower(), found["unit"].lower()
            raw = _Raw(surface, lower, number.removeprefix("v").replace(",", ""), Kind.NUMBER)
            if not unit:
                yield raw
            elif unit in _UNITS:
                yield _measure(raw, unit)
            else:
                yield _Raw(surface, lower, lower)
        case "flag":
            yield _Raw(surface, lower, lower.lstrip("-"), Kind.CODE, in_code)
        case "path" if not _is_path(surface):
            for part in lower.split("/"):
                yield from _plain(part, part, in_code, before)
        case "path":
            yield _Raw(surface, lower, lower.strip("/."), Kind.PATH, in_code)
        case _:
            yield from _plain(surface, lower.rstrip("()"), in_code, before)


def _plain(surface: str, lower: str, in_code: bool, before: str) -> Iterator[_Raw]:
    if lower in _KNOWN:
        yield _Raw(surface, lower, canonical(lower), Kind.CODE if in_code else Kind.WORD, in_code)
    elif "." in lower and lower.rpartition(".")[2] in _EXTENSIONS:
        yield _Raw(surface, lower, lower, Kind.PATH, in_code)
    elif _is_identifier(surface, lower):
        yield _Raw(surface, lower, lower, Kind.CODE, in_code)
    elif "-" in lower:
        for part in lower.split("-"):
            yield from _plain(part, part, in_code, before)
    elif in_code:
        yield _Raw(surface, lower, canonical(lower), Kind.CODE, in_code)
    elif lower in opposites.NUMBERS:
        yield _Raw(surface, lower, str(opposites.NUMBERS[lower]), Kind.NUMBER)
    elif lower in opposites.FREQUENCIES:
        yield _Raw(surface, lower, f"{opposites.FREQUENCIES[lower]:g}s", Kind.DURATION)
    elif _negates(lower, before):
        yield _Raw(surface, lower, negates=True)
    elif lower == "insteadof":
        yield _Raw(surface, lower, is_break=True, negates=True)
    elif lower in _CLAUSE_WORDS:
        yield _Raw(surface, lower, is_break=True)
    elif lower in _STOP or lower in _EXCEPTIONS or lower in _MARKERS:
        yield _Raw(surface, lower)
    elif lower:
        word = canonical(lower)
        yield _Raw(surface, lower, word, Kind.LIGHT if word in _LIGHT else Kind.WORD)


def _is_identifier(surface: str, lower: str) -> bool:
    """`load_user`, `Client.fetch`, `select()`, `eu-west-1`."""
    numbered = "-" in lower and any(letter.isdigit() for letter in lower)
    return numbered or "_" in lower.strip("_") or "." in lower or surface.endswith(("(", "()"))


def _negates(word: str, before: str) -> bool:
    if word in _ENDED_ACTS:
        return before.isalnum() and before not in _NOT_PAST
    return word in _NEGATIONS or word in _ENDED_STATES


def _measure(number: _Raw, unit: str) -> _Raw:
    amount = float(number.word) if _DECIMAL.fullmatch(number.word) else 0.0
    surface = (
        f"{number.surface} {unit}" if number.surface.lower() != f"{number.word}{unit}" else number.surface
    )
    if unit in opposites.SECONDS:
        return _Raw(surface, unit, f"{amount * opposites.SECONDS[unit]:g}s", Kind.DURATION)
    return _Raw(surface, unit, f"{amount * opposites.BYTES[unit]:.12g}b", Kind.SIZE)


def _is_path(surface: str) -> bool:
    """Not "Given/When/Then" or "HTTP/2"."""
    return surface.startswith(("/", "~", ".")) or surface.endswith("/") or "." in surface or surface.islower()


def _is_modifier(raws: list[_Raw], place: int) -> bool:
    """Whether the noun at `place` only tells which of what follows: "module" in "module tests"."""
    behind = raws[place + 1] if place + 1 < len(raws) else None
    return behind is not None and behind.kind is Kind.WORD and bool(behind.word) and not _is_verb(behind)


def _verb(raws: list[_Raw]) -> int:
    """Where the subject ends: at the first verb, or after everything; 0 for a command."""
    if raws and _is_command(raws):
        return 0
    for place, raw in enumerate(raws):
        if place > 0 and _is_verb(raw) and raws[place - 1].lower not in _ARTICLES:
            return place
    return len(raws)


def _is_command(raws: list[_Raw]) -> bool:
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


def _is_verb(raw: _Raw) -> bool:
    if raw.lower in _AUXILIARIES or raw.surface in ("=", ":"):
        return True
    return raw.word in VERBS and not raw.in_code and not raw.lower.endswith(("ment", "ion", "ance"))


def _subject(raws: list[_Raw], verb: int) -> frozenset[str]:
    """The words before the verb; of a command, or where a person speaks ("we use X for Y"), those of its object or aim."""
    before = frozenset(raw.word for raw in raws[:verb] if raw.word and raw.kind is not Kind.LIGHT)
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
        if raw.word and raw.kind is Kind.WORD:
            words.append(raw.word)
    return frozenset(words)


def _rejected(raws: list[_Raw]) -> frozenset[str]:
    """The words for what a statement says is over: "X" in "Y instead of X", "from X to Y", "X was replaced by Y"."""
    rejected: set[str] = set()
    changes = False
    for place, raw in enumerate(raws):
        changes = not raw.is_break and (changes or raw.word in _CHANGES)
        before = raws[place - 1].lower if place else ""
        passive = before in _PASSIVE
        if raw.lower == "insteadof" or (raw.lower == "from" and changes and _leads_to(raws, place)):
            rejected |= _phrase_after(raws, place)
        elif raw.lower in _REPLACED:
            rejected |= _clause_before(raws, place) if passive else _phrase_after(raws, place)
        elif raw.negates and (raw.lower in _ENDED_ACTS or raw.lower in _ENDED_STATES):
            acts = raw.lower in _ENDED_ACTS and not passive
            rejected |= _phrase_after(raws, place) if acts else _clause_before(raws, place)
    return frozenset(rejected)


def _leads_to(raws: list[_Raw], place: int) -> bool:
    for raw in raws[place + 1 : place + 8]:
        if raw.is_break or raw.lower in ("to", "into", "onto"):
            return not raw.is_break
    return False


def _phrase_after(raws: list[_Raw], place: int) -> set[str]:
    words: set[str] = set()
    for raw in raws[place + 1 :]:
        if raw.is_break or (raw.lower in _PREPOSITIONS and words) or raw.lower in _MARKERS:
            break
        if raw.word:
            words.add(raw.word)
    return words


def _clause_before(raws: list[_Raw], place: int) -> set[str]:
    words: set[str] = set()
    for raw in reversed(raws[:place]):
        if raw.is_break:
            break
        if raw.word and raw.kind is not Kind.LIGHT:
            words.add(raw.word)
    return words


def _scopes(raws: list[_Raw]) -> dict[str, frozenset[str]]:
    found: dict[str, set[str]] = {}
    for place, raw in enumerate(raws):
        if raw.word in _SCOPE_OF and not raw.in_code and not (place == 0 and raw.word in _COMMANDS):
            found.setdefault(_SCOPE_OF[raw.word], set()).add(raw.word)
        elif raw.word in LANGUAGES and _bounds(raws, place):
            found.setdefault("language", set()).add(raw.word)
    return {scope: frozenset(words) for scope, words in found.items()}


def _bounds(raws: list[_Raw], place: int) -> bool:
    """Whether the language at `place` says what is spoken of ("Python code", "for Python"), not what is said of it."""
    before = raws[place - 1].lower if place else ""
    after = raws[place + 1] if place + 1 < len(raws) else None
    if before == "for" or (before == "in" and place == 1):
        return True
    return after is not None and bool(after.word) and after.kind in (Kind.WORD, Kind.LIGHT)


_TYPOGRAPHY = str.maketrans({"’": "'", "‘": "'", "“": '"', "”": '"', "–": ",", "—": ",", "→": " to "})
_SPELLINGS = [
    (re.compile(pattern, re.IGNORECASE), replacement)
    for pattern, replacement in [
        (r"\bwon't\b", "will not"),
        (r"\b(?:can't|cannot|cant)\b", "can not"),
        (r"n't\b", " not"),
        (r"\b(do|does|is|are|should|must|did|was)nt\b", r"\1 not"),
        (r"'s\b", ""),
        (r"\b((?:is|are|was|be)(?: not)?) on(?=\s*(?:$|[.,;!]|by default))", r"\1 enabled"),
        (r", (?:and )?not (?=(?:an? |the )?[\w`-]+(?: [\w`-]+)?\s*(?:$|[.,;!]))", " insteadof "),
        (r"(?:\((?:was|previously|formerly)|, (?:previously|formerly)) ", " insteadof "),
        (r"\b(prefer\w*|favou?r\w*) ([^.,;]{1,60}?) (?:over|to) (?!be\b)", r"\1 \2 insteadof "),
        (r"\band (?=(?:is|are|was|were|do|does|not|never|has|have)\b)", ", "),
        (r"\b(is|are) (?:now )?out(?=\s*(?:$|[.,;]))", r"\1 gone"),
        (r"\b(?-i:Go)\b(?! (?:to|through|over|back)\b)|\bgo(?= (?:code|modules?|version|\d))", "golang"),
        (r"\bend-to-end\b", "e2e"),
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
_BRITISH = re.compile(r"(?<=\w{3})is(e[sd]?|ing|ations?)$")
_VOWEL = re.compile("[aeiouy]")
# What is cut off the end of a word, and how much must be left: "generation" and "generated" meet, "date" stays.
_ENDINGS = (
    ("ation", 4), ("ating", 4), ("ated", 4), ("ator", 4), ("ate", 4), ("ically", 3), ("ment", 4), ("ing", 3), ("ed", 3),
    ("ly", 4), ("ion", 3),
)  # fmt: skip
_LAST_LETTERS = tuple({ending[-1] for ending, _ in _ENDINGS})
_EXTENSIONS = word_set(
    "py js ts tsx jsx json toml yaml yml md rs go java kt rb php c h cpp cs sh sql html css ini cfg lock txt xml env tf csv log rst proto graphql gradle vue swift svg png conf lua ex exs"
)
_IRREGULAR = {
    "built": "build", "ran": "run", "running": "run", "written": "write", "wrote": "write", "kept": "keep", "held": "hold",
    "sent": "send", "made": "make", "went": "go", "goes": "go", "took": "take", "taken": "take", "broke": "break",
    "given": "give", "gave": "give", "got": "get", "found": "find", "lost": "lose", "left": "leave", "led": "lead",
    "chosen": "choose", "hidden": "hide", "used": "use", "using": "use", "men": "man", "women": "woman",
    "children": "child", "people": "person", "indices": "index", "owner": "own", "owners": "own", "tests": "test",
}  # fmt: skip


_CANONICAL: dict[str, str] = {}
for _line in opposites.SYNONYMS.split("\n"):
    for _word in _line.split()[1:]:
        _CANONICAL.setdefault(stem(_word), stem(_line.split()[0]))

LANGUAGES = canonical_set(opposites.FAMILIES["programming language"])
_KNOWN = frozenset(
    tool for tools in opposites.FAMILIES.values() for tool in tools.split() if re.search(r"[-.+#_\d]", tool)
)
# "GitHub Actions" and "pip tools" are one word too, whichever way they are written.
_PHRASES = opposites.PHRASES | {
    tool.replace("-", " ") + plural: tool for tool in _KNOWN if "-" in tool for plural in ("", "s")
}


def _any_of(phrases: Iterable[str]) -> str:
    """A pattern for any of them, the longest first; by initials, since `re` tries alternatives one by one."""
    by_initial: dict[str, list[str]] = {}
    for phrase in sorted(phrases, key=len, reverse=True):
        by_initial.setdefault(phrase[0], []).append(re.escape(phrase[1:]))
    return "|".join(f"{initial}(?:{'|'.join(rests)})" for initial, rests in by_initial.items())


_PHRASE = re.compile(rf"\b(?:{_any_of(_PHRASES)})\b", re.IGNORECASE)
_UNITS = opposites.SECONDS.keys() | opposites.BYTES.keys()
_SCOPE_OF = {canonical(word): scope for scope, words in opposites.SCOPES.items() for word in words.split()}
_STOP = word_set(opposites.STOP)
_LIGHT = canonical_set(opposites.LIGHT)
_HEADS = canonical_set(opposites.HEADS)
VERBS = canonical_set(opposites.VERBS)
_COMMANDS = canonical_set(opposites.COMMANDS) | VERBS
_CHANGES = canonical_set(opposites.CHANGES)
_NEGATIONS = word_set(opposites.NEGATIONS)
_STANCE = re.compile(
    rf"\b(?:no longer|always|cannot|\w{{1,8}}n['’]t|{'|'.join((opposites.NEGATIONS + ' ' + opposites.ENDED_STATES).split())})\b",
    re.IGNORECASE,
)
_ENDED_STATES = word_set(opposites.ENDED_STATES)
_ENDED_ACTS = word_set(opposites.ENDED_ACTS)
_EXCEPTIONS = word_set(opposites.EXCEPTIONS)
_PERMISSIONS = word_set(opposites.PERMISSIONS)
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
# "Were removed" is the end; "are removed" is what happens again and again, "the removed" and "of removed" what it befalls.
_NOT_PAST = word_set("is are be being gets get must should can and or of") | _ARTICLES | _PREPOSITIONS
_REASONS = word_set("because since")
_CLAUSE_WORDS = word_set("but so") | _REASONS
