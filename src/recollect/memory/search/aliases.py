"""Words that mean the same to a developer: a search for "auth" also finds "login".

An alias ties a name to other words, and works both ways: the name finds the words and each word finds the name, but the words
do not find one another ("login" does not find "authorization"). Some come with Recollect (`data/aliases.txt`); a project adds
its own, and can remove those that do not fit it. `query_expansion.expand_query` puts them into a query.
"""

from collections.abc import Container, Iterable, Mapping
from datetime import datetime
from functools import cache, lru_cache
from typing import Any

from recollect.context.store import Store
from recollect.errors import Refused
from recollect.frozen import frozen
from recollect.memory.search.query_expansion import alias_key, read_table
from recollect.text.words import STOP_WORDS

MOST_NAMES = 200  # of one project's own
MOST_WORDS = 20  # of one name
LONGEST = 64  # characters
_SETTING = "aliases"

Aliases = Mapping[str, tuple[str, ...]]


@frozen
class Alias:
    """A name and the words it stands for."""

    name: str
    words: tuple[str, ...]
    ours: bool  # comes with Recollect


@cache
def default_aliases() -> Aliases:
    """Return the aliases that come with Recollect."""
    return {name: tuple(words.split(", ")) for name, words in read_table("aliases.txt")}


def load_aliases(store: Store, project_id: str | None) -> Aliases:
    """Return all aliases that hold in the project, keyed both ways: Recollect's, those of all projects, and its own."""
    added, removed = _read_all(store, project_id)
    return _look_up(tuple(added.items()), frozenset(removed))


@lru_cache(8)
def _look_up(added: tuple[tuple[str, tuple[str, ...]], ...], removed: frozenset[tuple[str, str]]) -> Aliases:
    return both_ways((alias.name, alias.words) for alias in _listed(dict(added), removed))


def both_ways(names: Iterable[tuple[str, Iterable[str]]]) -> Aliases:
    """Key aliases by name and by word, as `expand_query` looks them up."""
    both: dict[str, dict[str, None]] = {}
    for name, words in names:
        for word in words:
            both.setdefault(alias_key(name), {}).setdefault(word)
            both.setdefault(alias_key(word), {}).setdefault(name)
    return {key: tuple(others) for key, others in both.items()}


def list_aliases(store: Store, project_id: str | None) -> list[Alias]:
    """Return the aliases by name; the user's own before those that come with Recollect."""
    return _listed(*_read_all(store, project_id))


def _listed(added: Aliases, removed: Container[tuple[str, str]]) -> list[Alias]:
    own = [Alias(name, words, False) for name, words in added.items()]
    ours = [
        Alias(name, left, True)
        for name, words in default_aliases().items()
        if (left := tuple(word for word in words if (name, word) not in removed))
    ]
    return sorted((*own, *ours), key=lambda alias: (alias.name, alias.ours))


def add_alias(
    store: Store, project_id: str | None, name: str, words: Iterable[str], actor: str, now: datetime
) -> Alias:
    """Make `name` and each of `words` find each other. Raise `Refused` if one of them cannot be an alias."""
    name = _normal(name)
    given = [word for word in dict.fromkeys(_normal(word) for word in words) if word != name]
    if not given:
        raise Refused(
            f"The alias {name!r} needs at least one other word.",
            "For example, run `recollect alias add auth sso`.",
        )
    with store.transaction():
        added, removed = _read(store, project_id)
        removed -= {(name, word) for word in given}
        ours = default_aliases().get(name, ())
        words_now = dict.fromkeys((*added.get(name, ()), *(word for word in given if word not in ours)))
        if len(words_now) > MOST_WORDS:
            raise Refused(f"{name!r} would have {len(words_now)} words.", f"The limit is {MOST_WORDS}.")
        if words_now:
            added[name] = tuple(words_now)
        if len(added) > MOST_NAMES:
            raise Refused(
                f"There are already {MOST_NAMES} aliases.", "Run `recollect alias remove NAME` to remove one."
            )
        _write(store, project_id, added, removed, actor, now)
    return Alias(name, tuple(given), False)


def remove_alias(
    store: Store, project_id: str | None, name: str, words: Iterable[str], actor: str, now: datetime
) -> tuple[str, ...]:
    """Remove `words`, or all if none are given, from the alias `name`, and return those removed.

    Raise `Refused` if there are none.
    """
    name = _normal(name)
    wanted = {_normal(word) for word in words}
    with store.transaction():
        added, removed = _read(store, project_id)
        current = dict.fromkeys((*added.get(name, ()), *default_aliases().get(name, ())))
        dropped = tuple(
            word for word in current if (name, word) not in removed and (not wanted or word in wanted)
        )
        if not dropped:
            raise Refused(f"{name!r} has no such alias.", "Run `recollect alias list` to list all.")
        left = tuple(word for word in added.pop(name, ()) if word not in dropped)
        if left:
            added[name] = left
        removed |= {(name, word) for word in dropped if word in default_aliases().get(name, ())}
        _write(store, project_id, added, removed, actor, now)
    return dropped


def _normal(text: str) -> str:
    """Return `text` in lower case with single spaces. Raise `Refused` if it cannot be an alias."""
    word = " ".join(text.lower().split())
    if not word or len(word) > LONGEST or not word.isprintable() or not any(map(str.isalnum, word)):
        raise Refused("That cannot be an alias.", f"Give a word or two of at most {LONGEST} characters.")
    if word in STOP_WORDS:
        raise Refused(f"{word!r} is too common: it would match everything.", "Give a more specific word.")
    from recollect.text.redact import redact  # its rules take 30 ms to load

    if redactions := (*redact(word)[1], *redact(text)[1]):
        raise Refused(
            f"That looks like a secret ({redactions[0].type}) and was not stored.", "Give a plain word."
        )
    return word


def _read(store: Store, project_id: str | None) -> tuple[dict[str, tuple[str, ...]], set[tuple[str, str]]]:
    """Return the aliases that were added, and the default ones that were removed."""
    stored: Any = store.setting(project_id, _SETTING) or {}
    added = {str(name): tuple(words) for name, words in stored.get("added", {}).items()}
    return added, {(str(name), str(word)) for name, word in stored.get("removed", [])}


def _read_all(
    store: Store, project_id: str | None
) -> tuple[dict[str, tuple[str, ...]], set[tuple[str, str]]]:
    """Do the same for the project and all projects together."""
    added, removed = _read(store, None)
    if project_id is not None:
        project_added, project_removed = _read(store, project_id)
        for name, words in project_added.items():
            added[name] = tuple(dict.fromkeys((*added.get(name, ()), *words)))
        removed |= project_removed
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
