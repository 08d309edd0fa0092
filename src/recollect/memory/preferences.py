"""What a user sets for a project and keeps in the store: budget, aliases, seasons, switches, consent."""

from collections.abc import Iterable
from datetime import datetime
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

import recollect.model as m
from recollect.context.context import TRUSTED_SETTING, Context
from recollect.context.project import declare_subproject, trust_key
from recollect.errors import Refused
from recollect.frozen import frozen
from recollect.policy import Operation

if TYPE_CHECKING:
    from recollect.memory.search.aliases import Alias


@frozen
class TrustedRepository:
    project: str
    place: str  # its git directory, or its folder without git
    since: datetime


class Preferences:
    """The settings of one project in the store; `config.Settings` holds those of the configuration file."""

    def __init__(self, context: Context) -> None:
        self._context = context
        self._store = context.store

    def budget(self) -> int:
        """Return the most tokens that a briefing may take in this project."""
        from recollect.memory.briefing.budget import CEILING

        return int(self._store.setting(self._context.project_id, "budget") or CEILING)

    def set_budget(self, tokens: int | None) -> None:
        """Set the most tokens that a briefing may take in this project; None restores the default."""
        self._context.check(Operation.SET_PREFERENCES)
        if tokens is not None and tokens < 1:
            raise Refused(f"A budget of {tokens} tokens is too small for a briefing.", "Give 1 or more.")
        self._store.set_setting(self._context.project_id, "budget", tokens)

    def aliases(self) -> "tuple[Alias, ...]":
        from recollect.memory.search.aliases import list_aliases

        return tuple(list_aliases(self._store, self._context.project_id))

    def add_alias(self, name: str, words: Iterable[str]) -> "Alias":
        """Make searches for `name` also look for `words`, and the other way round."""
        from recollect.memory.search.aliases import add_alias

        context = self._context
        context.check(Operation.SET_PREFERENCES)
        context.register_project()
        return add_alias(self._store, context.project_id, name, words, context.actor, context.clock())

    def remove_alias(self, name: str, words: Iterable[str] = ()) -> tuple[str, ...]:
        """Remove `words` from an alias, or all of it; return the words removed."""
        from recollect.memory.search.aliases import remove_alias

        context = self._context
        context.check(Operation.SET_PREFERENCES)
        return remove_alias(
            self._store, context.project_id, name, tuple(words), context.actor, context.clock()
        )

    def seasons(self) -> tuple[str, ...]:
        """Return the active seasons: memories of an active season rank higher."""
        return tuple(self._store.setting(self._context.project_id, "seasons") or ())

    def start_season(self, name: str) -> None:
        self._set_seasons(name, {*self.seasons(), name.strip()})

    def end_season(self, name: str) -> None:
        """End a season. Raises `Refused` if it is not active."""
        if name.strip() not in self.seasons():
            raise Refused(
                f"The season {name!r} is not active.", "Run `recollect season list` to list the active ones."
            )
        self._set_seasons(name, {*self.seasons()} - {name.strip()})

    def _set_seasons(self, name: str, seasons: set[str]) -> None:
        self._context.check(Operation.SET_PREFERENCES)
        if not name.strip() or len(name) > 64 or len(seasons) > 20:
            raise Refused(
                "A season needs a name of at most 64 characters, and at most 20 can be active.",
                "For example: release-week.",
            )
        self._log({"seasons": sorted(seasons)})
        self._store.set_setting(self._context.project_id, "seasons", sorted(seasons))

    def set_switch(self, name: str, on: bool | None, *, everywhere: bool = False) -> None:
        """Turn "memory" or "auto" (learning from sessions) on or off, for this project or everywhere.

        None removes the project's own setting, so that the one for all projects applies.
        """
        self._context.check(Operation.SWITCH)
        project_id = None if everywhere else self._context.project_id
        self._log({name: on, "project": project_id})
        self._store.set_setting(project_id, name, on)

    def agree(self, server: str) -> None:
        """Record that the user allows texts to be sent to `server`."""
        self._context.check(Operation.AGREE)
        if urlsplit(server).username or urlsplit(server).query:
            raise Refused(
                "The address of a server must not contain a user, password or token.",
                "Set the key in RECOLLECT_EMBEDDER_KEY.",
            )
        agreed = self._store.setting(None, "agreed") or []
        self._log({"agreed": server})
        self._store.set_setting(None, "agreed", sorted({*agreed, server}))

    def trust(self) -> None:
        """Let agents read what this repository says of itself without a review. Raises `Refused` outside a project."""
        self._set_trust(True)

    def distrust(self) -> None:
        """Keep what this repository says from agents until a person has reviewed it."""
        self._set_trust(False)

    def _set_trust(self, on: bool) -> None:
        context = self._context
        context.check(Operation.TRUST)
        if context.project is None or context.folder is None:
            raise Refused("This folder belongs to no project.", "Go into the project's folder.")
        context.register_project()
        key = trust_key(context.folder)
        with self._store.transaction():
            trusted = dict(self._store.setting(context.project_id, TRUSTED_SETTING) or {})
            trusted.pop(key, None)
            if on:
                trusted[key] = m.to_text(context.clock())
            self._log({"trusted": key if on else None, "project": context.project_id})
            self._store.set_setting(context.project_id, TRUSTED_SETTING, trusted)

    def trusted(self) -> tuple[TrustedRepository, ...]:
        """Return the repositories that the user has trusted by command, by name."""
        return tuple(
            TrustedRepository(project.name, key.partition(":")[2], m.from_text(since))
            for project in sorted(self._store.projects(), key=lambda project: project.name)
            for key, since in sorted((self._store.setting(project.id, TRUSTED_SETTING) or {}).items())
        )

    def declare_subproject(self) -> m.Project:
        """Make the current folder a project of its own."""
        self._context.check(Operation.SET_PREFERENCES)
        if self._context.folder is None:
            raise Refused("There is no folder to declare.", "Run this in the folder.")
        project, keys = declare_subproject(self._context.folder)
        self._store.put_project(project, keys)
        return project

    def _log(self, detail: dict[str, object]) -> None:
        self._store.log("update", self._context.actor, self._context.clock(), None, detail)
