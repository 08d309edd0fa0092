"""People with a command line, hooks and homes of their own, who use a team server."""

import json
from dataclasses import dataclass
from pathlib import Path

from click.testing import CliRunner

import recollect.model as m
from fakes import FakeEmbedder
from recollect.__main__ import main
from recollect.config import load_settings
from recollect.interfaces.daemon.hook_service import HookService
from recollect.interfaces.daemon_client.spool import HookSpool
from recollect.interfaces.engine_pool import EngineOpener, EnginePool
from recollect.store.sqlite.store import SqliteStore


@dataclass
class Result:
    code: int
    out: str
    err: str

    @property
    def json(self):
        return json.loads(self.out)


@dataclass
class Person:
    """Somebody with a home and a clone of the project."""

    home: Path
    folder: Path

    def run(self, *arguments, stdin=""):
        with CliRunner().isolation(input=stdin) as (out, err, _):
            code = main([*arguments, "--home", str(self.home), "--project", str(self.folder)])
            return Result(code, out.getvalue().decode(), err.getvalue().decode())

    def local_memories(self):
        """How many memories are on this machine, in the local store and in all others."""
        count = 0
        for path in self.home.rglob("recollect.db"):
            try:
                store = SqliteStore(path, "x")
            except Exception:  # encrypted
                continue
            count += store.count(m.View("x", None, all_projects=True, all_sessions=True, states=m.ALL_STATES))
            store.close()
        return count


class Host:
    """A coding agent of a person's, with the daemon behind its hooks in this process."""

    def __init__(self, person):
        self.person = person
        embedder = FakeEmbedder()
        opener = EngineOpener(lambda: load_settings(person.home), lambda settings: embedder)
        self.service = HookService(EnginePool(opener), HookSpool(person.home))
        self._number = 0

    def status_line(self, session="s1"):
        """What the host shows of memory below its prompt."""
        fields = ("claude-code", "StatusLine", "x", "1700000000000", "20", str(self.person.folder))
        body = {"session_id": session, "cwd": str(self.person.folder)}
        return self.service.handle(fields, body).decode()

    def hook(self, event, session="s1", **body):
        self._number += 1
        fields = (
            "claude-code",
            event,
            f"{session}-{self._number}",
            str(1_700_000_000_000 + self._number),
            "20",
            str(self.person.folder),
        )
        told = self.service.handle(fields, {"session_id": session, "cwd": str(self.person.folder), **body})
        self.service.sent(fields[2], received=True)
        self.service.settle(20)
        shown = json.loads(told) if told else {}
        return shown.get("hookSpecificOutput", {}).get("additionalContext", "")

    def close(self):
        self.service.close()
