"""Import the other sections of an export: sessions, findings, gaps, reviews, module maps, patterns, learnings…"""

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import replace
from itertools import groupby, islice
from typing import Any, TypeVar

import recollect.model as m
from recollect.code.modules.for_agents import MODEL
from recollect.code.modules.module_map import ModuleMap, as_document, from_document
from recollect.context.context import Context
from recollect.errors import ContentRefused, RecollectError
from recollect.memory.transfer.import_file import ImportFile
from recollect.memory.transfer.import_report import ImportReport, LeftOut
from recollect.memory.transfer.join import join_sessions
from recollect.memory.transfer.record import RecordReader
from recollect.model import Owner, Pattern, SessionLearning

BATCH = 128  # records in one transaction: a sync for each would cost more than embedding it
_EVERY = 1_000_000_000

T = TypeVar("T")


class ImportExtras:
    """Imports records that belong to memories.

    No existing record is lost: it is joined with the imported one, or the same one of the two wins on every machine.
    """

    def __init__(
        self,
        context: Context,
        change: m.Change,
        reader: RecordReader,
        projects: Mapping[str, str],
        report: ImportReport,
    ) -> None:
        """`projects` maps ids of the file to ours. Skipped records and redactions are counted in `report`."""
        self._store = context.store
        self._embedder = context.embedder
        self._reader = reader
        self._projects = projects
        self._report = report
        self._change = change
        self._actor = context.actor
        self._clock = context.clock
        self._patterns: dict[Owner, dict[tuple[str, str], Pattern]] = {}  # stored ones, by kind and name
        self._learnings: dict[Owner, dict[tuple[str, str], SessionLearning]] = {}

    def import_before_memories(self, file: ImportFile) -> None:
        """Import settings, and the sessions that memories refer to."""
        self._import_records("setting", file.read("settings"), self._import_setting)
        self._import_records("session", file.read("sessions"), self._import_session)

    def import_after_memories(self, file: ImportFile) -> None:
        """Import the records that refer to memories, and the rest."""
        self._import_records("finding", file.read("findings"), self._import_finding)
        self._import_records("gap", file.read("gaps"), self._import_gap)
        self._import_records("review", file.read("reviews"), self._import_review)
        self._import_records("map", file.read("maps"), self._import_map)
        self._import_records("pattern", file.read("patterns"), self._import_pattern)
        self._import_records("learning", file.read("learnings"), self._import_learning)
        self._describe_tags(file)
        self._import_messages(file.read("messages"))

    def _import_records(self, what: str, records: Iterable[Any], import_one: Callable[[Any], None]) -> None:
        """Import every record in batches, each in one transaction. Refused records are counted."""
        left_out = LeftOut(what)
        for chunk in chunks(records):
            with self._store.changes.recorded(self._change):
                for record in chunk:
                    try:
                        import_one(record)
                    except RecollectError as error:
                        left_out.add(error)
                    else:
                        self._report.redacted += self._reader.redacted
        self._report.notes += left_out.notes()

    def _import_setting(self, record: Any) -> None:
        setting = self._reader.setting(record, self._projects)
        ours = self._store.setting(setting.project_id, setting.name)
        value = setting.value if not ours else _join_settings(setting.name, ours, setting.value)
        if m.as_json(value) != ours:
            detail = {"setting": setting.name, "project": setting.project_id, "imported": True}
            self._store.log("update", self._actor, self._clock(), None, detail)
            self._store.set_setting(setting.project_id, setting.name, value)

    def _import_session(self, record: Any) -> None:
        session = self._reader.session(record, self._projects)
        ours = self._store.get_session(session.id)
        if ours is None:
            self._store.put_session(session)
        elif ours.user_id == session.user_id:
            joined = join_sessions(replace(ours, transcript=""), session)
            self._store.put_session(replace(joined, transcript=ours.transcript))

    def _import_finding(self, record: Any) -> None:
        finding = self._reader.finding(record)
        if self._store.get_session(finding.session) is None:
            raise ContentRefused("Its session does not exist.")
        if not self._store.put_finding(finding) and finding.promoted_to:
            for ours in self._store.findings(finding.session):
                if ours.fingerprint == finding.fingerprint and ours.promoted_to is None:
                    self._store.events.mark_promoted(ours.id, finding.promoted_to)

    def _import_gap(self, record: Any) -> None:
        self._store.adopt_gap(self._reader.gap(record, self._projects))

    def _import_review(self, record: Any) -> None:
        review = self._reader.review(record, self._projects)
        self._store.reviews.ask(review)
        if review.decided_at is None or review.decision is None:
            return
        for ours in self._store.reviews.open(review.user_id, review.project_id, review.kind):
            if ours.memories == review.memories:
                self._store.reviews.decide(ours.id, review.decision, review.decided_at)

    def _import_map(self, record: Any) -> None:
        """Keep the map that a person has corrected, or the newer of two, so that every machine keeps the same."""
        project_id, theirs = self._reader.module_map(record, self._projects)

        def choose(document: str | None) -> str:
            ours = from_document(document) if document else None
            return as_document(theirs if ours is None else max(ours, theirs, key=_map_rank))

        self._store.modules.change(project_id, choose, theirs.updated_at or self._clock())

    def _import_pattern(self, record: Any) -> None:
        owner, theirs = self._reader.pattern(record, self._projects)
        if owner not in self._patterns:
            patterns = self._store.episodes.patterns(owner, limit=_EVERY)
            self._patterns[owner] = {(pattern.kind, pattern.name): pattern for pattern in patterns}
        ours = self._patterns[owner].get((theirs.kind, theirs.name))
        if ours is None or (theirs.count, theirs.last_seen) > (ours.count, ours.last_seen):
            self._store.episodes.put_patterns(owner, theirs.kind, [theirs])

    def _import_learning(self, record: Any) -> None:
        owner, theirs = self._reader.learning(record, self._projects)
        if owner not in self._learnings:
            learnings = self._store.episodes.learnings(owner)
            self._learnings[owner] = {(learning.kind, learning.name): learning for learning in learnings}
        ours = self._learnings[owner].get((theirs.kind, theirs.name))
        if ours is None or theirs.confidence > ours.confidence:
            self._store.episodes.put_learning(owner, theirs)

    def _describe_tags(self, file: ImportFile) -> None:
        if not file.counts.get("tags"):
            return
        everything = m.View(self._reader.user_id, all_projects=True, all_sessions=True, states=m.ALL_STATES)
        known = {tag.name: tag.description for tag in self._store.tags(everything)}

        def describe(record: Any) -> None:
            name, text = self._reader.tag(record)
            if name and text > known.get(name, ""):  # every machine keeps the same one
                self._store.describe_tag(name, text)

        self._import_records("tag", file.read("tags"), describe)

    def _import_messages(self, records: Iterable[Any]) -> None:
        from recollect.memory.write.messages import bring_messages

        left_out = LeftOut("message")
        for project_id, group in groupby(records, _project_of):
            result = bring_messages(
                group,
                self._store,
                self._embedder,
                user_id=self._reader.user_id,
                project_id=self._projects.get(project_id, project_id) if project_id else None,
                now=self._clock(),
            )
            self._report.redacted += result.redacted
            for _, why in result.refused:
                left_out.add(ContentRefused(why))
        self._report.notes += left_out.notes()


def _map_rank(module_map: ModuleMap) -> tuple[bool, str, str]:
    authors = [by for module in module_map.modules for by in module.said.values()]
    authors += [placed.by for placed in (*module_map.files.values(), *module_map.merged.values())]
    by_person = any(by != MODEL and not m.is_agent(by) for by in authors)
    return (
        by_person,
        m.to_text(module_map.updated_at) if module_map.updated_at else "",
        as_document(module_map),
    )


def _project_of(message: Any) -> str | None:
    project_id = message.get("project_id") if isinstance(message, Mapping) else None
    return project_id if isinstance(project_id, str) else None


def _join_settings(name: str, ours: Any, theirs: Any) -> Any:
    """Return the settings of both sides; of two numbers the larger."""
    if name == "budget":
        return max(ours, theirs)
    if name == "seasons":
        return sorted({*ours, *theirs})
    names = sorted({*ours.get("added", {}), *theirs["added"]})
    added = {
        alias: sorted({*ours.get("added", {}).get(alias, ()), *theirs["added"].get(alias, ())})
        for alias in names
    }
    removed = {tuple(pair) for pair in (*ours.get("removed", ()), *theirs["removed"])}
    return {"added": added, "removed": sorted(removed)}


def chunks(items: Iterable[T]) -> Iterator[list[T]]:
    supply = iter(items)
    while chunk := list(islice(supply, BATCH)):
        yield chunk
