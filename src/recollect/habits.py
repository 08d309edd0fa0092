"""What a user sets for a project: aliases, seasons, the budget, what is on, who may be asked."""

from collections.abc import Iterable
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

import recollect.model as m
from recollect.context import project as projects
from recollect.errors import Refused
from recollect.workplace import Workplace

if TYPE_CHECKING:
    from recollect.memory.search.aliases import Alias


class Habits(Workplace):
    """Settings that are kept with the memories."""

    def budget(self) -> int:
        """The most a briefing may take in this project."""
        from recollect.memory.briefing.budget import CEILING

        return int(self.store.setting(self._project_id, "budget") or CEILING)

    def set_budget(self, tokens: int | None) -> None:
        """The most a briefing may take in this project; None goes back to the default."""
        if tokens is not None and tokens < 1:
            raise Refused(f"A budget of {tokens} tokens leaves no room for anything.", "Give 1 or more.")
        self.store.set_setting(self._project_id, "budget", tokens)

    def aliases(self) -> "tuple[Alias, ...]":
        from recollect.memory.search.aliases import list_aliases

        return tuple(list_aliases(self.store, self._project_id))

    def add_alias(self, name: str, words: Iterable[str]) -> "Alias":
        """From now on a search for `name` also looks for `words`, and the other way round."""
        from recollect.memory.search.aliases import add_alias

        self.register()
        return add_alias(self.store, self._project_id, name, words, self.actor, self._clock())

    def remove_alias(self, name: str, words: Iterable[str] = ()) -> tuple[str, ...]:
        """Without `words`: all of them. What it no longer finds."""
        from recollect.memory.search.aliases import remove_alias

        return remove_alias(self.store, self._project_id, name, tuple(words), self.actor, self._clock())

    def seasons(self) -> tuple[str, ...]:
        """Those that are on: memories of the season weigh more."""
        return tuple(self.store.setting(self._project_id, "seasons") or ())

    def start_season(self, name: str) -> None:
        self._set_seasons(name, {*self.seasons(), name.strip()})

    def end_season(self, name: str) -> None:
        if name.strip() not in self.seasons():
            raise Refused(f"The season {name!r} is not on.", "`recollect season list` shows those that are.")
        self._set_seasons(name, {*self.seasons()} - {name.strip()})

    def _set_seasons(self, name: str, seasons: set[str]) -> None:
        if not name.strip() or len(name) > 64 or len(seasons) > 20:
            raise Refused(
                "A season needs a short name, and there can be 20 at once.", "For example: release-week."
            )
        self.store.log("update", self.actor, self._clock(), None, {"seasons": sorted(seasons)})
        self.store.set_setting(self._project_id, "seasons", sorted(seasons))

    def set_preset(self, name: str, *, everywhere: bool = False) -> None:
        """How eagerly findings become memories. Raises `UnknownName`."""
        from recollect.work.sessions.promote import preset_named

        self._refuse_agents("change how memory learns")
        preset_named(name)
        place = None if everywhere else self._project_id
        self.store.log("update", self.actor, self._clock(), None, {"preset": name, "project": place})
        self.store.set_setting(place, "preset", name)

    def set_switch(self, name: str, on: bool | None, *, everywhere: bool = False) -> None:
        """Turn "memory" or "auto" (learning by itself) on or off for this project or everywhere; None = as everywhere."""
        self._refuse_agents("turn memory on or off")
        place = None if everywhere else self._project_id
        self.store.log("update", self.actor, self._clock(), None, {name: on, "project": place})
        self.store.set_setting(place, name, on)

    def agree(self, server: str) -> None:
        """Record that the user agrees to texts being sent to `server`."""
        self._refuse_agents("agree to sending texts away")
        if urlsplit(server).username or urlsplit(server).query:
            raise Refused(
                "A server's address holds no user, password or token.",
                "Use RECOLLECT_EMBEDDER_KEY for its key.",
            )
        agreed = self.store.setting(None, "agreed") or []
        self.store.log("update", self.actor, self._clock(), None, {"agreed": server})
        self.store.set_setting(None, "agreed", sorted({*agreed, server}))

    def declare_subproject(self) -> m.Project:
        """From now on this folder is a project of its own."""
        if self.place is None:
            raise Refused("There is no folder to declare.", "Go into it first.")
        project, keys = projects.declare_subproject(self.place)
        self.store.put_project(project, keys)
        return project
