"""Move memories of the local store to a team: see what would go, send it, verify it, and take it back if asked."""

import hashlib
import json
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator
from itertools import islice
from pathlib import Path
from typing import Any, TypeVar

import recollect.model as m
from recollect.context.store import Store
from recollect.errors import NotOnServer, RecollectError, Refused
from recollect.frozen import frozen
from recollect.memory.write.draft import clean_text
from recollect.remote.client import TeamClient
from recollect.remote.wire import Place, team_keys

_Record = TypeVar("_Record")
BATCH = 50
FILE = "migrated.json"  # in the folder of a login
_NO_LINKS = "The links between memories stay here: the server needs an upgrade for them. Then run this again."
MARK = "migrated"  # the setting of the local store that says where its memories went


@frozen
class ProjectPlan:
    """What would go of one project."""

    project_id: str | None  # None = memories of all projects
    name: str
    kinds: dict[str, int]
    visibility: dict[str, int]  # how many others would see: private, project or team
    secrets: int  # memories in which something would be redacted
    refused: int  # memories that may not be stored as they are


@frozen
class MigrationReport:
    sent: int
    known: int  # that were there already, from an earlier attempt
    refused: tuple[tuple[str, str], ...]  # memories, and why
    missing: tuple[str, ...]  # that are not there afterwards, or with another text
    changes: tuple[str, ...]  # for `team migrate --undo`
    links: int = 0  # between memories that were moved
    note: str = ""  # what an older server does not take


class Migration:
    """The memories of one local store on their way to one team. Sending again sends only what is missing."""

    def __init__(self, store: Store, user: str, folder: Path) -> None:
        """`folder` is that of the login, where the progress is noted."""
        self._store = store
        self._user = user
        self._note = folder / FILE
        self._projects = {project.id: project for project in store.projects()}

    def preview(self, exclude: Collection[str] = ()) -> list[ProjectPlan]:
        """Return what would go, by project."""
        plans = []
        for project_id, memories in self._by_project(exclude):
            secrets = refused = 0
            for memory in memories:
                try:
                    secrets += bool(clean_text(memory.content)[1])
                except RecollectError:
                    refused += 1
            kinds = dict(Counter(memory.kind for memory in memories))
            seen = dict(Counter(str(memory.visibility) for memory in memories))
            plans.append(ProjectPlan(project_id, self._name(project_id), kinds, seen, secrets, refused))
        return plans

    def run(
        self,
        client: TeamClient,
        exclude: Collection[str] = (),
        visibility: str | None = None,
        progress: Callable[[int], None] | None = None,
    ) -> MigrationReport:
        """Send what was not sent yet, compare what is there with what was sent, and mark the local store."""
        noted = self._read()
        self._write(noted)
        sent, known = 0, 0
        refused: list[tuple[str, str]] = []
        missing: list[str] = []
        for project_id, memories in self._by_project(exclude):
            place = self._place(project_id)
            todo = [memory for memory in memories if memory.id not in noted["ids"]]
            known += len(memories) - len(todo)
            for batch in _batches(todo):
                arguments = {"records": [m.as_json(memory) for memory in batch], "visibility": visibility}
                answer = client.call("adopt", arguments, place, key=_key(noted["run"], arguments))
                refused += [(batch[number].id, why) for number, why in answer.refused]
                ids = [name for name in answer.ids if name]
                there = client.call("get_many", {"ids": ids}, place)
                kept = {memory.id: m.fingerprint(_cleaned(memory.content)) for memory in batch}
                missing += [
                    name for name in ids if name not in there or there[name].fingerprint != kept.get(name)
                ]
                sent += len(ids)
                noted["ids"] += ids
                if answer.change:
                    noted["changes"].append(answer.change)
                self._write(noted)
                if progress is not None:
                    progress(len(batch))
        links, note = self._send_links(client, noted)
        if sent and not missing:
            self._store.set_setting(None, MARK, {"to": client.address, "memories": len(noted["ids"])})
        changes = tuple(noted["changes"])
        return MigrationReport(sent, known, tuple(refused), tuple(missing), changes, links, note)

    def _send_links(self, client: TeamClient, noted: dict[str, Any]) -> tuple[int, str]:
        """Send the links between memories that are there now; return how many, and a note if the server takes none.

        What the server knows, it leaves as it is.
        """
        moved, count = set(noted["ids"]), 0
        links = self._store.iter_links(m.View(self._user, None, all_projects=True))
        chosen = (link for link in links if {link.source, link.target} <= moved)
        for batch in _batches(chosen):
            arguments = {"records": [m.as_json(link) for link in batch]}
            try:
                answer = client.call("adopt_links", arguments, key=_key(noted["run"], arguments))
            except NotOnServer:
                return count, _NO_LINKS
            count += len(batch)
            if answer.change and answer.change not in noted["changes"]:
                noted["changes"].append(answer.change)
                self._write(noted)
        return count, ""

    def undo(self, client: TeamClient) -> int:
        """Take back all that was sent; return how many memories are gone from the team."""
        noted = self._read()
        if not noted["changes"]:
            raise Refused(
                "Nothing was moved to this team from here.",
                "Run `recollect team migrate` to see what could be.",
            )
        count = 0
        while noted["changes"]:
            undone = client.call("undo", {"name": noted["changes"][-1]})
            noted["changes"].pop()
            count += len(undone.restored)
            self._write(noted)
        count = len(noted["ids"])
        self._note.unlink(missing_ok=True)
        self._store.set_setting(None, MARK, None)
        return count

    def _by_project(self, exclude: Collection[str]) -> Iterator[tuple[str | None, list[m.Memory]]]:
        view = m.View(self._user, None, all_projects=True)
        found: dict[str | None, list[m.Memory]] = {}
        for memory in self._store.iter_memories(view):
            if memory.user_id == self._user and memory.scope is not m.Scope.SESSION:
                found.setdefault(memory.project_id, []).append(memory)
        for project_id in sorted(found, key=lambda name: name or ""):
            if project_id not in exclude and self._name(project_id) not in exclude:
                yield project_id, found[project_id]

    def _name(self, project_id: str | None) -> str:
        project = self._projects.get(project_id or "")
        return "all projects" if project_id is None else project.name if project else project_id

    def _place(self, project_id: str | None) -> Place:
        if project_id is None:
            return Place()
        keys = self._store.project_keys(project_id) or [f"id:{project_id}"]
        keys.sort(key=lambda key: not key.startswith("remote:"))
        return Place(team_keys(keys), self._name(project_id))

    def _read(self) -> dict[str, Any]:
        """Return the run, which begins anew after `undo`, and the ids and changes that it has noted."""
        noted: dict[str, Any] = {"run": m.new_id(), "ids": [], "changes": []}
        try:
            return noted | dict(json.loads(self._note.read_text(encoding="utf-8")))
        except (OSError, ValueError):
            return noted

    def _write(self, noted: dict[str, Any]) -> None:
        self._note.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
        fresh = self._note.with_suffix(".new")
        fresh.write_text(json.dumps(noted), encoding="utf-8")
        fresh.replace(self._note)


def _key(run: str, arguments: dict[str, Any]) -> str:
    """Return the key under which the server takes a batch once: the same for the same batch of a run that is resumed."""
    return (
        f"adopt-{hashlib.sha256(m.dumps([run, arguments]).encode('utf-8', 'surrogatepass')).hexdigest()[:40]}"
    )


def _cleaned(content: str) -> str:
    try:
        return clean_text(content)[0]
    except RecollectError:
        return content


def _batches(records: Iterable[_Record]) -> Iterator[list[_Record]]:
    rest = iter(records)
    while batch := list(islice(rest, BATCH)):
        yield batch
