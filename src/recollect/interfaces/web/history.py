"""The audit log in the words of a person: what was done, and by whom."""

from collections.abc import Mapping
from typing import Any

import recollect.model as m
from recollect.frozen import frozen
from recollect.interfaces.web.language import text

_ACTIONS = {
    "add": text("remembered"),
    "update": text("changed"),
    "remove": text("forgotten"),
    "delete": text("forgotten"),
    "restore": text("restored"),
    "pin": text("pinned"),
    "unpin": text("unpinned"),
    "merge": text("merged"),
    "redact": text("secret removed"),
    "undo": text("undone"),
    "finalize": text("session ended"),
}
# What an update did, by the name of a detail that only this one has.
_UPDATES = {
    "used": text("used by an agent"),
    "unlinked": text("link removed"),
    "link": text("linked"),
    "reinforced": text("stated again"),
    "fields": text("edited"),
    "resolved": text("contradiction settled"),
    "by": text("replaced"),
    "review": text("reviewed"),
}
_STATES: dict[str, str] = {
    m.State.ACTIVE: text("made active"),
    m.State.DEPRECATED: text("marked as wrong"),
    m.State.SUPERSEDED: text("replaced"),
    m.State.ARCHIVED: text("archived"),
    m.State.DELETED: text("forgotten"),
}
_SAID_BY_NOW = {"used", "feedback", "review", "state"}  # details that the words have said
OWN_NAMES = ("memory", "daemon", "hook")  # under which Recollect itself writes


@frozen
class HistoryEntry:
    """A line of the audit log: what was done, in words, and further details by name."""

    line: m.AuditLine
    what: str
    details: Mapping[str, Any]


def in_words(line: m.AuditLine) -> HistoryEntry:
    """Return what a line says. An action of a newer version keeps its name."""
    what = _ACTIONS.get(line.action, line.action.replace("_", " "))
    if line.action == "update":
        if "feedback" in line.detail:
            helped = line.detail["feedback"] == "helpful"
            what = text("helped") if helped else text("did not help")
        else:
            what = _STATES.get(str(line.detail.get("state")), what)
            what = next((words for name, words in _UPDATES.items() if name in line.detail), what)
    details = {name: value for name, value in line.detail.items() if name not in _SAID_BY_NOW}
    return HistoryEntry(line, what, details)


def actor_name(actor: str, names: Mapping[str, str]) -> str:
    """Return who did something: the name of a person, "you", or the name of an agent."""
    kind, _, name = actor.partition(":")
    if name in OWN_NAMES or actor.startswith(m.SEEDS_OF):
        return "Recollect"
    if kind == "user":
        return names.get(name, actor) if name else text("you")
    return name if kind == "agent" and name else actor


def told(value: object) -> str:
    """Return a detail for people: names without underscores, lists with commas."""
    if isinstance(value, float):
        return f"{value:g}"
    if isinstance(value, (list, tuple)):
        return ", ".join(map(told, value))
    if isinstance(value, dict):
        return ", ".join(f"{told(name)} {told(part)}" for name, part in value.items())
    return str(value).replace("_", " ")
