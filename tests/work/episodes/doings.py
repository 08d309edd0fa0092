"""A session's events, written down for a test."""

import itertools
from datetime import UTC, datetime, timedelta

from recollect.work.transcripts.event import Event

BEGIN = datetime(2026, 1, 1, 11, tzinfo=UTC)


class Doings:
    """Events of one session, ten seconds apart, in the order they are called."""

    def __init__(self, begin=BEGIN, cwd=""):
        self.events = []
        self._begin = begin
        self._cwd = cwd
        self._numbers = itertools.count()

    def _add(self, author, text, **more):
        number = next(self._numbers)
        at = self._begin + number * timedelta(seconds=10)
        self.events.append(Event("s", number, author, text, at=at, cwd=self._cwd, **more))
        return self

    def user(self, text):
        return self._add("user", text)

    def assistant(self, text):
        return self._add("assistant", text)

    def use(self, tool, given, output="ok", failed=False):
        call = f"c{len(self.events)}"
        self._add("assistant", "", tool=tool, call=call, input=given)
        return self._add("tool", output, tool=tool, call=call, failed=failed)

    def run(self, command, output="", failed=False, **more):
        return self.use("Bash", {"command": command, **more}, output, failed)

    def edit(self, path, old="a = 1\n", new="a = 2\n"):
        return self.use("Edit", {"file_path": path, "old_string": old, "new_string": new})

    def read(self, path, **more):
        return self.use("Read", {"file_path": path, **more}, "text of the file")


def watch(engine, doings, session="s1"):
    """As a session does that tells what happens in it."""
    for _ in engine.episodes.watch(session, doings.events):
        pass
