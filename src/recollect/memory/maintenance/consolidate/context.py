"""What every operation of consolidation works with, and the actions it plans."""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from pathlib import Path

import recollect.model as m
from recollect.context.embedder import Embedder
from recollect.context.store import Store
from recollect.frozen import frozen
from recollect.llm.protocol import Judge, StatementRelation
from recollect.memory.judgement.compare import compare
from recollect.memory.judgement.comparison import ALIKE, Comparison
from recollect.memory.judgement.second_opinion import Inference, asked_of, held_back
from recollect.memory.maintenance.consolidate.groups import MemoryGroup, SimilarPair, load_groups
from recollect.memory.maintenance.consolidate.throttle import Throttle
from recollect.memory.maintenance.consolidate.verifier import ProjectVerifier, Verifier

MERGED = "merged"
PROPOSED = "proposed"
SUPERSEDED = "superseded"
CONTRADICTIONS = "contradictions"
TIED = "tied"
STALE = "stale"
LINKED = "linked"
STRENGTHENED = "strengthened"
PRUNED = "pruned"
VECTORS = "vectors"
TAGS = "tags"
CLUSTERS = "clusters"

COUNTED = (  # in the order of a summary: name, wording for one, wording for several
    (MERGED, "merged {}", "merged {}"),
    (PROPOSED, "proposed {} merge", "proposed {} merges"),
    (SUPERSEDED, "superseded {}", "superseded {}"),
    (CONTRADICTIONS, "{} contradiction", "{} contradictions"),
    (TIED, "tied {} to code", "tied {} to code"),
    (STALE, "{} stale", "{} stale"),
    (LINKED, "{} link", "{} links"),
    (STRENGTHENED, "{} stronger link", "{} stronger links"),
    (PRUNED, "pruned {}", "pruned {}"),
    (VECTORS, "{} vector", "{} vectors"),
    (TAGS, "{} tag", "{} tags"),
    (CLUSTERS, "{} cluster", "{} clusters"),
)


@frozen
class Action:
    """One small change, planned before it is made.

    `do` runs in a transaction that it shares with other actions. It reads the memories again and returns whether the
    change was still needed.
    """

    counts_as: str  # one of COUNTED
    memories: tuple[str, ...]
    why: str  # shown by a dry run
    do: Callable[[], bool]
    position: str = ""  # where the operation resumes after this action


def summarise(counts: Mapping[str, int]) -> str:
    """Return a sentence such as "Merged 12, proposed 3 merges, 1 contradiction."."""
    parts = [
        (one if counts[name] == 1 else several).format(f"{counts[name]:,}")
        for name, one, several in COUNTED
        if counts.get(name)
    ]
    text = ", ".join(parts) or "nothing to do"
    return f"{text[0].upper()}{text[1:]}."


@dataclass(slots=True)
class OperationContext:
    """One run: whose memories, with which parts, at what time."""

    store: Store
    embedder: Embedder
    user_id: str
    actor: str
    now: datetime
    confirmed_now: datetime  # what is forgotten by age relies on: see `recollect.context.confirmed_time`
    throttle: Throttle
    sidecar: Judge | None = None  # None = rules alone
    inference: Inference | None = None  # None = nothing holds back a merge
    verifiers: Mapping[str, Verifier] | None = None  # by project; None = for all projects on this machine
    here: m.Project | None = None  # of several worktrees of a project, this one is looked at
    project_id: str | None = None  # only this project and global memories; None = all projects
    since: datetime | None = None  # when the last run ended; None = never
    advance: Callable[[float], None] = lambda share: None  # reports progress of the current operation
    superseded: set[str] = field(default_factory=set)  # memories that this run supersedes
    _groups: "list[MemoryGroup] | None" = None

    @property
    def everything(self) -> m.View:
        """All active memories of the user that this run is about, of every session."""
        return m.View(self.user_id, self.project_id, all_projects=self.project_id is None, all_sessions=True)

    def owns(self, memory: m.Memory) -> bool:
        """Return whether the memory is the user's: those of others may be visible, but stay unchanged."""
        return memory.user_id == self.user_id

    def verifier(self, memory: m.Memory) -> Verifier | None:
        """Return the verifier of the memory's project, or None if the project is not on this machine."""
        if self.verifiers is None:
            known = [*self.store.projects(), *([self.here] if self.here else [])]
            roots = {project.id: Path(project.root) for project in known if project.root}
            self.verifiers = {name: ProjectVerifier(root) for name, root in roots.items() if root.is_dir()}
        return self.verifiers.get(memory.project_id or "")

    def groups(self) -> list[MemoryGroup]:
        """Return the groups of comparable memories. They are read once; every action reads its memories again."""
        if self._groups is None:
            self._groups = load_groups(
                self.store,
                self.user_id,
                self.everything,
                self.embedder.model,
                self.throttle.yield_to_foreground,
            )
        return self._groups

    def similar_pairs(self, position: str) -> Iterator[tuple[MemoryGroup, SimilarPair]]:
        """Yield pairs that say the same, probably do, or contradict each other, from `position` on."""
        last_group, _, last_id = position.partition(" ")
        groups = self.groups()
        for number, group in enumerate(groups):
            if group.name >= last_group:
                after = last_id if group.name == last_group else ""
                for pair in group.judged(after, self.judge, self.throttle.yield_to_foreground):
                    yield group, pair
            self.advance((number + 1) / len(groups))

    def judge(self, new: str, old: str, cosine: float | None) -> Comparison:
        """Compare by rule; ask the language model, if there is one, where the rules are unsure and it matters."""
        verdict = compare(new, old, cosine)
        opposed = verdict.relation is StatementRelation.CONTRADICTION
        probably = verdict.relation is StatementRelation.MERGEABLE and (
            verdict.certain or (cosine or 0.0) >= ALIKE
        )
        if self.inference is not None and (opposed or probably):
            verdict = held_back(self.inference, verdict, new, old)
        if self.sidecar is None or verdict.certain or not (opposed or probably):
            return verdict
        return asked_of(self.sidecar, verdict, new, old)

    def unchanged(self, pair: SimilarPair) -> tuple[m.Memory, m.Memory] | None:
        """Return the two, older first; None unless their texts are those that were compared."""
        both = self.both(pair.older, pair.newer)
        return both if both and {memory.content for memory in both} == set(pair.texts) else None

    def both(self, one: str, other: str) -> tuple[m.Memory, m.Memory] | None:
        """Return the two as they are now, older first; None unless both are active and comparable."""
        memories = self.store.get_many([one, other])
        if len(memories) < 2:
            return None
        older, newer = sorted(memories.values(), key=lambda memory: (memory.created_at, memory.id))
        active = older.state is m.State.ACTIVE and newer.state is m.State.ACTIVE
        return (older, newer) if active and m.same_matter(older, newer) else None

    def linked(self, one: str, other: str, *relations: m.Relation) -> bool:
        """Return whether a link connects the two, of one of `relations` if given. Resolved links count."""
        return any(
            {link.source, link.target} == {one, other} and (not relations or link.relation in relations)
            for link in self.store.links(one)
        )

    def ask(self, kind: str, reason: str, *memories: m.Memory, since: datetime | None = None) -> bool:
        """Add a question to the review list; return whether it is new. `since` as for `reviews.ask`."""
        names = tuple(memory.id for memory in memories)
        project = memories[0].project_id
        question = m.Review(m.new_id(self.now), self.user_id, project, kind, names, reason, self.now)
        return self.store.reviews.ask(question, since)
