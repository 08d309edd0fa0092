"""The briefing in a rules file, for hosts whose hooks cannot add to a prompt; renewed with every session."""

from pathlib import Path

from recollect.interfaces.install.change import read, replace_file, text_of
from recollect.text import block
from recollect.work.hosts.registry import host_named

_HEADING = "### What is known"


def write_briefing(host: str, root: Path, briefing: str) -> bool:
    """Put `briefing` into the rules file of the project at `root`; return whether there is one to put it into.

    Only a file of our own is written to: others' rules are often shared with a team. Raise `Refused` if the file cannot
    be changed safely.
    """
    rules = host_named(host).project_files.rules
    path = root / rules
    if "recollect" not in rules or (data := read(path, within=root)) is None:
        return False
    text = text_of(path, data)
    body = block.body(text)
    if body is None:
        return False
    fixed = body.partition(f"\n{_HEADING}\n")[0].strip("\n")
    known = f"\n\n{_HEADING}\n\n{_fenced(briefing)}" if briefing.strip() else ""
    new = block.put(text, fixed + known)
    if new != text:
        replace_file(path.resolve(), new.encode("utf-8"))
    return True


def _fenced(briefing: str) -> str:
    """Return the briefing with its comments broken: no memory may end our part of the file, or begin another."""
    return briefing.strip().replace("<!--", "<!- -")
