"""Turn tool calls and their results into rows: what ran, on which files, and how it ended. Pure functions.

Model answers, file contents and tool output are never stored, only their sizes, digests and shapes.
"""

import hashlib
import json
import re
import shlex
from collections.abc import Iterator, Mapping
from datetime import datetime
from functools import lru_cache
from pathlib import Path
from typing import Any

from recollect.model import FileOperation, FileTouch, ToolExecution
from recollect.text.cuts import start_of
from recollect.text.redact import redact
from recollect.work.episodes.failures import as_data, failure_of
from recollect.work.extract.commands import parse
from recollect.work.extract.outcomes import error_line, failed
from recollect.work.transcripts.event import Event
from recollect.work.transcripts.lines import without_surrogates
from recollect.work.transcripts.tools import (
    EDIT,
    READ,
    SEARCH,
    WRITE,
    command_of,
    family_of,
    is_ours,
    paths_of,
)

LONGEST_VALUE = 200  # characters of a value; only the size of a longer one is stored
LONGEST_COMMAND = 600
LONGEST_ERROR = 200
LONGEST_SUMMARY = 160
_LONGEST_PATH = 4096  # characters: systems open no longer one, and following its links takes seconds
_PENDING = 64  # calls without a result so far
_MOST_VALUES = 20
_DEPTH = 3

# Parameters that hold file contents or prose, whatever their length.
_TEXTS = frozenset(
    "content contents new_string old_string new_str old_str newString oldString file_text new_source old_source"
    " code_edit text patch patchText prompt code body data diff insert_text snippet instructions"
    " thinking thought thoughts reasoning".split()
)
_COMMANDS = frozenset({"command", "cmd"})
_WHY = ("description", "explanation", "reason", "justification")
_OLD = ("old_string", "old_str", "oldString", "old_source")
_NEW = (
    "new_string",
    "new_str",
    "newString",
    "new_source",
    "content",
    "file_text",
    "insert_text",
    "code_edit",
)
_OPERATIONS = {
    READ: FileOperation.READ,
    WRITE: FileOperation.WRITE,
    EDIT: FileOperation.EDIT,
    SEARCH: FileOperation.SEARCH,
}

_HEREDOC = re.compile(r"(<<-?\s*['\"]?(\w+)['\"]?)(.*?)(^\s*\2\b|\Z)", re.DOTALL | re.MULTILINE)
_REFUSED = re.compile(
    r"No replacement was performed|introduced new syntax error|^ERROR:|String to replace not found|<tool_use_error>"
)
_EXIT = re.compile(r"\b[Ee]xit(?:ed with)?(?: code| status)?[: ]+(\d{1,3})\b")
_DEFINED = re.compile(
    r"^\s*(?:export\s+|pub(?:\(\w+\))?\s+|async\s+|public\s+|private\s+|static\s+)*"
    r"(?:def|class|function|func|fn|interface|struct|enum|type|trait|module)\s+(?:\([^)]*\)\s*)?([A-Za-z_]\w*)",
    re.MULTILINE,
)
_IDENTIFIER = re.compile(r"[A-Za-z_]\w*|\S")
_FILE = re.compile(r"^[\w@.+~-]*(?:/[\w@.+-]+)+$|^[\w-][\w.-]*\.[A-Za-z]\w{0,5}$")
_LINES = re.compile(r"^(\d+),(\d+)p$")
_READERS = frozenset("cat head tail less more nl sed bat view".split())
_SEARCHERS = frozenset("grep rg ag ack egrep fgrep find fd".split())
_QUIET = frozenset("cd echo pwd ls wc sort uniq true".split())
_CHECKERS = re.compile(
    r"test|spec|lint|check|tsc|mypy|ruff|clippy|vet|pyright|pylint|flake8|jest|vitest|coverage|python|node"
)


class CallPairing:
    """Pairs the tool calls of one session with their results."""

    def __init__(self, session: str, root: str = "") -> None:
        self._session = session
        self._root = root
        self._calls: dict[str, Event] = {}
        self.known: set[str] = set()  # keys that are in the store already

    def add(self, event: Event, now: datetime) -> tuple[ToolExecution, list[FileTouch]] | None:
        """Return the execution that `event` completes, unless it is known. Its key is the same in every reading."""
        if is_ours(event):
            return None  # the MCP server records its own tools, with or without hooks
        if event.is_call:
            self._calls[event.call] = event
            if len(self._calls) > _PENDING:
                del self._calls[next(iter(self._calls))]
        elif event.is_answer and (call := self._calls.pop(event.call, None)) is not None:
            key = event_key(self._session, call)
            if key not in self.known:
                return executed(call, event, self._session, key, now, self._root)
        return None


def event_key(session: str, call: Event) -> str:
    """Return a key from the host's own id of the call, if any: its transcript and its hooks agree on little else."""
    name = call.call or f"{call.agent}\0{call.order}"
    return hashlib.sha256(f"{session}\0{name}".encode("utf-8", "replace")).hexdigest()[:24]


def executed(
    call: Event, answer: Event, session: str, key: str, now: datetime, root: str = ""
) -> tuple[ToolExecution, list[FileTouch]]:
    """Return the row of a call and those of its files, with paths relative to `root`, the project's folder."""
    at = call.at or answer.at or now
    line = command_of(call)
    has_failed = call_failed(call, answer)
    touches = list(_touches(call, line, key, at, session, not has_failed, root))
    changed = [
        touch.path for touch in touches if touch.operation in (FileOperation.EDIT, FileOperation.WRITE)
    ]
    execution = ToolExecution(
        key,
        at,
        session,
        clean(call.tool, 80) or "unnamed",
        bounded(call.input),
        not has_failed,
        result=_shape(call, answer, line, changed, has_failed),
        error=_error(answer.text, line is None) if has_failed else None,
        duration_ms=_duration_ms(call, answer),
    )
    return execution, touches


def call_failed(call: Event, answer: Event) -> bool:
    """Return whether a call failed; if the host does not say, its output decides."""
    line = command_of(call)
    if line is not None:
        if answer.failed is False and "|" not in line:
            return False  # only a pipe can hide a failure, and parsing the command is slow
        verdict = failed(answer, parse(line))
        return bool(answer.failed) if verdict is None else verdict
    return bool(answer.failed) or bool(_REFUSED.search(answer.text[:300]))


def _duration_ms(call: Event, answer: Event) -> int | None:
    if call.at is None or answer.at is None or answer.at <= call.at:
        return None  # hooks report call and result at once
    return int((answer.at - call.at).total_seconds() * 1000)


def _error(text: str, of_editor: bool) -> str:
    """Return the line that says what went wrong. Editors quote text of the file, so their quotes are removed."""
    lines = (line.strip() for line in text[:4000].splitlines())
    reason = error_line(text) or next((line for line in lines if line), "no reason given")
    return clean(re.sub(r"`[^`]*(?:`|$)", "`…`", reason) if of_editor else reason, LONGEST_ERROR)


def _shape(
    call: Event, answer: Event, line: str | None, changed: list[str], has_failed: bool
) -> dict[str, Any]:
    """Return the shape of a result: sizes, files, exit code, failure; never its text."""
    text = answer.text
    shape: dict[str, Any] = {"chars": answer.size or len(text), "lines": text.count("\n") + bool(text)}
    if (code := _EXIT.search(text[:200]) or _EXIT.search(text[-200:])) is not None:
        shape["exit"] = int(code[1])
    if changed:
        shape["files"] = changed[:20]
        if (renamed := rename_in(call)) is not None:
            shape["rename"] = list(renamed)
    if has_failed and line is not None and (failure := failure_of(text, line)) is not None:
        shape["failure"] = as_data(failure)
    return shape


def bounded(given: Mapping[str, Any]) -> dict[str, Any]:
    """Return tool parameters as they may be stored: redacted and short, with only the size of texts."""
    return {
        str(name)[:60]: _value(str(name), value, _DEPTH) for name, value in list(given.items())[:_MOST_VALUES]
    }


def _value(name: str, value: Any, depth: int) -> Any:
    if isinstance(value, bool | int | float) or value is None:
        return value
    if isinstance(value, str):
        if name in _COMMANDS and not value.startswith(("apply_patch", "*** Begin Patch")):
            return stored_command(value)
        if name in _TEXTS or len(value) > LONGEST_VALUE or "\n" in value:
            return sized(value)
        return clean(value, LONGEST_VALUE)
    if isinstance(value, list | tuple) and name in _COMMANDS:
        return stored_command(shlex.join(map(str, value)))
    if depth == 0:
        return sized(json.dumps(value, default=str))
    if isinstance(value, Mapping):
        return {
            str(key)[:60]: _value(str(key), item, depth - 1)
            for key, item in list(value.items())[:_MOST_VALUES]
        }
    if isinstance(value, list | tuple):
        return [_value(name, item, depth - 1) for item in value[:_MOST_VALUES]]
    return sized(str(value))


def sized(text: str) -> dict[str, Any]:
    """Return the size of a text and a digest by which equal texts are recognised."""
    digest = hashlib.sha256(text.encode("utf-8", "replace")).hexdigest()[:12]
    return {"chars": len(text), "lines": text.count("\n") + bool(text), "digest": digest}


def stored_command(command: str) -> str:
    """Return a command on one line, without the contents of here-documents."""
    short = _HEREDOC.sub(lambda match: f"{match[1]} …{len(match[3])} characters… {match[2]}", command)
    return clean(short, LONGEST_COMMAND)


def clean(text: str, longest: int) -> str:
    """Return a text as one line without secrets. It is redacted before it is cut, because half a secret is not found."""
    return _redacted(" ".join(without_surrogates(start_of(text, 8 * longest)).split()))[:longest]


@lru_cache(maxsize=4096)  # paths, names and commands repeat often
def _redacted(text: str) -> str:
    return redact(text)[0] if len(text) > 3 else text


# files


def _touches(
    call: Event, line: str | None, key: str, at: datetime, session: str, success: bool, root: str
) -> Iterator[FileTouch]:
    context = next(
        (clean(why, LONGEST_SUMMARY) for name in _WHY if isinstance(why := call.input.get(name), str)), None
    )
    changes = summary_of(call)
    for number, (path, operation, lines) in enumerate(_files(call, line)):
        changing = operation in (FileOperation.EDIT, FileOperation.WRITE)
        yield FileTouch(
            f"{key}.{number}",
            at,
            session,
            project_path(path, root, call.cwd),
            operation,
            success,
            lines=lines,
            context=context or None,
            changes=changes if changing else None,
        )


def _files(call: Event, line: str | None) -> Iterator[tuple[str, FileOperation, tuple[int, int] | None]]:
    operation = _OPERATIONS.get(family_of(call))
    if operation is not None:
        for path in paths_of(call)[:20]:
            yield path, operation, _range(call.input)
    elif line is not None:
        yield from dict.fromkeys(_named_by(line))


def opened_files(call: Event) -> tuple[str, ...]:
    """Return the files that a call reads or changes, as it names them, in the folder where it ran."""
    opened = (
        path
        for path, operation, _ in _files(call, command_of(call))
        if operation in (FileOperation.READ, FileOperation.WRITE, FileOperation.EDIT)
        and len(path) <= _LONGEST_PATH
    )
    return tuple(dict.fromkeys(str(Path(call.cwd or "", path)) for path in opened))


def only_shows_files(call: Event) -> bool:
    """Return whether a call does nothing but print files, so that an error in what it prints is none of its own."""
    line = command_of(call)
    if line is None:
        return bool(opened_files(call))
    programs = [program for program, _ in _programs(line)]
    return bool(_READERS.intersection(programs)) and set(programs) <= _READERS | _SEARCHERS | _QUIET


def _programs(line: str) -> Iterator[tuple[str, list[str]]]:
    """Yield each program that a command line runs, and its words."""
    for part in re.split(r"&&|\|\||[;\n|]", _HEREDOC.sub(" ", line[:4000])):
        words = part.split()
        while words and re.fullmatch(r"[A-Za-z_]\w*=\S*|sudo|time|timeout|nice|env|\d+", words[0]):
            words.pop(0)
        if words:
            yield words[0].rpartition("/")[2], words


def _range(given: Mapping[str, Any]) -> tuple[int, int] | None:
    span = given.get("view_range") or given.get("line_range")
    if isinstance(span, list | tuple) and len(span) == 2 and all(isinstance(end, int) for end in span):
        return int(span[0]), int(span[1])
    first = given.get("offset", given.get("start_line", given.get("insert_line")))
    size = given.get("limit")
    if isinstance(first, int) and isinstance(last := given.get("end_line"), int):
        return first, last
    if isinstance(first, int) or isinstance(size, int):
        start = first if isinstance(first, int) else 1
        return start, start + size - 1 if isinstance(size, int) else start
    return None


def _named_by(line: str) -> Iterator[tuple[str, FileOperation, tuple[int, int] | None]]:
    """Yield the files that a command line reads, searches, checks or writes."""
    if ">" in line or "sed -i" in line:
        for path in parse(line).writes:
            yield path, FileOperation.WRITE, None
    for program, words in _programs(line):
        if "-i" in words[:2]:
            continue
        operation = (
            FileOperation.READ
            if program in _READERS
            else FileOperation.SEARCH
            if program in _SEARCHERS
            else FileOperation.ANALYZE
            if any(_CHECKERS.search(word) for word in words[:3])
            else None
        )
        if operation is None:
            continue
        bare = [word.strip("'\"") for word in words[1:]]
        span = next((match for word in bare if (match := _LINES.match(word))), None)
        for word in bare:
            name = word.partition("::")[0]
            if (
                _FILE.match(name)
                and not name.startswith("-")
                and "*" not in name
                and not name.startswith("/dev/")
            ):
                yield name, operation, (int(span[1]), int(span[2])) if span else None


def project_path(path: str, root: str, cwd: str = "") -> str:
    """Return `path` relative to the project's folder, if it is inside."""
    path = clean(path.removeprefix("./"), 300)
    for folder in (root, cwd):
        if folder and path.startswith(folder.rstrip("/") + "/"):
            return path[len(folder.rstrip("/")) + 1 :]
    return path


def summary_of(call: Event) -> str | None:
    """Return a summary of an edit without its text: how many lines, and what is defined there."""
    old, new = _text(call.input, _OLD), _text(call.input, _NEW)
    if new is None:
        patch = _text(call.input, ("input", "patch", "patchText", "command"))
        if patch is None or "*** Begin Patch" not in patch:
            return None
        lines = patch.splitlines()
        old = "\n".join(line[1:] for line in lines if line.startswith("-"))
        new = "\n".join(line[1:] for line in lines if line.startswith("+"))
    if (renamed := rename_in(call)) is not None:
        return clean(f"{renamed[0]} renamed {renamed[1]}", LONGEST_SUMMARY)
    added, removed = set(new.splitlines()), set((old or "").splitlines())
    size = f"+{len(added - removed)} −{len(removed - added)} lines"
    defined = list(dict.fromkeys(_DEFINED.findall(new)))[:3]
    return clean(f"{size} ({', '.join(defined)})" if defined else size, LONGEST_SUMMARY)


def rename_in(call: Event) -> tuple[str, str] | None:
    """Return the old and new identifier of an edit that only renames one, else None."""
    old, new = _text(call.input, _OLD), _text(call.input, _NEW)
    if not old or not new or len(old) > 20_000:
        return None
    before, after = _IDENTIFIER.findall(old), _IDENTIFIER.findall(new)
    if len(before) != len(after):
        return None
    swapped = {(one, other) for one, other in zip(before, after, strict=True) if one != other}
    if len(swapped) != 1:
        return None
    one, other = swapped.pop()
    if len(one) < 3 or not (one.isidentifier() and other.isidentifier()) or other in before:
        return None
    return clean(one, 80), clean(other, 80)


def _text(given: Mapping[str, Any], names: tuple[str, ...]) -> str | None:
    return next((text for name in names if isinstance(text := given.get(name), str)), None)
