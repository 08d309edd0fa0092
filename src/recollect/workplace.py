"""Who is at work, in which project, and what may be seen and changed from there."""

from collections.abc import Sequence
from dataclasses import replace
from functools import cached_property
from typing import TYPE_CHECKING, Any, TypeVar

import recollect.model as m
from recollect.config import Settings
from recollect.context import project as projects
from recollect.context.context import Context
from recollect.context.embedder import Embedder
from recollect.context.store import Store
from recollect.errors import AmbiguousId, MemoryNotFound, OutOfScope, UnknownName
from recollect.kinds import kind_of
from recollect.memory.index.index import MemoryIndex

if TYPE_CHECKING:
    from recollect.llm.protocol import Judge

Result = TypeVar("Result")


class Workplace:
    """One user, standing in one project, with the store open. The rooms of the engine are built on it."""

    def __init__(
        self,
        settings: Settings,
        store: Store,
        embedder: Embedder,
        place: projects.ProjectFolder | None,
        *,
        actor: str = "user",
        clock: m.Clock = m.utc_now,
        sidecar: "Judge | None" = None,
    ) -> None:
        self.settings = settings
        self.actor = actor
        self.store = store
        self.embedder = embedder
        self.place = place
        self._clock = clock
        self._wrote = False
        self._retrievals: list[tuple[str, m.View, list[str], str]] = []
        self.project: m.Project | None = None  # None = outside any project: global memories only
        self._project_keys: Sequence[str] = ()  # by which it should be known, until it has been registered
        if place is not None:
            self.project, self._project_keys = projects.identify(place, store)
        self._sidecar = sidecar
        self.index = MemoryIndex(store)

    @property
    def context(self) -> Context:
        return Context(
            self.settings,
            self.store,
            self.embedder,
            self._clock,
            self.actor,
            self.project,
            self.place,
            tuple(self._project_keys),
        )

    @property
    def notices(self) -> tuple[str, ...]:
        """What the user should be told once: a restored backup, say."""
        return self.store.notices

    def register(self) -> None:
        """Make this project known, with all the ways it can be recognised."""
        if self.project and self._project_keys:
            known = set(self.store.project_keys(self.project.id))
            if not known.issuperset(self._project_keys):
                self.store.put_project(self.project, self._project_keys)
            self._project_keys = ()

    @property
    def _project_id(self) -> str | None:
        return self.project.id if self.project else None

    def view(
        self,
        *,
        kind: str | None = None,
        scope: str | None = None,
        state: str | None = None,
        branch: str | None = None,
        session: str | None = None,
        all_projects: bool = False,
    ) -> m.View:
        """What may be seen from here, narrowed by what was asked for."""
        return m.View(
            user_id=self.settings.user,
            project_id=self.project.id if self.project else None,
            session=session,
            branches=self._branches(branch),
            all_projects=all_projects and not m.is_agent(self.actor),
            states=_states(state),
            kinds=frozenset({kind_of(kind).name}) if kind else None,
            scopes=frozenset({named(m.Scope, "scope", scope)}) if scope else None,
        )

    def _branches(self, branch: str | None) -> frozenset[str]:
        """The branch asked for, this one, and those that are part of it."""
        here = self.place.branch if self.place else None
        return frozenset({*(each for each in (branch, here) if each), *self._merged})

    @cached_property
    def _merged(self) -> frozenset[str]:
        """Branches whose work is in this one. Git is asked only where some memory is of another branch."""
        if self.place is None or self.place.branch is None:
            return frozenset()
        here = m.View(self.settings.user, self._project_id, states=m.ALL_STATES)
        others = set(self.store.counts(here, "branch")) - {None, self.place.branch}
        return projects.merged_branches(self.place) & others if others else frozenset()

    def _own(self) -> m.View:
        """All that is the user's; for an agent, all that is this project's."""
        return m.View(
            user_id=self.settings.user,
            project_id=self.project.id if self.project else None,
            all_projects=not m.is_agent(self.actor),
            all_sessions=True,
            states=m.ALL_STATES,
        )

    def all_mine(self, this_project: bool = False) -> m.View:
        """A view of all that is to go out: everything of the user's, or what is of this project and global."""
        return replace(self._own(), all_projects=not this_project and not m.is_agent(self.actor))

    def get(self, name: str) -> m.Memory:
        """By id, or the beginning of one. Raises `MemoryNotFound`, `AmbiguousId`."""
        return self.store.get(self.store.resolve(self._own(), name))

    def find(self, name: str) -> m.Memory:
        """By id, its beginning, or a keyword that only one active memory here has."""
        try:
            return self.get(name)
        except MemoryNotFound:
            matches = [found for found, _ in self.store.match(self.view(), name, 5)]
            if len(matches) == 1:
                return self.store.get(matches[0])
            if matches:
                raise AmbiguousId(name, matches) from None
            raise

    def _mine(self, name: str, *, find: bool = False) -> m.Memory:
        """A memory that may be changed from here: an agent's reach is its project. Raises `OutOfScope`."""
        memory = self.find(name) if find else self.get(name)
        if m.is_agent(self.actor) and memory.project_id != self._project_id:
            raise OutOfScope(
                f"Memory {memory.id} is the user's own, and not of the project this agent runs in.",
                "Ask the user to change it.",
            )
        return memory

    def _refuse_agents(self, what: str) -> None:
        if m.is_agent(self.actor):
            raise OutOfScope(f"An agent may not {what}.", "Ask the user to do it.")

    def _done(self, result: Result) -> Result:
        """Something was written: backups and the audit log are looked after when we close."""
        self._wrote = True
        return result


def _states(state: str | None) -> frozenset[m.State]:
    if state == "all":
        return m.ALL_STATES
    return frozenset({named(m.State, "state", state) if state else m.State.ACTIVE})


def named(names: Any, what: str, value: str) -> Any:
    try:
        return names(value)
    except ValueError:
        raise UnknownName(what, value, [str(name) for name in names]) from None
