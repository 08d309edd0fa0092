"""What every operation of consolidation works with."""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from datetime import datetime
from pathlib import Path

import recollect.model as m
from recollect.context.embedder import Embedder
from recollect.context.store import Store
from recollect.llm.protocol import Judge, StatementRelation
from recollect.memory.maintenance.consolidate.matter import Alike, Matter, load_matters
from recollect.memory.maintenance.consolidate.pace import Pace
from recollect.memory.maintenance.consolidate.verifier import NamedThings, Verifier
from recollect.memory.write import contradict


@dataclass(slots=True)
class Work:
    """One run: whose memories, with what, at what time, and how far it has come."""

    store: Store
    embedder: Embedder
    user_id: str
    actor: str
    now: datetime
    pace: Pace
    sidecar: Judge | None = None  # None = rules alone
    verifiers: Mapping[str, Verifier] | None = None  # by project; None = for all that are on this machine
    here: m.Project | None = None  # where we stand: of several worktrees, this one is looked at
    since: datetime | None = None  # when the last run was; None = never
    advance: Callable[[float], None] = lambda share: None  # of the operation that is under way
    gone: set[str] = field(default_factory=set)  # what this run supersedes
    _matters: "list[Matter] | None" = None

    @property
    def everything(self) -> m.View:
        """All that is the user's and active, wherever it belongs."""
        return m.View(self.user_id, all_projects=True, all_sessions=True)

    def own(self, memory: m.Memory) -> bool:
        """Others' memories may be seen; they are not ours to tend."""
        return memory.user_id == self.user_id

    def verifier(self, memory: m.Memory) -> Verifier | None:
        """Who can tell whether it still holds; None where nobody can."""
        if self.verifiers is None:
            known = [*self.store.projects(), *([self.here] if self.here else [])]
            roots = {each.id: Path(each.root) for each in known if each.root}
            self.verifiers = {name: NamedThings(root) for name, root in roots.items() if root.is_dir()}
        return self.verifiers.get(memory.project_id or "")

    def matters(self) -> list[Matter]:
        """Read once: what has changed since is seen when an act looks again."""
        if self._matters is None:
            self._matters = load_matters(
                self.store, self.user_id, self.everything, self.embedder.model, self.pace.breathe
            )
        return self._matters

    def alike(self, position: str) -> Iterator[tuple[Matter, Alike]]:
        """Pairs of which the rules have more to say than that they are near, from `position` on."""
        last_matter, _, last_id = position.partition(" ")
        matters = self.matters()
        for number, matter in enumerate(matters):
            if matter.name >= last_matter:
                after = last_id if matter.name == last_matter else ""
                for pair in matter.judged(after, self.judge, self.pace.breathe):
                    yield matter, pair
            self.advance((number + 1) / len(matters))

    def judge(self, new: str, old: str, cosine: float | None) -> contradict.Comparison:
        """By rule; where the rules are unsure and it matters, by the language model if there is one."""
        verdict = contradict.compare(new, old, cosine)
        opposed = verdict.relation is StatementRelation.CONTRADICTION
        probably = verdict.relation is StatementRelation.MERGEABLE and (cosine or 0.0) >= contradict.ALIKE
        if self.sidecar is None or verdict.certain or not (opposed or probably):
            return verdict
        said = self.sidecar.relate(new, old)
        return verdict if said is None else replace(verdict, relation=said, certain=True)

    def still(self, pair: Alike) -> tuple[m.Memory, m.Memory] | None:
        """The two, the older first; None unless both say what they said, are active and about one matter."""
        both = self.both(pair.older, pair.newer)
        return both if both and {each.content for each in both} == set(pair.texts) else None

    def both(self, one: str, other: str) -> tuple[m.Memory, m.Memory] | None:
        """The two as they are now, the older first; None unless both are active and about one matter."""
        found = self.store.get_many([one, other])
        if len(found) < 2:
            return None
        older, newer = sorted(found.values(), key=lambda memory: (memory.created_at, memory.id))
        active = older.state is m.State.ACTIVE and newer.state is m.State.ACTIVE
        return (older, newer) if active and m.same_matter(older, newer) else None

    def linked(self, one: str, other: str, *relations: m.Relation) -> bool:
        """Whether there is a link between the two, of one of `relations` if given; settled ones count."""
        return any(
            {link.source, link.target} == {one, other} and (not relations or link.relation in relations)
            for link in self.store.links(one)
        )

    def ask(self, kind: str, reason: str, *memories: m.Memory, since: datetime | None = None) -> bool:
        """Leave it to a person; whether it is a new question. `since` as for `ReviewShelf.ask`."""
        names = tuple(memory.id for memory in memories)
        project = memories[0].project_id
        question = m.Review(m.new_id(self.now), self.user_id, project, kind, names, reason, self.now)
        return self.store.reviews.ask(question, since)
