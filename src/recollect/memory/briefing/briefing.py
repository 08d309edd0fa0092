"""What an agent is told at the start of a task: tier by tier, within a budget counted on the text as it is read."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, TypeVar

import recollect.model as m
from recollect.kinds import kind_of
from recollect.memory.briefing.budget import Allocation, map_share, task_share
from recollect.memory.briefing.render import (
    BriefingEntry,
    Format,
    conflict_line,
    file_label,
    format_named,
    memory_entry,
    one_line,
    short_ids,
)
from recollect.text import tokens

if TYPE_CHECKING:
    from recollect.code.modules.module_map import ModuleCard

MOST_PINNED = 5
MOST_CONFLICTS = 2  # told with one memory; more would crowd it out of its tier
MOST_NAMED = 8  # files, tests or dependencies of a module
MOST_BULLETS = 5  # of a session's summary

Conflict = tuple[m.Link, m.Memory, m.Memory]


@dataclass(frozen=True, slots=True)
class BriefingContent:
    """All that could be said. What does not fit is left out, so more than enough is fine."""

    pinned: tuple[m.Memory, ...] = ()
    standing: tuple[m.Memory, ...] = ()  # live conventions and decisions
    modules: "tuple[ModuleCard, ...]" = ()  # of the task, the most relevant first
    bridge: tuple[m.Finding, ...] = ()  # fresh, of other sessions at work now
    task: tuple[m.Hit, ...] = ()  # the best first
    summaries: tuple[m.Session, ...] = ()
    conflicts: tuple[Conflict, ...] = ()
    stale: frozenset[str] = frozenset()  # ids of memories whose code has changed since

    @property
    def memories(self) -> tuple[m.Memory, ...]:
        return (*self.pinned, *self.standing, *(hit.memory for hit in self.task))


@dataclass(frozen=True, slots=True)
class Briefing:
    text: str  # empty when there is nothing to say, or no room
    host: str
    tokens: int  # of the text
    by_tier: Mapping[str, int]  # with "frame"; together they are `tokens`
    shown: tuple[str, ...]  # ids of memories, in the order of the text
    conflicts: int  # told
    budget: Allocation
    notes: tuple[str, ...] = ()  # how it came about, for people: not all was looked at in time…


def compose(material: BriefingContent, allocation: Allocation, format: str, *, host: str = "") -> Briefing:
    """Return the briefing in the named format. The same material gives the same bytes on any day: prompt caches hold.

    Raise `UnknownName` for an unknown format. `host` is noted in the result.
    """
    form = format_named(format)
    if allocation.total <= 0 or material == BriefingContent():
        return Briefing("", host, 0, {}, (), 0, allocation)
    page = _Page(form, allocation.total)
    desk = _Desk(material)
    always = page.fill("always", allocation.always, desk.always())
    modules = page.fill("map", map_share(allocation), desk.modules())
    bridge = page.fill("bridge", allocation.bridge, desk.bridge())
    unused = allocation.always + allocation.bridge - always - bridge - page.frame
    page.fill("task", task_share(allocation, unused) - modules, desk.task())
    page.fill("summaries", allocation.summaries, desk.summaries())
    text = form.document(list(page.sections.values()))
    by_tier = {
        "frame": page.frame,
        **{tier: tokens.count(section) for tier, section in page.sections.items()},
    }
    return Briefing(
        text=text,
        host=host,
        tokens=tokens.count(text),
        by_tier=by_tier if text else {},
        shown=tuple(page.shown),
        conflicts=len(page.told),
        budget=allocation,
    )


@dataclass(frozen=True, slots=True)
class _Entry:
    key: str  # what it is known by; said once
    order: tuple[float, float, str]  # where in its tier it stands, once chosen
    note: BriefingEntry


@dataclass(slots=True)
class _Page:
    """Takes what fits, and knows what it has."""

    form: Format
    total: int
    frame: int = 0
    left: int = 0
    sections: dict[str, str] = field(default_factory=dict)
    shown: list[str] = field(default_factory=list)
    told: set[str] = field(default_factory=set)  # conflicts
    _keys: set[str] = field(default_factory=set)

    def __post_init__(self) -> None:
        self.frame = tokens.count(self.form.opening) + tokens.count(self.form.closing)
        self.left = self.total - self.frame

    def fill(self, tier: str, share: int, entries: Iterable[_Entry]) -> int:
        """Put down what fits, in the order given, each entry whole or not at all; how many tokens it took."""
        room = min(share, self.left) - tokens.count(self.form.section(tier, ()))
        chosen: list[tuple[_Entry, str]] = []
        for entry in entries if room > 0 else ():
            if entry.key in self._keys or entry.note.says_nothing:
                continue
            news = tuple(told for told in entry.note.conflicts if told not in self.told)
            text = self.form.write(replace(entry.note, conflicts=news))
            cost = tokens.count(self.form.between + text)
            if cost > room:
                continue
            room -= cost
            chosen.append((entry, text))
            self._keys.add(entry.key)
            self.told.update(news)
        if not chosen:
            return 0
        chosen.sort(key=lambda each: each[0].order)
        self.shown += [entry.key for entry, _ in chosen if entry.note.id]
        self.sections[tier] = self.form.section(tier, [text for _, text in chosen])
        used = tokens.count(self.sections[tier])
        self.left -= used
        return used


class _Desk:
    """Makes entries of the material, those first that should be chosen first."""

    def __init__(self, material: BriefingContent) -> None:
        self._material = material
        self._pairs = _open_pairs(material.conflicts)
        disputed = [memory.id for pair in self._pairs for memory in pair]
        # Over all there is and not only what will be shown: how long a name is must not hang on what fits.
        self._names = short_ids([*(memory.id for memory in material.memories), *disputed])
        self._told = self._tell()

    def always(self) -> Iterator[_Entry]:
        for memory in _best_first(self._material.pinned)[:MOST_PINNED]:
            yield self._memory(memory, group=0)
        for memory in _best_first(self._material.standing):
            yield self._memory(memory, group=1)

    def task(self) -> Iterator[_Entry]:
        return (self._memory(hit.memory) for hit in self._material.task)

    def modules(self) -> Iterator[_Entry]:
        for number, card in enumerate(self._material.modules):
            yield _Entry(f"module {card.name}", (number, 0, ""), _module(card))

    def bridge(self) -> Iterator[_Entry]:
        known = {memory.fingerprint for memory in self._material.memories}
        for finding in _best_first(self._material.bridge):
            if finding.fingerprint not in known:
                yield _Entry(f"finding {finding.fingerprint}", _lasting_order(finding), _finding(finding))

    def summaries(self) -> Iterator[_Entry]:
        newest = sorted(self._material.summaries, key=lambda each: (each.started_at, each.id), reverse=True)
        for number, session in enumerate(newest):
            yield _Entry(f"session {session.id}", (number, 0, ""), _session(session))

    def _memory(self, memory: m.Memory, group: int = 0) -> _Entry:
        told = self._told.get(memory.id, [])
        note = memory_entry(
            memory,
            self._names[memory.id],
            stale=memory.id in self._material.stale,
            disputed=bool(told),
        )
        return _Entry(
            memory.id, _lasting_order(memory, group), replace(note, conflicts=tuple(told[:MOST_CONFLICTS]))
        )

    def _tell(self) -> dict[str, list[str]]:
        """By memory, what is to be told of its conflicts: the same words at both ends, so that they are told once."""
        told: dict[str, list[str]] = {}
        for pair in self._pairs:
            first, second = ((self._names[memory.id], memory.summary or memory.content) for memory in pair)
            for memory in pair:
                told.setdefault(memory.id, []).append(conflict_line(first, second))
        return told


def _open_pairs(conflicts: Iterable[Conflict]) -> list[tuple[m.Memory, m.Memory]]:
    """The sides of each open conflict, the older first; in an order of their own."""
    pairs = {}
    for link, one, other in conflicts:
        if link.resolved_at is None and one.id != other.id:
            older, newer = sorted((one, other), key=lambda memory: memory.id)
            pairs[older.id, newer.id] = older, newer
    return [pairs[key] for key in sorted(pairs)]


_Weighed = TypeVar("_Weighed", m.Memory, m.Finding)


def _best_first(these: Sequence[_Weighed]) -> list[_Weighed]:
    """By importance, then the newest: a new convention must not wait behind old decisions."""
    return sorted(these, key=lambda each: (each.importance, each.id), reverse=True)


def _lasting_order(each: m.Memory | m.Finding, group: int = 0) -> tuple[float, float, str]:
    """By nothing that changes from day to day; what is new comes last, behind what a prompt cache has."""
    return group, -kind_of(each.kind).weight, each.id


def _module(card: "ModuleCard") -> BriefingEntry:
    parts = {"Files": card.files, "Tests": card.tests, "Deps": card.deps}
    told = " | ".join(f"{label}: {_some(items)}" for label, items in parts.items() if items)
    return BriefingEntry("module", "MODULE", one_line(card.name), details=(told,) if told else ())


def _some(items: Sequence[str]) -> str:
    more = [f"+{len(items) - MOST_NAMED}"] if len(items) > MOST_NAMED else []
    return ", ".join([*map(one_line, items[:MOST_NAMED]), *more])


def _finding(finding: m.Finding) -> BriefingEntry:
    kind = kind_of(finding.kind)
    return BriefingEntry(
        kind.name,
        kind.heading,
        file_label(finding.file_paths),
        marks=("unconfirmed",),
        text=one_line(finding.content),
    )


def _session(session: m.Session) -> BriefingEntry:
    when = (session.ended_at or session.started_at).date()
    bullets = [each.strip().lstrip("-*•").strip() for each in session.summary.splitlines()]
    return BriefingEntry(
        kind="session",
        heading="SESSION",
        name=f"{when} {session.agent or session.host}",
        details=tuple(f"- {one_line(bullet)}" for bullet in bullets if bullet)[:MOST_BULLETS],
    )
