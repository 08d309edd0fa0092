"""Private mode: a person's private memories stay on this machine, and are merged with the team's only here.

The parts have the methods of those in `parts`. Each holds the local part of the same kind, which works on the encrypted
store of the login. What is private goes there and never to the server; names are looked up there first.
"""

from collections.abc import Iterable
from dataclasses import replace
from datetime import datetime
from typing import TYPE_CHECKING, Any

import recollect.model as m
from recollect.context.context import Context
from recollect.errors import ChangeNotFound, MemoryNotFound, Refused, ReviewNotFound
from recollect.frozen import frozen
from recollect.memory.maintainer import Maintenance
from recollect.memory.memories import Memories
from recollect.memory.preferences import Preferences
from recollect.memory.retrieval import Retrieval
from recollect.remote.parts import RemoteComposer, RemoteMaintenance, RemoteMemories, RemoteRetrieval
from recollect.work.delivery.composer import Composer, DeliveryParts
from recollect.work.delivery.delivery import DeliveryRequest
from recollect.work.delivery.material import Material

if TYPE_CHECKING:
    from recollect.llm.protocol import Sidecar
    from recollect.memory.maintenance.doctor import Diagnosis
    from recollect.memory.maintenance.review import OpenReview, ReviewDecision
    from recollect.memory.maintenance.wrong import WrongResult

_SHARED = (m.Visibility.PROJECT, m.Visibility.TEAM)


class MixedMemories(RemoteMemories):
    """The team's memories, and private ones of this machine."""

    def __init__(self, context: Context, local: Memories) -> None:
        super().__init__(context)
        self._local = local

    def _is_local(self, name: str) -> bool:
        try:
            self._local.get(name)
        except MemoryNotFound:
            return False
        return True

    # reading

    def get(self, name: str) -> m.Memory:
        return self._local.get(name) if self._is_local(name) else super().get(name)

    def get_many(self, ids: Iterable[str]) -> dict[str, m.Memory]:
        ids = list(ids)
        found = self._local.get_many(ids)
        missing = [name for name in ids if name not in found]
        return found | super().get_many(missing) if missing else found

    def find(self, name: str) -> m.Memory:
        try:
            return self._local.find(name)
        except MemoryNotFound:
            return super().find(name)

    def list(
        self, *, tag: str | None = None, file: str | None = None, limit: int | None = None, **filters: Any
    ) -> tuple[m.Memory, ...]:
        team = super().list(tag=tag, file=file, limit=limit, **filters)
        mine = self._local.list(tag=tag, file=file, limit=limit, **filters)
        return tuple(sorted((*team, *mine), key=lambda memory: memory.id, reverse=True)[:limit])

    def count(self, *, tag: str | None = None, file: str | None = None, **filters: Any) -> int:
        return super().count(tag=tag, file=file, **filters) + self._local.count(tag=tag, file=file, **filters)

    def undescribed(self, limit: int = 20) -> tuple[tuple[m.Memory, ...], int]:
        mine, of_mine = self._local.undescribed(limit)
        team, of_team = super().undescribed(limit)
        return (*mine, *team)[:limit], of_mine + of_team

    def links(self, name: str) -> tuple[m.Link, ...]:
        return self._local.links(name) if self._is_local(name) else super().links(name)

    def conflicts(self) -> tuple[tuple[m.Link, m.Memory, m.Memory], ...]:
        return (*super().conflicts(), *self._local.conflicts())

    def tags(self) -> tuple[m.Tag, ...]:
        found = {tag.name: tag for tag in self._local.tags()}
        for tag in super().tags():
            known = found.get(tag.name)
            found[tag.name] = replace(tag, count=tag.count + known.count) if known else tag
        return tuple(sorted(found.values(), key=lambda tag: (-tag.count, tag.name)))

    def audit(self, limit: int = 50, name: str | None = None) -> tuple[m.AuditLine, ...]:
        return self._local.audit(limit, name) if name and self._is_local(name) else super().audit(limit, name)

    # writing

    def remember(self, content: str, *, change: m.Change | None = None, **details: Any) -> m.Receipt:
        author = details.get("created_by") or self._context.actor
        visibility = details.get("visibility")
        if visibility == m.Visibility.PRIVATE or (visibility is None and not m.is_agent(author)):
            details["visibility"] = m.Visibility.PRIVATE
            return self._local.remember(content, change=change, **details)
        return super().remember(content, change=change, **details)

    def add_finding(self, draft: m.Draft) -> m.Receipt:
        if not m.is_agent(draft.created_by):
            return self._local.add_finding(replace(draft, visibility=m.Visibility.PRIVATE))
        return super().add_finding(draft)

    def edit(
        self, name: str, *, expected: str | None = None, change: m.Change | None = None, **changes: Any
    ) -> tuple[m.Memory, m.Receipt]:
        if not self._is_local(name):
            if changes.get("visibility") == m.Visibility.PRIVATE:
                raise Refused(
                    "What the team has seen cannot become private to this machine.",
                    "Forget it, and remember it again.",
                )
            return super().edit(name, expected=expected, change=change, **changes)
        if changes.get("visibility") in _SHARED:
            return self._share(self._local.get(name), changes)
        return self._local.edit(name, expected=expected, change=change, **changes)

    def _share(self, memory: m.Memory, changes: dict[str, Any]) -> tuple[m.Memory, m.Receipt]:
        """Send a private memory to the team, and forget it here."""
        fields = (
            "kind",
            "tags",
            "file_paths",
            "triggers",
            "when_needed",
            "season",
            "branch",
            "importance",
            "scope",
        )
        kept = {name: getattr(memory, name) for name in fields} | changes
        content = kept.pop("content", memory.content)
        receipt = super().remember(content, created_by=memory.created_by, **kept)
        self._local.forget(memory.id)
        return super().get(receipt.id), receipt

    def describe(
        self, name: str, situations: Iterable[str], *, change: m.Change | None = None
    ) -> tuple[m.Memory, m.Receipt]:
        if self._is_local(name):
            return self._local.describe(name, situations, change=change)
        return super().describe(name, situations)

    def forget(self, name: str, *, change: m.Change | None = None) -> m.Memory:
        return self._local.forget(name, change=change) if self._is_local(name) else super().forget(name)

    def restore(self, name: str, *, change: m.Change | None = None) -> m.Memory:
        return self._local.restore(name, change=change) if self._is_local(name) else super().restore(name)

    def wrong(self, name: str, because: str = "", instead: str = "", restore: bool = False) -> "WrongResult":
        if self._is_local(name):
            return self._local.wrong(name, because, instead, restore)
        return super().wrong(name, because, instead, restore)

    def pin(self, name: str, on: bool | None = None, *, change: m.Change | None = None) -> m.Memory:
        return self._local.pin(name, on, change=change) if self._is_local(name) else super().pin(name, on)

    def tag(
        self,
        name: str,
        add: Iterable[str] = (),
        remove: Iterable[str] = (),
        *,
        change: m.Change | None = None,
    ) -> m.Memory:
        if self._is_local(name):
            return self._local.tag(name, add, remove, change=change)
        return super().tag(name, add, remove)

    def link(
        self,
        source: str,
        target: str,
        relation: str = "relates_to",
        weight: float = 1.0,
        *,
        change: m.Change | None = None,
    ) -> m.Link:
        if self._are_local(source, target):
            return self._local.link(source, target, relation, weight, change=change)
        return super().link(source, target, relation, weight)

    def unlink(self, source: str, target: str, relation: str, *, change: m.Change | None = None) -> bool:
        if self._are_local(source, target):
            return self._local.unlink(source, target, relation, change=change)
        return super().unlink(source, target, relation)

    def resolve(self, first: str, second: str, keep: str, *, change: m.Change | None = None) -> None:
        if self._are_local(first, second):
            self._local.resolve(first, second, keep, change=change)
        else:
            super().resolve(first, second, keep)

    def _are_local(self, first: str, second: str) -> bool:
        """Return whether both are private. Raise `Refused` if one is, and the other the team's."""
        here = {self._is_local(first), self._is_local(second)}
        if len(here) == 2:
            raise Refused(
                "One of the two is private to this machine, the other is the team's.",
                "Share the private one first: recollect edit ID --visibility project",
            )
        return True in here

    def feedback(
        self, name: str, helpful: bool, session: str | None = None, *, change: m.Change | None = None
    ) -> m.Memory:
        if self._is_local(name):
            return self._local.feedback(name, helpful, session, change=change)
        return super().feedback(name, helpful, session)


class MixedRetrieval(RemoteRetrieval):
    """Searches the team's memories and the private ones of this machine."""

    def __init__(
        self, context: Context, memory: Memories, preferences: Preferences, local: Retrieval
    ) -> None:
        super().__init__(context, memory, preferences)
        self._local = local

    def search(
        self, query: str, limit: int = 10, *, as_of: datetime | None = None, **options: Any
    ) -> m.Answer:
        team = super().search(query, limit, as_of=as_of, **options)
        mine = self._local.search(query, limit, as_of=as_of, **{**options, "noted": False})
        return replace(team, results=_best(team.results, mine.results)[:limit])

    def similar(self, name: str, limit: int = 10) -> tuple[m.Hit, ...]:
        try:
            return self._local.similar(name, limit)
        except MemoryNotFound:
            return super().similar(name, limit)

    def note_use(self, used: Iterable[str], session: str | None = None, rejected: Iterable[str] = ()) -> None:
        used, rejected = list(used), list(rejected)
        mine = self._context.store.get_many([*used, *rejected])
        if mine:
            self._local.note_use(
                [name for name in used if name in mine], session, [name for name in rejected if name in mine]
            )
        super().note_use(
            [name for name in used if name not in mine],
            session,
            [name for name in rejected if name not in mine],
        )


class MixedComposer(RemoteComposer):
    """Tells agents on this machine what the team knows, and what is private to their person."""

    def __init__(self, parts: DeliveryParts, local: Composer) -> None:
        super().__init__(parts)
        self._local = local

    def material(
        self, request: DeliveryRequest, *, starting: bool = False, sidecar: "Sidecar | None" = None
    ) -> Material:
        team = super().material(request, starting=starting, sidecar=sidecar)
        mine = self._local.material(request, starting=starting)
        return replace(
            team,
            always=(*team.always, *mine.always),
            fired=_best(team.fired, mine.fired),
            matches=_best(team.matches, mine.matches),
            known_errors=_best(team.known_errors, mine.known_errors),
            waiting=(*team.waiting, *mine.waiting),
            conflicts=(*team.conflicts, *mine.conflicts),
            stale=team.stale | mine.stale,
            probabilities={**team.probabilities, **mine.probabilities},
        )


@frozen
class MixedMaintenance(RemoteMaintenance):
    """Review and undo, of the team's changes and of private ones."""

    local: Maintenance | None = None

    @property
    def _local(self) -> Maintenance:
        assert self.local is not None
        return self.local

    def changes(self, limit: int = 20, *, all_projects: bool = False) -> tuple[m.Change, ...]:
        team = RemoteMaintenance.changes(self, limit, all_projects=all_projects)
        mine = self._local.changes(limit, all_projects=all_projects)
        return tuple(sorted((*team, *mine), key=lambda change: change.id, reverse=True)[:limit])

    def doctor(self) -> "tuple[Diagnosis, ...]":
        return self._local.doctor()

    def undo(self, name: str) -> m.Undone:
        try:
            return self._local.undo(name)
        except ChangeNotFound:
            return RemoteMaintenance.undo(self, name)

    def questions(
        self, kind: str | None = None, *, all_projects: bool = False, tidy: bool = True
    ) -> "tuple[OpenReview, ...]":
        mine = self._local.questions(kind, all_projects=all_projects, tidy=tidy)
        return (*RemoteMaintenance.questions(self, kind), *mine)

    def decide(self, name: str, answer: str, text: str = "") -> "ReviewDecision":
        try:
            return self._local.decide(name, answer, text)
        except ReviewNotFound:
            return RemoteMaintenance.decide(self, name, answer, text)


def _best(*hits: Iterable[m.Hit]) -> tuple[m.Hit, ...]:
    """Return all hits, best first."""
    return tuple(sorted((hit for each in hits for hit in each), key=lambda hit: hit.score, reverse=True))
