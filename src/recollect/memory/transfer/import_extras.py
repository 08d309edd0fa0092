"""What an export holds beside memories and their links: sessions, findings, questions, maps, patterns…"""

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import replace
from itertools import groupby, islice
from typing import Any, TypeVar

import recollect.model as m
from recollect.code.modules.merge import MODEL
from recollect.code.modules.module_map import ModuleMap, as_document, from_document
from recollect.context.embedder import Embedder
from recollect.context.store import Store
from recollect.errors import ContentRefused, RecollectError
from recollect.memory.transfer.import_file import ImportFile
from recollect.memory.transfer.import_report import ImportReport, LeftOut
from recollect.memory.transfer.join import join_sessions
from recollect.memory.transfer.record import RecordReader
from recollect.model import Owner, Pattern, SessionLearning

BATCH = 128  # records to a transaction: a sync each would cost more than their embedding
_EVERY = 1_000_000_000

T = TypeVar("T")


class ImportExtras:
    """Nothing of ours is lost to what comes: the two are joined, or the same one wins on every machine."""

    def __init__(
        self,
        store: Store,
        embedder: Embedder,
        reader: RecordReader,
        projects: Mapping[str, str],
        report: ImportReport,
        *,
        change: m.Change,
        actor: str,
        clock: m.Clock,
    ) -> None:
        """`projects` are the file's ids, and ours. What is left out, and how much was redacted, goes to `report`."""
        self._store = store
        self._embedder = embedder
        self._reader = reader
        self._projects = projects
        self._report = report
        self._change = change
        self._actor = actor
        self._clock = clock
        self._patterns: dict[Owner, dict[tuple[str, str], Pattern]] = {}  # ours, by kind and name
        self._learnings: dict[Owner, dict[tuple[str, str], SessionLearning]] = {}

    def bring_before(self, parcel: ImportFile) -> None:
        """What memories stand on."""
        self._each("setting", parcel.read("settings"), self._bring_setting)
        self._each("session", parcel.read("sessions"), self._bring_session)

    def bring_after(self, parcel: ImportFile) -> None:
        """What stands on memories."""
        self._each("finding", parcel.read("findings"), self._bring_finding)
        self._each("gap", parcel.read("gaps"), self._bring_gap)
        self._each("review", parcel.read("reviews"), self._bring_review)
        self._each("map", parcel.read("maps"), self._bring_map)
        self._each("pattern", parcel.read("patterns"), self._bring_pattern)
        self._each("learning", parcel.read("learnings"), self._bring_learning)
        self._describe_tags(parcel)
        self._bring_messages(parcel.read("messages"))

    def _each(self, what: str, records: Iterable[Any], bring: Callable[[Any], None]) -> None:
        """`bring` every record, a batch to a transaction; those that cannot be kept are counted."""
        left_out = LeftOut(what)
        for chunk in chunks(records):
            with self._store.changes.recorded(self._change):
                for record in chunk:
                    try:
                        bring(record)
                    except RecollectError as error:
                        left_out.add(error)
                    else:
                        self._report.redacted += self._reader.redacted
        self._report.notes += left_out.notes()

    def _bring_setting(self, record: Any) -> None:
        setting = self._reader.setting(record, self._projects)
        ours = self._store.setting(setting.project_id, setting.name)
        value = setting.value if not ours else _join_settings(setting.name, ours, setting.value)
        if m.as_json(value) != ours:
            detail = {"setting": setting.name, "project": setting.project_id, "imported": True}
            self._store.log("update", self._actor, self._clock(), None, detail)
            self._store.set_setting(setting.project_id, setting.name, value)

    def _bring_session(self, record: Any) -> None:
        session = self._reader.session(record, self._projects)
        ours = self._store.get_session(session.id)
        if ours is None:
            self._store.put_session(session)
        elif ours.user_id == session.user_id:
            joined = join_sessions(replace(ours, transcript=""), session)
            self._store.put_session(replace(joined, transcript=ours.transcript))

    def _bring_finding(self, record: Any) -> None:
        finding = self._reader.finding(record)
        if self._store.get_session(finding.session) is None:
            raise ContentRefused("Its session is not here.")
        if not self._store.put_finding(finding) and finding.promoted_to:
            for ours in self._store.findings(finding.session):
                if ours.fingerprint == finding.fingerprint and ours.promoted_to is None:
                    self._store.events.mark_promoted(ours.id, finding.promoted_to)

    def _bring_gap(self, record: Any) -> None:
        self._store.adopt_gap(self._reader.gap(record, self._projects))

    def _bring_review(self, record: Any) -> None:
        review = self._reader.review(record, self._projects)
        self._store.reviews.ask(review)
        if review.decided_at is None or review.decision is None:
            return
        for ours in self._store.reviews.open(review.user_id, review.project_id, review.kind):
            if ours.memories == review.memories:
                self._store.reviews.decide(ours.id, review.decision, review.decided_at)

    def _bring_map(self, record: Any) -> None:
        """The one that a person has corrected holds, and of two the newer: so it is the same on every machine."""
        project_id, theirs = self._reader.module_map(record, self._projects)

        def choose(document: str | None) -> str:
            ours = from_document(document) if document else None
            return as_document(theirs if ours is None else max(ours, theirs, key=_map_rank))

        self._store.modules.change(project_id, choose, theirs.updated_at or self._clock())

    def _bring_pattern(self, record: Any) -> None:
        owner, theirs = self._reader.pattern(record, self._projects)
        if owner not in self._patterns:
            found = self._store.episodes.patterns(owner, limit=_EVERY)
            self._patterns[owner] = {(each.kind, each.name): each for each in found}
        ours = self._patterns[owner].get((theirs.kind, theirs.name))
        if ours is None or (theirs.count, theirs.last_seen) > (ours.count, ours.last_seen):
            self._store.episodes.put_patterns(owner, theirs.kind, [theirs])

    def _bring_learning(self, record: Any) -> None:
        owner, theirs = self._reader.learning(record, self._projects)
        if owner not in self._learnings:
            found = self._store.episodes.learnings(owner)
            self._learnings[owner] = {(each.kind, each.name): each for each in found}
        ours = self._learnings[owner].get((theirs.kind, theirs.name))
        if ours is None or theirs.confidence > ours.confidence:
            self._store.episodes.put_learning(owner, theirs)

    def _describe_tags(self, parcel: ImportFile) -> None:
        if not parcel.counts.get("tags"):
            return
        everything = m.View(self._reader.user_id, all_projects=True, all_sessions=True, states=m.ALL_STATES)
        known = {tag.name: tag.description for tag in self._store.tags(everything)}

        def describe(record: Any) -> None:
            name, text = self._reader.tag(record)
            if name and text > known.get(name, ""):  # of two descriptions, the same one on every machine
                self._store.describe_tag(name, text)

        self._each("tag", parcel.read("tags"), describe)

    def _bring_messages(self, records: Iterable[Any]) -> None:
        from recollect.memory.write.messages import bring_messages

        left_out = LeftOut("message")
        for place, group in groupby(records, _place_of):
            came = bring_messages(
                group,
                self._store,
                self._embedder,
                user_id=self._reader.user_id,
                project_id=self._projects.get(place, place) if place else None,
                now=self._clock(),
            )
            self._report.redacted += came.redacted
            for _, why in came.refused:
                left_out.add(ContentRefused(why))
        self._report.notes += left_out.notes()


def _map_rank(found: ModuleMap) -> tuple[bool, str, str]:
    said = [by for module in found.modules for by in module.said.values()]
    said += [placed.by for placed in (*found.files.values(), *found.merged.values())]
    by_person = any(by != MODEL and not m.is_agent(by) for by in said)
    return by_person, m.to_text(found.updated_at) if found.updated_at else "", as_document(found)


def _place_of(message: Any) -> str | None:
    place = message.get("project_id") if isinstance(message, Mapping) else None
    return place if isinstance(place, str) else None


def _join_settings(name: str, ours: Any, theirs: Any) -> Any:
    """What either side has set; of two numbers the greater."""
    if name == "budget":
        return max(ours, theirs)
    if name == "seasons":
        return sorted({*ours, *theirs})
    names = sorted({*ours.get("added", {}), *theirs["added"]})
    added = {
        each: sorted({*ours.get("added", {}).get(each, ()), *theirs["added"].get(each, ())}) for each in names
    }
    removed = {tuple(pair) for pair in (*ours.get("removed", ()), *theirs["removed"])}
    return {"added": added, "removed": sorted(removed)}


def chunks(items: Iterable[T]) -> Iterator[list[T]]:
    supply = iter(items)
    while chunk := list(islice(supply, BATCH)):
        yield chunk
