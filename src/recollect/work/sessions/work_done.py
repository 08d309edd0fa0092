"""Whether a session did something that the next one should know, and whether its agent recorded anything."""

from recollect.work.extract.commands import parse
from recollect.work.extract.fixes import ErrorFixes
from recollect.work.extract.observation import USER_CORRECTION, relative
from recollect.work.extract.user_statements import UserStatements
from recollect.work.transcripts.event import Event
from recollect.work.transcripts.tools import EDIT, WRITE, command_of, family_of, is_ours, paths_of

MANY_FILES = 3  # edited in a session that did more than a small change
_PENDING = 64  # calls that wait for their answer
_RECORDS = ("record_memory", "record_gotcha")
_ACTIONS = ("remember", "record", "store", "add")  # of the tool `memory`


class WorkDone:
    """Reads the events of a session in order. Sub-agents count for the session that started them."""

    def __init__(self) -> None:
        self.has_recorded = False  # the agent stored a memory, or tried to
        self._files: set[str] = set()  # edited
        self._corrected = False
        self._mended = False
        self._users = UserStatements()
        self._fixes = ErrorFixes()
        self._edits: dict[str, tuple[str, ...]] = {}  # files of calls that wait for their answer

    def read(self, event: Event) -> None:
        if event.is_call:
            self.has_recorded |= _records(event)
            self._note_edit(event)
        elif event.is_answer and (files := self._edits.pop(event.call, ())) and not event.failed:
            self._files.update(files)
        self._corrected |= any(USER_CORRECTION in seen.signals for seen in self._users.read(event))
        self._mended |= any(True for _ in self._fixes.read(event))

    @property
    def worth(self) -> str:
        """What in it is worth keeping, in words; empty if nothing is."""
        if self._corrected:
            return "the user corrected you"
        if self._mended:
            return "a failure was mended"
        if len(self._files) >= MANY_FILES:
            return f"{len(self._files)} files were edited"
        return ""

    def _note_edit(self, call: Event) -> None:
        files = paths_of(call) if family_of(call) in (EDIT, WRITE) else ()
        if not files and (command := command_of(call)):
            files = parse(command).writes
        own = tuple(path for each in files if not (path := relative(each, call.cwd)).startswith(("/", "~")))
        if own:
            self._edits[call.call] = own
            if len(self._edits) > _PENDING:
                del self._edits[next(iter(self._edits))]


def _records(call: Event) -> bool:
    if is_ours(call):
        name = call.tool.rpartition("recollect")[2].strip("_.:/-")
        return name in _RECORDS or (name == "memory" and str(call.input.get("action")) in _ACTIONS)
    command = command_of(call)
    return bool(command and any(head == "recollect remember" for head in parse(command).heads))
