"""Choose what goes into a briefing, tier by tier, within a budget counted on the rendered text."""

from collections.abc import Container, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, TypeVar

import recollect.model as m
from recollect.frozen import frozen
from recollect.kinds import kind_of
from recollect.memory.briefing.budget import Allocation, task_share
from recollect.memory.briefing.render import (
    BriefingEntry,
    Format,
    attributed,
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
    from recollect.code.relevant.evidence import FileToShow

MOST_ALWAYS = 8  # lines of what is always said
MOST_CONFLICTS = 2  # shown with one memory; more would push it out of its tier
MOST_NAMED = 8  # files, tests or dependencies of a module
MOST_BULLETS = 5  # of a session's summary
BULLET = 64  # tokens of one, and of a finding: what failed is told with what helped

Conflict = tuple[m.Link, m.Memory, m.Memory]


@frozen
class ProjectCard:
    """The project in five lines."""

    name: str
    lines: tuple[str, ...]  # its modules, and how to build, test and lint it


@frozen
class BriefingContent:
    """Everything a briefing could say. What does not fit is left out, so there may be more than enough."""

    always: tuple[m.Memory, ...] = ()  # pinned, and the user's rules, the most important first
    project: ProjectCard | None = None  # None = nothing is known of it, or it was not asked for
    modules: "tuple[ModuleCard, ...]" = ()  # of the task, the most relevant first
    files: "tuple[FileToShow, ...]" = ()  # to look at first
    fixes: tuple[str, ...] = ()  # what helped against such a failure
    bridge: tuple[m.Finding, ...] = ()  # new, of other running sessions
    task: tuple[m.Hit, ...] = ()  # the best first
    summaries: tuple[m.Session, ...] = ()  # with the branch of those that were on another one
    conflicts: tuple[Conflict, ...] = ()
    stale: frozenset[str] = frozenset()  # ids of memories whose code has changed since
    missing: frozenset[str] = frozenset()  # ids of memories of agents about a file that is not there
    probabilities: Mapping[str, float] = field(default_factory=dict)  # of being useful, by key
    names: Mapping[str, str] = field(
        default_factory=dict
    )  # of other people whose memories these are, by user

    @property
    def memories(self) -> tuple[m.Memory, ...]:
        """All memories in it."""
        return (*self.always, *(hit.memory for hit in self.task))


@frozen
class Briefing:
    """A rendered briefing, with what it contains."""

    text: str  # empty if there is nothing to say, or no room for it
    host: str
    tokens: int  # of the text
    by_tier: Mapping[str, int]  # with "frame"; they add up to `tokens`
    shown: tuple[m.ShownItem, ...]  # in the order of the text
    conflicts: int  # shown
    budget: Allocation


def compose(
    content: BriefingContent,
    allocation: Allocation,
    format: str,
    *,
    host: str = "",
    told: Container[str] = frozenset(),
) -> Briefing:
    """Return the briefing in the named format. The same content gives the same bytes on any day: prompt caches hold.

    What has a key in `told` is left out. Raise `UnknownName` for an unknown format. `host` is noted in the result.
    """
    form = format_named(format)
    if allocation.total <= 0 or content == BriefingContent():
        return Briefing("", host, 0, {}, (), 0, allocation)
    filler = _TierFiller(form, allocation.total, told, content.probabilities)
    maker = _EntryMaker(content)
    always = filler.fill("always", allocation.always, maker.always(), MOST_ALWAYS)
    mapped = filler.fill("map", allocation.map, maker.map())
    files = filler.fill("files", allocation.files, maker.files())
    filler.fill("fixes", allocation.fixes, maker.fixes())
    bridge = filler.fill("bridge", allocation.bridge, maker.bridge())
    unused = allocation.always + allocation.bridge - always - bridge - filler.frame
    filler.fill("task", task_share(allocation, unused) - mapped - files, maker.task())
    filler.fill("summaries", allocation.summaries, maker.summaries())
    text = form.document(list(filler.sections.values()))
    by_tier = {
        "frame": filler.frame,
        **{tier: tokens.count(section) for tier, section in filler.sections.items()},
    }
    return Briefing(
        text=text,
        host=host,
        tokens=tokens.count(text),
        by_tier=by_tier if text else {},
        shown=(*filler.shown, *maker.other_sides(filler)),
        conflicts=len(filler.conflicts),
        budget=allocation,
    )


@frozen
class _Candidate:
    key: str  # identifies it; each key is shown once
    order: tuple[float, float, str]  # its position in the tier, once chosen
    entry: BriefingEntry
    news: tuple[str, ...] = ()  # keys of what is to be known of it by now, and is worth saying it again


@dataclass(slots=True)
class _TierFiller:
    """Fills one tier after the other with what fits."""

    form: Format
    total: int
    told: Container[str]
    probabilities: Mapping[str, float]
    frame: int = 0
    left: int = 0
    sections: dict[str, str] = field(default_factory=dict)
    shown: list[m.ShownItem] = field(default_factory=list)
    conflicts: set[str] = field(default_factory=set)  # shown so far
    _keys: set[str] = field(default_factory=set)

    def __post_init__(self) -> None:
        self.frame = tokens.count(self.form.opening) + tokens.count(self.form.closing)
        self.left = self.total - self.frame

    def fill(self, tier: str, share: int, candidates: Iterable[_Candidate], lines: int = 1000) -> int:
        """Add the candidates that fit, in the order given, each whole or not at all; return the tokens used."""
        room = min(share, self.left) - tokens.count(self.form.section(tier, ()))
        chosen: list[tuple[_Candidate, str]] = []
        for candidate in candidates if room > 0 else ():
            key = candidate.key
            if key in self._keys or candidate.entry.is_empty:
                continue
            new_conflicts = tuple(text for text in candidate.entry.conflicts if text not in self.conflicts)
            text = self.form.write(replace(candidate.entry, conflicts=new_conflicts))
            if self._was_told(candidate):
                # What was said takes its place: a resumed session is not told ever less important rules.
                lines -= text.count("\n")
                continue
            cost = tokens.count(self.form.between + text)
            if cost > room or text.count("\n") > lines:
                continue
            room -= cost
            lines -= text.count("\n")
            chosen.append((candidate, text))
            self._keys.add(key)
            self.conflicts.update(new_conflicts)
        if not chosen:
            return 0
        chosen.sort(key=lambda pair: pair[0].order)
        self.shown += [
            m.ShownItem(candidate.key, tier, self.probabilities.get(candidate.key)) for candidate, _ in chosen
        ]
        self.shown += [m.ShownItem(news, tier) for candidate, _ in chosen for news in candidate.news]
        self.sections[tier] = self.form.section(tier, [text for _, text in chosen])
        used = tokens.count(self.sections[tier])
        self.left -= used
        return used

    def _was_told(self, candidate: _Candidate) -> bool:
        return candidate.key in self.told and all(news in self.told for news in candidate.news)


class _EntryMaker:
    """Turns content into candidates for each tier, best first."""

    def __init__(self, content: BriefingContent) -> None:
        self._content = content
        self._pairs = _open_pairs(content.conflicts)
        disputed = [memory.id for pair in self._pairs for memory in pair]
        # Over all content and not only what will be shown: the length of a short id must not depend on what fits.
        self._names = short_ids([*(memory.id for memory in content.memories), *disputed])
        self._conflicts = self._conflict_lines()

    def always(self) -> Iterator[_Candidate]:
        for memory in self._content.always:
            candidate = self._memory(memory)
            order = (float(not memory.pinned), *candidate.order[1:])
            yield replace(candidate, order=order, entry=replace(candidate.entry, inline=True))

    def task(self) -> Iterator[_Candidate]:
        return (self._memory(hit.memory) for hit in self._content.task)

    def map(self) -> Iterator[_Candidate]:
        if project := self._content.project:
            entry = BriefingEntry("project", "PROJECT", one_line(project.name), details=project.lines)
            yield _Candidate("project", (0, 0, ""), entry)
        for number, card in enumerate(self._content.modules, start=1):
            yield _Candidate(f"module {card.name}", (number, 0, ""), _module(card))

    def files(self) -> Iterator[_Candidate]:
        for number, card in enumerate(self._content.files):
            # A large file is named again for another of its functions, not for the same.
            best = tuple(f"symbol {card.path}::{name}" for name in card.symbols[:1])
            yield _Candidate(f"file {card.path}", (number, 0, ""), _file(card), best)

    def fixes(self) -> Iterator[_Candidate]:
        for number, text in enumerate(self._content.fixes):
            entry = BriefingEntry("fix", "SEEN BEFORE", text=one_line(text))
            yield _Candidate(f"fix {m.fingerprint(text)}", (number, 0, ""), entry)

    def other_sides(self, filler: _TierFiller) -> Iterator[m.ShownItem]:
        """Yield the memories that are quoted in a conflict and not shown by themselves."""
        shown = {item.key for item in filler.shown}
        for older, newer in self._pairs:
            for one, other in ((older, newer), (newer, older)):
                quoted = set(self._conflicts.get(one.id, [])[:MOST_CONFLICTS]) & filler.conflicts
                if one.id in shown and other.id not in shown and quoted & set(self._conflicts[other.id]):
                    shown.add(other.id)
                    yield m.ShownItem(other.id, "conflict")

    def bridge(self) -> Iterator[_Candidate]:
        known = {memory.fingerprint for memory in self._content.memories}
        for finding in _best_first(self._content.bridge):
            if finding.fingerprint not in known:
                yield _Candidate(f"finding {finding.fingerprint}", _stable_order(finding), _finding(finding))

    def summaries(self) -> Iterator[_Candidate]:
        newest = sorted(
            self._content.summaries, key=lambda session: (session.started_at, session.id), reverse=True
        )
        for number, session in enumerate(newest):
            yield _Candidate(f"session {session.id}", (number, 0, ""), _session(session))

    def _memory(self, memory: m.Memory) -> _Candidate:
        conflicts = self._conflicts.get(memory.id, [])
        is_stale = memory.id in self._content.stale
        entry = memory_entry(
            memory,
            self._names[memory.id],
            stale=is_stale,
            missing=memory.id in self._content.missing,
            disputed=bool(conflicts),
            by=self._content.names.get(memory.user_id, ""),
        )
        return _Candidate(
            memory.id,
            _stable_order(memory),
            replace(entry, conflicts=tuple(conflicts[:MOST_CONFLICTS])),
            (f"stale {memory.id}",) if is_stale else (),
        )

    def _conflict_lines(self) -> dict[str, list[str]]:
        """Return the lines about each memory's conflicts: the same text on both sides, so that it is shown once."""
        lines: dict[str, list[str]] = {}
        for pair in self._pairs:
            first, second = (
                (
                    attributed(self._names[memory.id], memory, self._content.names.get(memory.user_id, "")),
                    memory.summary or memory.content,
                )
                for memory in pair
            )
            for memory in pair:
                lines.setdefault(memory.id, []).append(conflict_line(first, second))
        return lines


def _open_pairs(conflicts: Iterable[Conflict]) -> list[tuple[m.Memory, m.Memory]]:
    """Return both sides of each open conflict, the older first, ordered by id."""
    pairs = {}
    for link, one, other in conflicts:
        if link.resolved_at is None and one.id != other.id:
            older, newer = sorted((one, other), key=lambda memory: memory.id)
            pairs[older.id, newer.id] = older, newer
    return [pairs[key] for key in sorted(pairs)]


_Rated = TypeVar("_Rated", m.Memory, m.Finding)


def _best_first(items: Sequence[_Rated]) -> list[_Rated]:
    """Sort by importance, then newest first: a new convention must not wait behind old decisions."""
    return sorted(items, key=lambda item: (item.importance, item.id), reverse=True)


def _stable_order(item: m.Memory | m.Finding) -> tuple[float, float, str]:
    """Return a sort key that does not change from day to day. New items come last, after what a prompt cache has."""
    return 0.0, -kind_of(item.kind).weight, item.id


def _module(card: "ModuleCard") -> BriefingEntry:
    parts = {"Files": card.files, "Tests": card.tests, "Deps": card.deps}
    details = " | ".join(f"{label}: {_first_few(items)}" for label, items in parts.items() if items)
    return BriefingEntry(
        "module", "MODULE", one_line(card.name), marks=card.marks, details=(details,) if details else ()
    )


def _file(card: "FileToShow") -> BriefingEntry:
    parts = {"Symbols": card.symbols, "Tests": card.tests}
    details = " | ".join(f"{label}: {_first_few(items)}" for label, items in parts.items() if items)
    return BriefingEntry("file", "FILE", one_line(card.path), details=(details,) if details else ())


def _first_few(items: Sequence[str]) -> str:
    more = [f"+{len(items) - MOST_NAMED}"] if len(items) > MOST_NAMED else []
    return ", ".join([*map(one_line, items[:MOST_NAMED]), *more])


def _finding(finding: m.Finding) -> BriefingEntry:
    kind = kind_of(finding.kind)
    return BriefingEntry(
        kind.name,
        kind.heading,
        file_label(finding.file_paths),
        marks=("unconfirmed",),
        text=one_line(finding.content, BULLET),
    )


def _session(session: m.Session) -> BriefingEntry:
    when = (session.ended_at or session.started_at).date()
    bullets = [text.strip().lstrip("-*•").strip() for text in session.summary.splitlines()]
    return BriefingEntry(
        kind="session",
        heading="SESSION",
        name=f"{when} {session.agent or session.host}" + (f" on {session.branch}" if session.branch else ""),
        details=tuple(f"- {one_line(bullet, BULLET)}" for bullet in bullets if bullet)[:MOST_BULLETS],
    )
