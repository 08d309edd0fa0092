"""The rules files of hosts whose prompts cannot carry memory: the briefing stands there, renewed with every session."""

from pathlib import Path

from recollect.interfaces.install.change import read, replace_file, text_of
from recollect.interfaces.install.table import host_named
from recollect.text import block

_HEADING = "### What is known"


def renew(host: str, root: Path, briefing: str) -> bool:
    """Put `briefing` into the rules file of the project at `root`; whether one of ours is there.

    Only into a file of our own: others' files are often shared with a team. Raises `Refused`.
    """
    rules = host_named(host).project.rules
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
    """No memory can end our part of the file, or begin another."""
    return briefing.strip().replace("<!--", "<!- -")
