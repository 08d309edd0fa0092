"""What is known about words, read from `data/words.toml`, which explains each table."""

import tomllib
from pathlib import Path

_DATA: dict[str, str] = tomllib.loads(
    Path(__file__).with_name("data").joinpath("words.toml").read_text("utf-8")
)


def _lines(table: str) -> list[str]:
    return _DATA[table].splitlines()


def _words(table: str) -> frozenset[str]:
    return frozenset(_DATA[table].split())


def _groups(table: str) -> dict[str, tuple[str, ...]]:
    """Read lines of "name: word word …"."""
    rows = (line.partition(":") for line in _lines(table))
    return {name: tuple(words.split()) for name, _, words in rows}


def _sides(table: str) -> tuple[tuple[tuple[str, ...], tuple[str, ...]], ...]:
    """Read lines of "word word … | word word …"."""
    rows = (line.partition("|") for line in _lines(table))
    return tuple((tuple(left.split()), tuple(right.split())) for left, _, right in rows)


def _values(table: str) -> dict[str, str]:
    """Read a list of "name=value"."""
    return dict(item.split("=") for item in _DATA[table].split())


PHRASES = {phrase: word.strip() for phrase, _, word in (line.partition(":") for line in _lines("phrases"))}
SYNONYMS = tuple(tuple(line.split()) for line in _lines("synonyms"))
SAME_MEANING = tuple(tuple(line.split()) for line in _lines("same_meaning"))
FILLERS = _words("fillers")
HOLLOW_NOUNS = _words("hollow_nouns")
OPPOSITES = _sides("opposites")
CONVERSES = _sides("converses")
NOT_NEGATED = _words("not_negated")
FAMILIES = _groups("families")
EXCLUSIVE = _groups("exclusive")
SEVERAL = frozenset(_lines("several"))
HOLD_DATA = tuple(filter(None, _lines("hold_data")))
TO_SEVERAL = _words("to_several")
SCOPES = _groups("scopes")
NUMBERS = {word: int(value) for word, value in _values("numbers").items()}
FREQUENCIES = {word: int(value) for word, value in _values("frequencies").items()}
SECONDS = {unit: float(value) for unit, value in _values("seconds").items()}
BYTES = {unit: int(value) for unit, value in _values("bytes").items()}
NEGATIONS = _words("negations")
ENDED_STATES = _words("ended_states")
ENDED_ACTS = _words("ended_acts")
CORRECTIONS = tuple(filter(None, _lines("corrections")))
NEW_STATES = tuple(filter(None, _lines("new_states")))
CHANGES = _words("changes")
EXCEPTIONS = _words("exceptions")
PERMISSIONS = _words("permissions")
OWNERS = _words("owners")
STOP_WORDS = _words("stop_words")
LIGHT_WORDS = _words("light_words")
HEAD_NOUNS = _words("head_nouns")
VERBS = _words("verbs")
COMMANDS = _words("commands")
ONLY_VERBS = _words("only_verbs")
FILE_EXTENSIONS = _words("file_extensions")
DONE_ONCE = _words("done_once")
DONE_BY_COMMITS = _words("done_by_commits")
DONE_AT_ONCE = _words("done_at_once")
GENERIC_NOUNS = _words("generic_nouns")
PREDICATES = _words("predicates")
ROLE_WORDS = _groups("role_words")
IDENTITIES = _words("identities")
