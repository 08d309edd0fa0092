"""Words that mean the same to a developer: who asks for "auth" is also looking for "login".

An alias ties a name to other words, and works both ways: the name finds the words and each word finds the name, but
the words do not find one another ("login" does not find "authorization"). Some come with Recollect, as data; a
project adds its own, and can take out those that do not fit it. `widen` puts them into a query, and beside them what its
everyday words mean.
"""

import re
from collections.abc import Callable, Container, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from functools import cache, lru_cache
from typing import Any

from recollect.context.store import Store
from recollect.errors import Refused
from recollect.memory.search.everyday import meanings
from recollect.memory.search.vocabulary import Word
from recollect.text.stem import stem
from recollect.text.words import STOP_WORDS

EXPANDED = 0.5  # how far a word counts that stands in for the one that was asked for
MOST_NAMES = 200  # of one project's own
MOST_WORDS = 20  # of one name
LONGEST = 64  # characters
LONGEST_QUERY = 1000  # characters that are looked through for phrases
_SETTING = "aliases"

# A name, and the words it stands for. Only pairs that mean the same in nearly every codebase: each one costs precision.
DEFAULTS: Mapping[str, tuple[str, ...]] = {
    "a11y": ("accessibility",),
    "api": ("endpoint", "route"),
    "args": ("arguments",),
    "async": ("asynchronous",),
    "auth": ("authentication", "authorization", "login", "signin"),
    "bug": ("defect",),
    "ci": ("continuous integration", "pipeline"),
    "cli": ("command line",),
    "config": ("configuration", "settings", "conf", "cfg"),
    "cred": ("credential", "credentials", "creds"),
    "db": ("database",),
    "deploy": ("deployment", "rollout", "release"),
    "deps": ("dependency", "dependencies"),
    "dev": ("development",),
    "dir": ("directory", "folder"),
    "docs": ("documentation",),
    "e2e": ("end to end",),
    "env": ("environment",),
    "err": ("error", "exception"),
    "fe": ("frontend",),
    "func": ("function", "fn"),
    "gh": ("github",),
    "i18n": ("internationalization", "translation", "locale"),
    "impl": ("implementation", "implement"),
    "infra": ("infrastructure",),
    "js": ("javascript",),
    "k8s": ("kubernetes",),
    "l10n": ("localization",),
    "lib": ("library",),
    "mem": ("memory",),
    "msg": ("message",),
    "mq": ("message queue",),
    "oom": ("out of memory", "oomkilled"),
    "perf": ("performance",),
    "perms": ("permission", "permissions"),
    "pg": ("postgres", "postgresql"),
    "pkg": ("package",),
    "pr": ("pull request", "merge request"),
    "prod": ("production",),
    "py": ("python",),
    "refactor": ("refactoring",),
    "regex": ("regexp", "regular expression"),
    "repo": ("repository",),
    "sso": ("single sign on",),
    "tests": ("testing", "test suite"),
    "tf": ("terraform",),
    "ts": ("typescript",),
    "tz": ("timezone", "time zone"),
    "ui": ("user interface",),
}

Aliases = Mapping[str, tuple[str, ...]]
Terms = tuple[tuple[int, float], ...]


@dataclass(frozen=True, slots=True)
class Alias:
    name: str
    words: tuple[str, ...]
    ours: bool  # comes with Recollect


def widen(
    query: str,
    words: Sequence[Word],
    aliases: Mapping[str, Sequence[str]],
    known: Callable[[str], Iterable[int]],
) -> tuple[list[Word], list[Word]]:
    """The `words` of `query` and its phrases, each standing for its aliases too; and beside them what they mean.

    A word that nobody uses also stands for what it means. `known` gives the terms of a name.
    """
    meanings = _meanings()
    wide: list[Word] = []
    meant: list[Word] = []

    def others(names: Iterable[str], own: Container[int] = ()) -> Terms:
        found = dict.fromkeys(term for name in names for term in known(name) if term not in own)
        return tuple((term, EXPANDED) for term in found)

    for word in words:
        key = stem(word.text.lower())
        field = meanings.get(key, ())
        own = {term for term, _ in word.terms}
        also = others((*aliases.get(key, ()), *(() if own else field)), own)
        wide.append(word._replace(also=also))
        if alone := others(field, own):
            meant.append(Word(word.text, (), alone, word.weight))
    for phrase in _phrases(query):
        if phrase in aliases or phrase in meanings:
            alone = others(meanings.get(phrase, ()))
            if also := others(aliases.get(phrase, ())) or alone:
                wide.append(Word(phrase, (), also))
            if alone:
                meant.append(Word(phrase, (), alone))
    return wide, meant


_WORD = re.compile(r"[^\W_]+")
_OBJECTS = frozenset(["it", "them", "this", "that", "these", "those"])


def _stems(text: str) -> list[str]:
    """With stop words, which say something in a phrase, but without objects: "filled it in" is "fill in"."""
    return [stem(word) for word in _WORD.findall(text.lower()) if word not in _OBJECTS]


@lru_cache(4096)
def _key(name: str) -> str:
    """What a word or phrase is known by, whatever its endings."""
    return " ".join(_stems(name))


def _phrases(query: str) -> Iterator[str]:
    stems = _stems(query[:LONGEST_QUERY])
    for size in (2, 3, 4):
        for begin in range(len(stems) - size + 1):
            yield " ".join(stems[begin : begin + size])


@cache
def _meanings() -> Aliases:
    found: dict[str, dict[str, None]] = {}
    for said, field in meanings().items():
        found.setdefault(_key(said), {}).update(dict.fromkeys(field))
    return {key: tuple(names) for key, names in found.items()}


def load_aliases(store: Store, project_id: str | None) -> Aliases:
    """All that hold in the project, both ways: what comes with Recollect, what holds everywhere, the project's own."""
    added, removed = _read_all(store, project_id)
    return _look_up(tuple(added.items()), frozenset(removed))


@lru_cache(8)
def _look_up(added: tuple[tuple[str, tuple[str, ...]], ...], removed: frozenset[tuple[str, str]]) -> Aliases:
    return both_ways((alias.name, alias.words) for alias in _listed(dict(added), removed))


def both_ways(names: Iterable[tuple[str, Iterable[str]]]) -> Aliases:
    """By name and by word, as `widen` looks them up."""
    both: dict[str, dict[str, None]] = {}
    for name, words in names:
        for word in words:
            both.setdefault(_key(name), {}).setdefault(word)
            both.setdefault(_key(word), {}).setdefault(name)
    return {key: tuple(others) for key, others in both.items()}


def list_aliases(store: Store, project_id: str | None) -> list[Alias]:
    """By name; the user's own before those that come with Recollect."""
    return _listed(*_read_all(store, project_id))


def _listed(added: Aliases, removed: Container[tuple[str, str]]) -> list[Alias]:
    own = [Alias(name, words, False) for name, words in added.items()]
    ours = [
        Alias(name, kept, True)
        for name, words in DEFAULTS.items()
        if (kept := tuple(word for word in words if (name, word) not in removed))
    ]
    return sorted((*own, *ours), key=lambda alias: (alias.name, alias.ours))


def add_alias(
    store: Store, project_id: str | None, name: str, words: Iterable[str], actor: str, now: datetime
) -> Alias:
    """From now on `name` and each of `words` find each other. Raises `Refused`."""
    name = _normal(name)
    given = [word for word in dict.fromkeys(_normal(word) for word in words) if word != name]
    if not given:
        raise Refused(f"{name!r} needs a word to stand for.", "For example: `recollect alias add auth sso`.")
    with store.transaction():
        added, removed = _read(store, project_id)
        removed -= {(name, word) for word in given}
        ours = DEFAULTS.get(name, ())
        words_now = dict.fromkeys((*added.get(name, ()), *(word for word in given if word not in ours)))
        if len(words_now) > MOST_WORDS:
            raise Refused(f"{name!r} would stand for {len(words_now)} words.", f"At most {MOST_WORDS}.")
        if words_now:
            added[name] = tuple(words_now)
        if len(added) > MOST_NAMES:
            raise Refused(
                f"There are {MOST_NAMES} aliases already.", "Remove one with `recollect alias remove`."
            )
        _write(store, project_id, added, removed, actor, now)
    return Alias(name, tuple(given), False)


def remove_alias(
    store: Store, project_id: str | None, name: str, words: Iterable[str], actor: str, now: datetime
) -> tuple[str, ...]:
    """Untie `name` from `words`, or from all if none is given; what it was untied from. Raises `Refused`."""
    name = _normal(name)
    wanted = {_normal(word) for word in words}
    with store.transaction():
        added, removed = _read(store, project_id)
        tied = dict.fromkeys((*added.get(name, ()), *DEFAULTS.get(name, ())))
        gone = tuple(word for word in tied if (name, word) not in removed and (not wanted or word in wanted))
        if not gone:
            raise Refused(f"There is no such alias of {name!r} here.", "`recollect alias list` shows them.")
        kept = tuple(word for word in added.pop(name, ()) if word not in gone)
        if kept:
            added[name] = kept
        removed |= {(name, word) for word in gone if word in DEFAULTS.get(name, ())}
        _write(store, project_id, added, removed, actor, now)
    return gone


def _normal(text: str) -> str:
    """Lower case, white space folded. Raises `Refused` for what cannot be an alias."""
    word = " ".join(text.lower().split())
    if not word or len(word) > LONGEST or not word.isprintable() or not any(map(str.isalnum, word)):
        raise Refused("That cannot be an alias.", f"Give a word or two, at most {LONGEST} characters.")
    if word in STOP_WORDS:
        raise Refused(f"{word!r} stands in every sentence and would find everything.", "Give a telling word.")
    from recollect.text.redact import redact  # its rules cost readers of memories 30 ms

    if redactions := (*redact(word)[1], *redact(text)[1]):
        raise Refused(
            f"That looks like a secret ({redactions[0].type}) and was not kept.", "Give a plain word."
        )
    return word


def _read(store: Store, project_id: str | None) -> tuple[dict[str, tuple[str, ...]], set[tuple[str, str]]]:
    """What was added, and which of the defaults were taken out."""
    kept: Any = store.setting(project_id, _SETTING) or {}
    added = {str(name): tuple(words) for name, words in kept.get("added", {}).items()}
    return added, {(str(name), str(word)) for name, word in kept.get("removed", [])}


def _read_all(
    store: Store, project_id: str | None
) -> tuple[dict[str, tuple[str, ...]], set[tuple[str, str]]]:
    """The same of the project and of everywhere."""
    added, removed = _read(store, None)
    if project_id is not None:
        here, not_here = _read(store, project_id)
        for name, words in here.items():
            added[name] = tuple(dict.fromkeys((*added.get(name, ()), *words)))
        removed |= not_here
    return added, removed


def _write(
    store: Store,
    project_id: str | None,
    added: Mapping[str, tuple[str, ...]],
    removed: set[tuple[str, str]],
    actor: str,
    now: datetime,
) -> None:
    store.log("update", actor, now, None, {"setting": _SETTING, "project": project_id, "own": len(added)})
    store.set_setting(project_id, _SETTING, {"added": added, "removed": sorted(removed)})
