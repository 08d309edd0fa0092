"""Memories one at a time: write, read and change them. `engine.memory` is a `Memories`.

`Memories` asks the policy who may change what, and records each act as a change that can be undone; `MemoryWriter` decides
what a new statement does to those that exist.
"""

import contextlib
import hashlib
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import replace
from functools import cached_property
from typing import TYPE_CHECKING, Any

import recollect.model as m
from recollect.context.context import Context, member_named
from recollect.errors import (
    AmbiguousId,
    ChangedMeanwhile,
    ContentRefused,
    EmbedderUnavailable,
    MemoryNotFound,
    Refused,
    UnknownName,
)
from recollect.kinds import kind_of
from recollect.memory.anchors.stale import track
from recollect.memory.index.index import MemoryIndex
from recollect.memory.maintenance import states
from recollect.memory.maintenance.undo import one_change
from recollect.memory.maintenance.vectors import embed_missing
from recollect.memory.write.enrich import normal_tag
from recollect.policy import Operation, Permission

if TYPE_CHECKING:
    from recollect.llm.protocol import Judge
    from recollect.memory.maintenance.wrong import WrongResult
    from recollect.memory.write.writer import MemoryWriter

_VECTORS_PER_WRITE = 32  # of memories written while there was no embedder, so that no single write takes long


class Memories:
    """The memories of one user as one actor sees and changes them. An agent changes those of its project only."""

    def __init__(self, context: Context, judge: "Judge | None" = None) -> None:
        self._context = context
        self._store = context.store
        self._judge = judge
        self.index = MemoryIndex(context.store)

    @cached_property
    def writer(self) -> "MemoryWriter":
        """What every new or changed statement goes through."""
        from recollect.memory.write.writer import MemoryWriter  # its tables of words cost readers 60 ms

        return MemoryWriter(self._context, self.index, self._judge)

    # reading

    def get(self, name: str) -> m.Memory:
        """Return the memory with this id, or with an id that begins with it. Raises `MemoryNotFound`, `AmbiguousId`."""
        self._context.refuse_agents_if_off()
        return self._store.get(self._store.resolve(self._context.full_view(), name))

    def get_many(self, ids: Iterable[str]) -> dict[str, m.Memory]:
        """Return those of these memories that exist and that the actor may see, by id."""
        view = self._context.full_view()
        found = self._store.get_many(list(ids))
        return {name: memory for name, memory in found.items() if view.shows_memory(memory)}

    def said_before(self, session: str, fingerprint: str) -> str | None:
        """Return the memory of this text that the session has stored before; usually None."""
        view = m.View(self._context.user_id, self._context.project_id)
        twins = self._store.with_fingerprint(view, fingerprint)
        return next((twin.id for twin in twins if twin.session == session), None)

    def find(self, name: str) -> m.Memory:
        """Return the memory with this id, or the only active one here that contains the keyword `name`."""
        try:
            return self.get(name)
        except MemoryNotFound:
            matches = [memory_id for memory_id, _ in self._store.match(self._context.view(), name, 5)]
            if m.looks_like_id(name):  # its parts, such as a 7, match memories that do not have it
                named = self._store.get_many(matches)
                matches = [found for found in matches if name in named[found].content.lower()]
            if len(matches) == 1:
                return self._store.get(matches[0])
            if matches:
                raise AmbiguousId(name, matches) from None
            raise

    def list(
        self, *, tag: str | None = None, file: str | None = None, limit: int | None = None, **filters: Any
    ) -> tuple[m.Memory, ...]:
        """Return memories of this project and global ones, newest first. For `filters` see `Context.view`."""
        self._context.refuse_agents_if_off()
        return tuple(
            self._store.newest(
                self._context.view(**filters), tag=normal_tag(tag) if tag else None, file=file, limit=limit
            )
        )

    def count(self, *, tag: str | None = None, file: str | None = None, **filters: Any) -> int:
        """Return how many memories `list` returns."""
        if tag or file:
            return len(self.list(tag=tag, file=file, **filters))
        return self._store.count(self._context.view(**filters))

    def undescribed(self, limit: int = 20) -> tuple[tuple[m.Memory, ...], int]:
        """Return lasting memories of the user in this project that do not say when they are needed, and how many there are.

        Those that matter most come first: the user's words and confirmed rules, then by the weight of the kind, then the
        newest. Pinned ones are always shown, and proposals never: neither is among them.
        """
        self._context.refuse_agents_if_off()
        view = self._context.view()
        described, total = self._store.count_described(view)
        return tuple(self._store.undescribed(view, limit)), total - described

    def page(
        self, view: m.View, which: m.MemoryFilter, order: m.MemoryOrder, limit: int, offset: int = 0
    ) -> tuple[tuple[m.Memory, ...], int]:
        """Return a part of the memories that a person may browse, and how many there are in all.

        `view` comes from `Context.full_view`.
        """
        self._context.check(Operation.READ_ALL_PROJECTS)
        memories = self._store.page(view, which, order, limit, offset)
        is_whole = not offset and len(memories) < limit
        return tuple(memories), len(memories) if is_whole else self._store.count_page(view, which)

    def shown(self, name: str, limit: int = 20) -> tuple[m.DeliveryRecord, ...]:
        """Return the newest deliveries in which agents were told this memory; each says whether it was used."""
        return tuple(self._store.deliveries.of_item(self._context.user_id, self.get(name).id, limit))

    def graph(self) -> tuple[tuple[m.Memory, ...], tuple[m.Link, ...]]:
        """Return all memories in view, and the links between them."""
        return self.list(), tuple(self._store.all_links(self._context.view()))

    def links(self, name: str) -> tuple[m.Link, ...]:
        """Return the links of a memory to others that the actor may see."""
        memory, view = self.get(name), self._context.full_view()
        links = self._store.links(memory.id)
        ends = self._store.get_many(
            [link.target if link.source == memory.id else link.source for link in links]
        )
        visible = {memory.id, *(end.id for end in ends.values() if view.shows_memory(end))}
        return tuple(link for link in links if {link.source, link.target} <= visible)

    def conflicts(self) -> tuple[tuple[m.Link, m.Memory, m.Memory], ...]:
        """Return the unresolved contradictions, each with both memories."""
        links = self._store.conflicts(self._context.view())
        return tuple((link, self._store.get(link.source), self._store.get(link.target)) for link in links)

    def people(self) -> Mapping[str, str]:
        """Return the names of the people who share these memories, by id; empty if nobody does."""
        return {}

    def tags(self) -> tuple[m.Tag, ...]:
        """Return the tags of memories in view, most used first."""
        return tuple(self._store.tags(self._context.view()))

    def audit(self, limit: int = 50, name: str | None = None) -> tuple[m.AuditLine, ...]:
        """Return the newest lines of the audit log, of one memory or of all. An agent sees its project's only."""
        lines = self._store.audit(limit, self.get(name).id if name else None)
        if self._context.is_agent:
            memories = self._store.get_many([line.memory_id for line in lines if line.memory_id])
            own = {memory.id for memory in memories.values() if memory.project_id == self._context.project_id}
            lines = [line for line in lines if line.memory_id in own]
        return tuple(lines)

    # writing

    # Every act is recorded as a change, whoever acts. A caller that offers to undo it gives the `change` to record it as.

    def remember(self, content: str, *, change: m.Change | None = None, **details: Any) -> m.Receipt:
        """Store a statement; `details` are the other fields of `Draft`. Raises `Refused`."""
        self._context.refuse_if_off()
        if self._context.is_agent:
            details["created_by"] = self._context.actor  # an agent cannot write in another's name
            details.pop("evidence", None)
        details["created_by"] = m.plain_author(details.get("created_by", self._context.actor))
        draft = m.Draft(content, **details)
        _check_triggers(draft.created_by, draft.triggers)
        prepared = self.writer.prepare(draft)
        self._register(prepared.memory.project_id)
        receipt = self.writer.write(prepared, change or self._context.new_change("remember"))
        track(self._context, self._context.store.get(receipt.id))
        self.fill_in_vectors(receipt.notes)
        return replace(
            receipt,
            notes=(
                *receipt.notes,
                *self._missing_files(draft.file_paths),
                *_rule_note(draft, receipt, prepared.memory),
            ),
        )

    def _register(self, project_id: str | None) -> None:
        """Store the current project if something of it is about to be written. It may be closed to who writes elsewhere."""
        if project_id == self._context.project_id:
            self._context.register_project()

    def _missing_files(self, paths: Iterable[str]) -> Iterator[str]:
        """Yield a note for each file that does not exist: a memory about one is never found by its code."""
        root = self._context.root
        if root is not None:
            yield from (
                f"There is no file {path} in this project." for path in paths if not (root / path).exists()
            )

    def add_finding(self, draft: m.Draft) -> m.Receipt:
        """Store what was learnt from a session, whoever `draft` names as its author. Raises `Refused`.

        For `work.sessions` alone, which names a user only where the host's own record confirms it.
        """
        _check_triggers(draft.created_by, draft.triggers)
        self._context.register_project()
        change = replace(self._context.new_change("learn"), actor=draft.created_by)
        return self.writer.write(self.writer.prepare(draft), change)

    def edit(
        self, name: str, *, expected: str | None = None, change: m.Change | None = None, **changes: Any
    ) -> tuple[m.Memory, m.Receipt]:
        """Change fields of a memory; for the fields see `_EDITABLE`. Raises `Refused`, `UnknownName`, `OutOfScope`.

        `expected` is the `edition` that the caller saw: raises `ChangedMeanwhile` if the memory is another one now.
        """
        memory = self._checked(Operation.EDIT, self.get(name))
        _check_triggers(self._context.actor, changes.get("triggers", ()))
        self._register(self._context.project_id if "scope" in changes else memory.project_id)

        def edited_now(current: m.Memory) -> m.Memory:
            if expected is not None and edition(current) != expected:
                raise ChangedMeanwhile(current.id)
            return _with_changes(current, changes, self._context.project_id)

        act = self._named(change, "edit", memory, f"Edited {memory.id}: {', '.join(changes)}.")
        edited, receipt = self.writer.rewrite(memory.id, edited_now, self._context.actor, act)
        self.fill_in_vectors(receipt.notes)
        return edited, receipt

    def describe(
        self, name: str, situations: Iterable[str], *, change: m.Change | None = None
    ) -> tuple[m.Memory, m.Receipt]:
        """Add situations in which a memory is needed, in other words than its own. Raises `Refused`, `OutOfScope`.

        Nothing else of it changes, so an agent may describe what its user said. It has at most five: an agent's go behind
        those that are there, a person's before them. The `change` of one may be given for others, which makes them one.
        """
        memory = self.get(name)
        summary = change.summary if change and change.summary else f"Said when {memory.id} is needed."
        act = self._named(change, "describe", memory, summary)
        described, receipt = self.writer.describe(memory.id, situations, self._context.actor, act)
        self.fill_in_vectors(receipt.notes)
        return described, receipt

    def forget(self, name: str, *, change: m.Change | None = None) -> m.Memory:
        """Hide a memory from every search; `restore` brings it back for 30 days. `name` as for `find`.

        What an agent may only propose stays active, and a person is asked (`recollect review --kind forget`).
        """
        memory = self.find(name)
        if self._context.check_memory(Operation.FORGET, memory) is Permission.PROPOSE:
            self._propose("forget", (memory,), f"{self._context.actor} proposes to forget it")
            return memory
        with self._change("forget", memory, f"Forgot {memory.id}.", change):
            return states.forget(self._store, memory.id, self._context.actor, self._context.clock())

    def restore(self, name: str, *, change: m.Change | None = None) -> m.Memory:
        """Make a memory active again that was forgotten, archived, deprecated or superseded. Raises `Refused`."""
        memory = self._checked(Operation.RESTORE, self.get(name))
        with self._change("restore", memory, f"Restored {memory.id}.", change):
            return states.restore(self._store, memory.id, self._context.actor, self._context.clock())

    def wrong(self, name: str, because: str = "", instead: str = "", restore: bool = False) -> "WrongResult":
        """Record that a memory is wrong and what is right `instead`, as one change. Raises `Refused`.

        With `restore`, the memories that it superseded become active again.
        """
        from recollect.memory.maintenance.wrong import flag

        memory = self._checked(Operation.FLAG_WRONG, self.get(name))
        self._register(memory.project_id)
        change = self._context.new_change("wrong", project_id=memory.project_id)
        result = flag(self._store, self.writer, change, memory, because, instead, restore)
        self.fill_in_vectors(result.correction.notes if result.correction else ())
        return result

    def pin(self, name: str, on: bool | None = None, *, change: m.Change | None = None) -> m.Memory:
        """Pin or unpin a memory, or toggle it for None. Pinned memories are in every briefing and never fade."""
        memory = self._checked(Operation.PIN, self.find(name))
        wanted = not memory.pinned if on is None else on
        with self._change("pin", memory, f"{'Pinned' if wanted else 'Unpinned'} {memory.id}.", change):
            return states.pin(self._store, memory.id, self._context.actor, self._context.clock(), on)

    def tag(
        self,
        name: str,
        add: Iterable[str] = (),
        remove: Iterable[str] = (),
        *,
        change: m.Change | None = None,
    ) -> m.Memory:
        """Add and remove tags of a memory."""
        memory = self._checked(Operation.TAG, self.get(name))
        with self._change("tag", memory, f"Changed the tags of {memory.id}.", change):
            return states.tag(
                self._store, memory.id, self._context.actor, self._context.clock(), tuple(add), tuple(remove)
            )

    def link(
        self,
        source: str,
        target: str,
        relation: str = "relates_to",
        weight: float = 1.0,
        *,
        change: m.Change | None = None,
    ) -> m.Link:
        """Link two memories; the target of `supersedes` becomes superseded. Raises `UnknownName` for an unknown relation.

        What an agent may only propose is not linked, and a person is asked: the verdict is then `PROPOSED`. What another
        person has stored is not superseded but contradicted, and the link that is returned says so.
        """
        first, second = self._checked(Operation.LINK, self.get(source)), self.get(target)
        actor, now = self._context.actor, self._context.clock()
        link = states.new_link(first, second, relation, now, weight)
        if link.relation is m.Relation.SUPERSEDES:
            states.check_replacement(first, second)
            if first.user_id != second.user_id:
                link = replace(link, relation=m.Relation.CONTRADICTS)
            elif self._context.check_memory(Operation.SUPERSEDE, second) is Permission.PROPOSE:
                self._propose(
                    "contradiction", (first, second), f"{actor} says that the first replaces the second"
                )
                return replace(link, verdict=m.PROPOSED)
            else:
                with self._change("link", first, f"{first.id} replaced {second.id}.", change):
                    return states.replace_by_hand(self._store, link, actor)
        if link.relation is m.Relation.CONTRADICTS:
            permissions = [self._context.check_memory(Operation.CONTRADICT, end) for end in (first, second)]
            if Permission.PROPOSE in permissions:
                newer, older = sorted((first, second), key=lambda memory: memory.created_at, reverse=True)
                self._propose(
                    "contradiction", (newer, older), f"{actor} says that they contradict each other"
                )
                return replace(link, verdict=m.PROPOSED)
        else:
            self._checked(Operation.LINK, second)
        with self._change("link", first, f"Linked {first.id} to {second.id}.", change):
            states.put_link(self._store, link, actor)
        return link

    def unlink(self, source: str, target: str, relation: str, *, change: m.Change | None = None) -> bool:
        """Remove a link; return whether there was one. Raises `UnknownName` for an unknown relation."""
        ends = self._checked(Operation.UNLINK, self.get(source)), self.get(target)
        named = member_named(m.Relation, "relation", relation)
        with self._change("unlink", ends[0], f"Unlinked {ends[0].id} from {ends[1].id}.", change):
            return states.unlink(self._store, *ends, named, self._context.actor, self._context.clock())

    def merge(self, name: str, other: str, *, change: m.Change | None = None) -> m.Memory:
        """Merge two memories that say the same; return the one that stays. Raises `Refused`."""
        from recollect.memory.maintenance.merge import merge
        from recollect.memory.write.reinforce import survivor_of

        pair = survivor_of(*(self._checked(Operation.MERGE, self.get(each)) for each in (name, other)))
        _refuse_to_merge(*pair)
        kept, merged = pair
        with self._change("merge", kept, f"Merged {merged.id} into {kept.id}.", change):
            now = self._store.get(kept.id), self._store.get(merged.id)
            _refuse_to_merge(*now)
            context = self._context
            return merge(self._store, *now, context.embedder.model, context.actor, context.clock())

    @contextlib.contextmanager
    def together(self, action: str, summary: str) -> Iterator[m.Change]:
        """Make all acts in the block one change, in one transaction. Nothing in it may wait."""
        change = self._context.new_change(action, summary, project_id=self._context.project_id)
        with one_change(self._store, change):
            yield change

    def resolve(self, first: str, second: str, keep: str, *, change: m.Change | None = None) -> None:
        """Settle a contradiction: `keep` is one of the two ids, "A", "B" or "both". Raises `Refused`."""
        a, b = (self._checked(Operation.RESOLVE, self.get(name)) for name in (first, second))
        kept = None if keep == "both" else self.get({"A": a.id, "B": b.id}.get(keep, keep)).id
        if kept is not None and kept not in (a.id, b.id):
            raise Refused(f"{keep} is not one of the two.", f"--keep {a.id}, {b.id} or both.")
        with self._change("resolve", a, f"Settled {a.id} and {b.id}: kept {kept or 'both'}.", change):
            states.resolve(self._store, a.id, b.id, kept, self._context.actor, self._context.clock())

    def feedback(
        self, name: str, helpful: bool, session: str | None = None, *, change: m.Change | None = None
    ) -> m.Memory:
        """Raise or lower the confidence of a memory that did or did not help.

        An agent's feedback on a memory counts once per session; without a session, once per day.
        """
        from recollect.memory.maintenance.feedback import feedback

        memory = self._checked(Operation.PRAISE if helpful else Operation.DOUBT, self.get(name))
        actor, now = self._context.actor, self._context.clock()
        once = f"{session or now.date()} {actor} {memory.id}" if self._context.is_agent else None
        verdict = "helped" if helpful else "did not help"
        with self._change("feedback", memory, f"{memory.id} {verdict}.", change):
            return feedback(self._store, memory, helpful, actor, now, once)

    def _checked(self, operation: Operation, memory: m.Memory) -> m.Memory:
        """Return `memory` if the actor may do this to it. Raises `OutOfScope`."""
        self._context.check_memory(operation, memory)
        return memory

    def _propose(self, kind: str, memories: tuple[m.Memory, ...], reason: str) -> None:
        """Ask a person in the review list, once."""
        now = self._context.clock()
        ids = tuple(memory.id for memory in memories)
        project_id = memories[0].project_id
        with self._store.transaction():
            question = m.Review(m.new_id(now), self._context.user_id, project_id, kind, ids, reason, now)
            if self._store.reviews.ask(question):
                self._store.log("update", self._context.actor, now, ids[0], {"proposed": kind})

    def _change(
        self, action: str, memory: m.Memory, summary: str, change: m.Change | None = None
    ) -> contextlib.AbstractContextManager[None]:
        return one_change(self._store, self._named(change, action, memory, summary))

    def _named(self, change: m.Change | None, action: str, memory: m.Memory, summary: str) -> m.Change:
        change = change or self._context.new_change(action)
        return replace(
            change, action=action, summary=summary, project_id=memory.project_id, finished_at=change.at
        )

    def fill_in_vectors(self, notes: tuple[str, ...]) -> None:
        """Embed some memories that were written without a vector, unless `notes` say that this one was too."""
        pending = bool(self._store.setting(None, "vectors_pending"))
        if notes:
            if not pending:
                self._store.set_setting(None, "vectors_pending", True)
        elif pending:
            with contextlib.suppress(
                EmbedderUnavailable
            ):  # the write itself is done; try again with the next
                count = embed_missing(self._store, self._context.embedder, limit=_VECTORS_PER_WRITE)
                self._store.set_setting(None, "vectors_pending", count == _VECTORS_PER_WRITE)


def _rule_note(draft: m.Draft, receipt: m.Receipt, memory: m.Memory) -> Iterator[str]:
    """Yield a note if nobody said that the statement is a rule and it was taken for one."""
    if draft.kind is not None or receipt.is_duplicate or not kind_of(memory.kind).standing:
        return
    if kind_of(memory.kind).forbids:
        yield f"Agents are stopped before they run `{memory.triggers[0]}`. Use --kind preference to only tell them."
    else:
        yield f"Stored as a {memory.kind}: every session is told. Use --kind fact if it is no rule."


def _check_triggers(author: str, triggers: Iterable[str]) -> None:
    """Raise `ContentRefused` if an agent gives a trigger that nearly every text contains."""
    triggers = tuple(triggers)
    if not triggers or not m.is_agent(author):
        return
    from recollect.memory.search.triggers import is_specific

    for trigger in triggers:
        if not is_specific(trigger):
            raise ContentRefused(
                f"The trigger {trigger[:60]!r} is not specific: ordinary texts contain it.",
                "Give words that occur only where the memory matters, such as a command or an error.",
            )


_EDITABLE: dict[str, Callable[[Any], Any]] = {
    "content": str,
    "kind": lambda name: kind_of(name).name,
    "tags": tuple,
    "file_paths": tuple,
    "triggers": tuple,
    "when_needed": tuple,
    "season": lambda text: text or None,
    "branch": lambda text: text or None,
    "importance": float,
    "visibility": lambda name: member_named(m.Visibility, "visibility", name),
    "scope": lambda name: member_named(m.Scope, "scope", name),
    "steps": tuple,
}


def _with_changes(memory: m.Memory, changes: Mapping[str, Any], project_id: str | None) -> m.Memory:
    for name in changes:
        if name not in _EDITABLE:
            raise UnknownName("field", name, list(_EDITABLE))
    if not changes:
        raise Refused("No change was given.", f"Give one of: {', '.join(_EDITABLE)}.")
    values = {name: _EDITABLE[name](value) for name, value in changes.items()}
    if "steps" in values:
        steps = values.pop("steps")
        before = memory.procedure or m.Procedure(memory.summary)
        values["procedure"] = replace(before, steps=steps) if steps or memory.procedure else None
    if values.get("scope", memory.scope) is not memory.scope:
        values["project_id"] = _project_for(values["scope"], memory, project_id)
    return replace(memory, **values)


def _project_for(scope: m.Scope, memory: m.Memory, project_id: str | None) -> str | None:
    """Return the project of a memory that moves to `scope`. Raises `Refused`."""
    if scope is m.Scope.GLOBAL:
        return None
    if scope is m.Scope.SESSION:
        raise Refused(
            "A memory cannot be moved into a session.", "Move it to the project, or make it global."
        )
    if (found := memory.project_id or project_id) is None:
        raise Refused("This folder belongs to no project.", "Go into the project's folder.")
    return found


def edition(memory: m.Memory) -> str:
    """Return what changes when a person or an agent edits the memory, and stays when it is merely used."""
    seen = (
        memory.content,
        memory.kind,
        memory.tags,
        memory.file_paths,
        memory.triggers,
        memory.when_needed,
        memory.procedure,
        memory.season,
        memory.branch,
        memory.importance,
        memory.visibility,
        memory.scope,
        memory.project_id,
        memory.standing,
        memory.state,
    )
    return hashlib.sha256(repr(seen).encode()).hexdigest()[:16]


def _refuse_to_merge(one: m.Memory, other: m.Memory) -> None:
    if one.id == other.id:
        raise Refused("A memory cannot be merged with itself.", "Give two ids.")
    if m.State.ACTIVE not in (one.state, other.state) or one.state is not other.state:
        raise Refused("Only active memories can be merged.", "Restore the other one first.")
    if not m.same_matter(one, other) or one.scope is not other.scope:
        raise Refused(
            "These memories belong to different projects, branches or seasons.",
            "Move one of them first.",
        )
