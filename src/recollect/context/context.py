"""The `Context`: what every part of the engine knows about the user, the project and the services it uses."""

from dataclasses import dataclass, replace
from datetime import datetime
from functools import cached_property
from pathlib import Path
from typing import Any

import recollect.model as m
from recollect.config import Settings
from recollect.context.confirmed_time import WORTH_A_NOTICE, confirmed_now, see_clock
from recollect.context.embedder import Embedder
from recollect.context.pair_reader import PairReader
from recollect.context.project import (
    ProjectFolder,
    checked_out,
    is_by_authors,
    is_of_owner,
    landed_branches,
    trust_key,
)
from recollect.context.store import Store
from recollect.errors import MemoryOff, OutOfScope, UnknownName
from recollect.kinds import kind_of
from recollect.policy import Operation, Permission, on_memory, on_the_whole

TRUSTED_SETTING = "trusted"  # of a project: since when it is trusted, by `trust_key`


@dataclass(frozen=True)
class Context:
    """One actor working in one project, with an open store and an embedder. It can be used from any thread."""

    settings: Settings
    store: Store
    embedder: Embedder
    clock: m.Clock = m.utc_now
    actor: str = "user"  # or "agent:NAME", which may write to its project only
    project: m.Project | None = None  # None = outside any project: global memories only
    folder: ProjectFolder | None = None  # the folder that the project was found from
    project_keys: tuple[str, ...] = ()  # under which `register_project` stores the project
    has_deadlines: bool = True  # of a search; without, it runs to its end on the thread that asks
    reader: PairReader | None = None  # None = rules alone compare statements; processes that live on have one
    remote: object | None = None  # the team server that has the memories; None = they are in `store`

    def __post_init__(self) -> None:
        object.__setattr__(self, "actor", m.plain_author(self.actor))

    @property
    def user_id(self) -> str:
        return self.settings.user

    @property
    def project_id(self) -> str | None:
        return self.project.id if self.project else None

    @property
    def is_agent(self) -> bool:
        return m.is_agent(self.actor)

    @property
    def root(self) -> Path | None:
        """The folder with the project's files, or None outside any project.

        Of several worktrees of one project, this is the one that `folder` is in.
        """
        if self.project is None:
            return None
        worktree = self.folder.root if self.folder else None
        project_root = Path(self.project.root)
        return project_root if worktree is None or project_root.is_relative_to(worktree) else worktree

    @property
    def local_project(self) -> m.Project | None:
        """The project, with `root` as its root."""
        return replace(self.project, root=str(self.root)) if self.project else None

    def for_project(self, project: m.Project | None) -> "Context":
        """Return this context moved to another project, without a folder; or itself if it is there already."""
        if (project.id if project else None) == self.project_id:
            return self
        return replace(self, project=project, folder=None, project_keys=())

    def register_project(self) -> None:
        """Store the project under all its keys, unless that is done already."""
        if self.project and not set(self.project_keys) <= set(self.store.project_keys(self.project.id)):
            self.store.put_project(self.project, self.project_keys)

    # what may be done: the table is in `policy`

    def check(self, operation: Operation) -> None:
        """Raise `OutOfScope` if the actor may not do this."""
        ruling = on_the_whole(self.actor, operation)
        if ruling.permission is not Permission.ALLOW:
            raise OutOfScope(ruling.reason, ruling.hint)

    def check_memory(self, operation: Operation, memory: m.Memory) -> Permission:
        """Return whether the actor may do this to `memory` or may propose it. Raise `OutOfScope` if neither."""
        ruling = on_memory(self.actor, operation, memory, self.project_id)
        if ruling.permission is Permission.DENY:
            raise OutOfScope(ruling.reason, ruling.hint)
        return ruling.permission

    # which repositories are trusted

    @property
    def is_trusted(self) -> bool:
        """Whether agents may read what the repository says of itself before a person has reviewed it.

        The user has trusted it, in this folder, with `recollect trust`; or it is the user's own by the settings.
        """
        if self.project is None or self.folder is None:
            return False
        trusted = self.store.setting(self.project_id, TRUSTED_SETTING) or {}
        if trust_key(self.folder) in trusted or is_of_owner(
            self.folder, self.settings.trusted_remotes.split()
        ):
            return True
        authors = self.settings.trusted_authors.split()
        return bool(authors) and self._is_by_authors(self.folder, authors)

    def _is_by_authors(self, folder: ProjectFolder, authors: list[str]) -> bool:
        head = checked_out(folder)  # others may have committed since
        cache = self._author_cache
        if head not in cache:
            cache.clear()
            cache[head] = is_by_authors(folder, authors)
        return cache[head]

    @cached_property
    def _author_cache(self) -> dict[str | None, bool]:
        return {}

    # whether memory is on

    def is_on(self, switch: str) -> bool:
        """Whether "memory" or "auto" is on: as set for the project, else as set for all projects, else on."""
        in_project = self.store.setting(self.project_id, switch) if self.project else None
        return bool(in_project if in_project is not None else self.store.setting(None, switch) is not False)

    def refuse_if_off(self) -> None:
        """Raise `MemoryOff` if the user has turned memory off here: for whatever stores, searches or recalls."""
        if not self.is_on("memory"):
            raise MemoryOff

    def refuse_agents_if_off(self) -> None:
        """Raise `MemoryOff` if the actor is an agent and memory is off: a person may still look and tidy up."""
        if self.is_agent:
            self.refuse_if_off()

    def confirmed_now(self) -> datetime:
        """Return the time to compare with when something is deleted or archived by age: see `confirmed_time`."""
        return confirmed_now(self.store, self.clock)

    def clock_notice(self) -> str:
        """Return a sentence for the user if the machine's clock has jumped far ahead; else an empty text."""
        mark = see_clock(self.store, self.clock)
        return mark.notice if mark.jump >= WORTH_A_NOTICE else ""

    def new_change(self, action: str, summary: str = "", *, project_id: str | None = None) -> m.Change:
        """Return a change that starts now, in `project_id`; record it with `store.changes`."""
        now = self.clock()
        return m.Change(m.new_id(now), self.user_id, project_id, now, self.actor, action, summary)

    # what may be seen

    def view(
        self,
        *,
        kind: str | None = None,
        scope: str | None = None,
        state: str | None = None,
        branch: str | None = None,
        session: str | None = None,
        all_projects: bool = False,
        proposals: bool = True,
    ) -> m.View:
        """Return the view of active memories of this project and of global ones, narrowed by the filters.

        Only a user may see `all_projects`, and the `proposals` of a repository that is not trusted. Raises `UnknownName`.
        """
        return m.View(
            user_id=self.user_id,
            project_id=self.project_id,
            session=session,
            branches=self._branches(branch),
            all_projects=all_projects and not self.is_agent,
            states=_states(state),
            kinds=frozenset({kind_of(kind).name}) if kind else None,
            scopes=frozenset({member_named(m.Scope, "scope", scope)}) if scope else None,
            proposals=proposals and (not self.is_agent or self.is_trusted),
        )

    def full_view(self, *, this_project: bool = False) -> m.View:
        """Return the view of memories in every state and session: all of the user's, or those of this project.

        An agent sees this project only.
        """
        return m.View(
            user_id=self.user_id,
            project_id=self.project_id,
            all_projects=not this_project and not self.is_agent,
            all_sessions=True,
            states=m.ALL_STATES,
            proposals=not self.is_agent or self.is_trusted,
        )

    def _branches(self, branch: str | None) -> frozenset[str]:
        current = self.folder.branch if self.folder else None
        return frozenset({*(name for name in (branch, current) if name), *self._landed_branches()})

    def _landed_branches(self) -> frozenset[str]:
        """Return the other branches that what is checked out contains. Git runs only if memories of some exist."""
        if self.folder is None:
            return frozenset()
        seq = self.store.seq()
        cache = self._branch_cache
        if cache.seq != seq:
            view = m.View(self.user_id, self.project_id, states=m.ALL_STATES)
            named = {name for name in self.store.counts(view, "branch") if name}
            cache.seq, cache.named = seq, frozenset(named - {self.folder.branch})
        if not cache.named:
            return frozenset()
        key = checked_out(self.folder), cache.named  # a merge changes the commit
        if cache.key != key:
            cache.key, cache.landed = key, landed_branches(self.folder, cache.named)
        return cache.landed

    @cached_property
    def _branch_cache(self) -> "_BranchCache":
        return _BranchCache()


@dataclass(slots=True)
class _BranchCache:
    """The branches that memories name, for a state of the store; and which have landed, for a commit."""

    seq: int | None = None
    named: frozenset[str] = frozenset()
    key: tuple[str | None, frozenset[str]] | None = None
    landed: frozenset[str] = frozenset()


def _states(state: str | None) -> frozenset[m.State]:
    if state == "all":
        return m.ALL_STATES
    return frozenset({member_named(m.State, "state", state) if state else m.State.ACTIVE})


def member_named(enum: Any, what: str, value: str) -> Any:
    """Return the member of `enum` with this value. Raises `UnknownName`, which lists the values."""
    try:
        return enum(value)
    except ValueError:
        raise UnknownName(what, value, [str(member) for member in enum]) from None
