"""What agents ran: the commands for the whole project that passed or failed."""

import re
from collections import Counter

import recollect.model as m
from recollect.code.modules.commands import names_one_test, slot_of
from recollect.code.modules.tools import CommandRun
from recollect.context.store import EpisodeStore

MOST_EXECUTIONS = 1000  # the newest; older ones say little about what works now
_NEWEST = 2**62

# What people and agents put around a command: a folder, variables, and filters of what it prints.
_BEFORE = re.compile(r"(?:cd \S+ && |[A-Z_]{1,40}=\S* )")
_AFTER = re.compile(r"\s(?:2>&1|\||>|&&|;)")


def read_runs(episodes: EpisodeStore, owner: m.Owner) -> list[CommandRun]:
    """Return the commands that run all tests, with how often each passed and failed; the most frequent first."""
    passed: Counter[str] = Counter()
    failed: Counter[str] = Counter()
    for execution in episodes.executions(owner, before=_NEWEST, limit=MOST_EXECUTIONS):
        line = _plain(execution.parameters.get("command"))
        known = slot_of(line) if line else None
        if known and known[1] == "test" and not names_one_test(line):
            (passed if execution.success else failed)[line] += 1
    return [CommandRun(line, passed[line], failed[line]) for line, _ in (passed + failed).most_common()]


def _plain(command: object) -> str:
    text = " ".join(command) if isinstance(command, list) else command
    if not isinstance(text, str) or "\n" in text.strip() or len(text) > 300:
        return ""
    while found := _BEFORE.match(text := text.strip()):
        text = text[found.end() :]
    return _AFTER.split(text, maxsplit=1)[0].strip()
