"""A session as a host would report it, written down for a test."""

import itertools
import json

from recollect.work.transcripts.event import Event

_TALKS = itertools.count()  # an address would come again once a talk is gone


class Talk:
    """Writes down a session as a host would report it."""

    def __init__(self, cwd=""):
        self.events = []
        self.cwd = cwd
        self._name = next(_TALKS)
        self._numbers = itertools.count()

    def _add(self, author, text, **more):
        number = next(self._numbers)
        self.events.append((f"e{self._name}-{number}", Event("", number, author, text, cwd=self.cwd, **more)))
        return self

    def user(self, text):
        return self._add("user", text)

    def assistant(self, text):
        return self._add("assistant", text)

    def run(self, command, output="", failed=False):
        call = f"c{next(self._numbers)}"
        self._add("assistant", "", tool="Bash", call=call, input={"command": command})
        return self._add("tool", output, tool="Bash", call=call, failed=failed)

    def edit(self, path):
        call = f"c{next(self._numbers)}"
        self._add("assistant", "", tool="Edit", call=call, input={"file_path": path, "new_string": "x"})
        return self._add("tool", "ok", tool="Edit", call=call, failed=False)


def transcript(path, *said, cwd="", session="t1", **more):
    """Writes down a session as Claude Code does."""
    lines = [
        {
            "type": who,
            "sessionId": session,
            "uuid": f"{session}-{number}",
            "timestamp": f"2026-01-01T12:{number:02}:00Z",
            "cwd": str(cwd),
            "message": {"role": who, "content": text},
            **more,
        }
        for number, (who, text) in enumerate(said)
    ]
    path.write_text("".join(json.dumps(line) + "\n" for line in lines))
    return path
