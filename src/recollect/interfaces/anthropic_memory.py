"""The memory tool of Anthropic's API (`memory_20250818`), over the same store: files under /memories are memories.

    from anthropic import Anthropic
    from recollect import Engine
    from recollect.interfaces.anthropic_memory import AnthropicMemoryTool

    with Engine.open(actor="agent:claude") as engine:
        memory = AnthropicMemoryTool(engine)
        Anthropic().beta.messages.tool_runner(tools=[memory.for_runner()], ...).until_done()

A file is one memory; its path is one of the memory's files. Memories that were recorded otherwise are there too, as
`/memories/KIND/ID.md`. Writing follows the usual rules: secrets are removed, a known statement is reinforced,
contradictions are detected, and an agent reaches only its own project.
"""

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any

import recollect.model as m
from recollect.engine import Engine
from recollect.errors import ContentRefused, OutOfScope, RecollectError, Refused
from recollect.kinds import KINDS
from recollect.memory.briefing.render import short_ids

if TYPE_CHECKING:
    from anthropic.lib.tools import BetaBuiltinFunctionTool

ROOT = "/memories"
DEPTH = 2  # levels of folders that a view shows
MOST_LISTED = 500  # lines of a view
AROUND = 2  # lines shown before and after an edited one
_NUMBER = 6  # width of a line number


class AnthropicMemoryTool:
    """The tool for a request (`to_dict`), and its answers (`call`), in the words of the SDK's own tool for files."""

    name = "memory"

    def __init__(self, engine: Engine) -> None:
        self._engine = engine

    def to_dict(self) -> dict[str, str]:
        """Return the tool as the API's `tools` takes it."""
        return {"type": "memory_20250818", "name": self.name}

    def for_runner(self) -> "BetaBuiltinFunctionTool":
        """Return the tool for the SDK's `tool_runner`. This needs the package `anthropic`."""
        from anthropic.lib.tools import BetaBuiltinFunctionTool, ToolError

        ours = self

        class Runnable(BetaBuiltinFunctionTool):
            def to_dict(self) -> Any:
                return ours.to_dict()

            def call(self, input: object) -> str:
                try:
                    return ours.call(input if isinstance(input, Mapping) else {})
                except RecollectError as error:
                    raise ToolError(f"{error.message} {error.hint}".strip()) from error

        return Runnable()

    def call(self, command: Mapping[str, Any]) -> str:
        """Run a command of the model and return the text for its `tool_result`.

        Raise `RecollectError`, whose message and hint are the text for a `tool_result` with `is_error`.
        """
        self._engine.context.refuse_if_off()
        commands = {
            "view": lambda: self.view(_path(command), command.get("view_range")),
            "create": lambda: self.create(_path(command), _text(command, "file_text")),
            "str_replace": lambda: self.str_replace(
                _path(command), _text(command, "old_str"), _text(command, "new_str")
            ),
            "insert": lambda: self.insert(
                _path(command), command.get("insert_line"), _text(command, "insert_text")
            ),
            "delete": lambda: self.delete(_path(command)),
            "rename": lambda: self.rename(_path(command, "old_path"), _path(command, "new_path")),
        }
        name = command.get("command")
        if name not in commands:
            raise Refused(f"Unknown command: {str(name)[:60]}.", f"Use one of: {', '.join(commands)}.")
        return commands[name]()

    def view(self, path: str, view_range: Any = None) -> str:
        """Return a file with numbered lines, or the list of a folder."""
        files = self._files()
        if path in files:
            lines, first = files[path].content.split("\n"), 1
            if view_range:
                begin, end = _range(view_range)
                first = max(1, begin)
                lines = lines[first - 1 : len(lines) if end == -1 else end]
            return f"Here's the content of {path} with line numbers:\n" + _numbered(lines, first)
        if not _is_folder(files, path):
            raise _missing(path)
        listed = [f"{_size(_total_size(files, path))}\t{path}", *_listing(files, path, DEPTH)]
        if len(listed) > MOST_LISTED:
            left = len(listed) - MOST_LISTED
            listed = [*listed[:MOST_LISTED], f"… {left} more; view a folder to see what is in it"]
        head = (
            f"Here're the files and directories up to {DEPTH} levels deep in {path}, excluding hidden items:"
        )
        return "\n".join([head, *listed])

    def create(self, path: str, file_text: str) -> str:
        """Remember the text as a new file."""
        files = self._files()
        if path in files or _is_folder(files, path):
            raise Refused(f"File {path} already exists")
        above = path.rpartition("/")[0]
        if above in files:
            raise Refused(f"The path {above} is not a directory.")
        folder = path.split("/")[2]
        receipt = self._engine.remember(
            file_text, kind=folder if folder in KINDS else None, file_paths=(path,)
        )
        if receipt.is_duplicate:  # the statement is known already: give that memory this path too
            memory = self._engine.get(receipt.id)
            if path not in memory.file_paths:
                try:
                    self._engine.edit(memory.id, file_paths=(*memory.file_paths, path))
                except OutOfScope:  # the user's own words stay where they are
                    known = next((file for file, each in self._files().items() if each.id == memory.id), ROOT)
                    return f"The user has said this already: {known}"
        return f"File created successfully at: {path}"

    def str_replace(self, path: str, old_str: str, new_str: str) -> str:
        """Replace the only occurrence of `old_str` in a file."""
        memory = self._file(path)
        text = memory.content
        places = [at for at in range(len(text)) if text.startswith(old_str, at)] if old_str else []
        if not places:
            raise Refused(
                f"No replacement was performed, old_str `{old_str}` did not appear verbatim in {path}."
            )
        lines = [text[:at].count("\n") + 1 for at in places]
        if len(places) > 1:
            raise Refused(
                f"No replacement was performed. Multiple occurrences of old_str `{old_str}` in lines:"
                f" {', '.join(map(str, lines))}. Please ensure it is unique"
            )
        written = self._edit(memory, text.replace(old_str, new_str)).split("\n")
        first = max(1, lines[0] - AROUND)
        shown = written[first - 1 : lines[0] + AROUND]
        return (
            "The memory file has been edited. Here is the snippet showing the change (with line numbers):\n"
            + _numbered(shown, first)
        )

    def insert(self, path: str, insert_line: Any, insert_text: str) -> str:
        """Insert text after a line; 0 is the beginning."""
        memory = self._file(path)
        lines = memory.content.split("\n")
        if not isinstance(insert_line, int) or not 0 <= insert_line <= len(lines):
            raise Refused(
                f"Invalid `insert_line` parameter: {insert_line}. It should be within the range [0, {len(lines)}]."
            )
        lines.insert(insert_line, insert_text.rstrip("\n"))
        self._edit(memory, "\n".join(lines))
        return f"The file {path} has been edited."

    def delete(self, path: str) -> str:
        """Forget a file, or a folder with everything in it; the user can restore them for 30 days."""
        if path == ROOT:
            raise Refused(f"Cannot delete the {ROOT} directory itself")
        kept = []
        for file, memory in self._below(path):
            others = tuple(each for each in memory.file_paths if each != file)
            if any(each.startswith(f"{ROOT}/") for each in others):
                self._engine.edit(memory.id, file_paths=others)
            elif self._engine.forget(memory.id).state is not m.State.DELETED:
                kept.append(file)
        if kept:
            files = ", ".join(kept)
            return f"Not deleted, because it is the user's: {files}. The user is asked in `recollect review --kind forget`."
        return f"Successfully deleted {path}"

    def rename(self, old_path: str, new_path: str) -> str:
        """Move a file or a folder."""
        if old_path == ROOT:
            raise Refused(f"Cannot rename the {ROOT} directory itself")
        files = self._files()
        moved = self._below(old_path)
        if new_path in files or _is_folder(files, new_path):
            raise Refused(f"The destination {new_path} already exists")
        if new_path.startswith(f"{old_path}/") or new_path.rpartition("/")[0] in files:
            raise Refused(f"The destination {new_path} cannot be in {old_path}, or in a file.")
        for file, memory in moved:
            kept = [each for each in self._engine.get(memory.id).file_paths if each != file]
            self._engine.edit(memory.id, file_paths=(*kept, new_path + file.removeprefix(old_path)))
        return f"Successfully renamed {old_path} to {new_path}"

    def _files(self) -> dict[str, m.Memory]:
        """Return the memories by path; the newest if several have the same."""
        memories = self._engine.list()
        names = short_ids(memory.id for memory in memories)
        files: dict[str, m.Memory] = {}
        for memory in memories:
            given = [path for path in memory.file_paths if path.startswith(f"{ROOT}/")]
            for path in given or [f"{ROOT}/{memory.kind}/{names[memory.id]}.md"]:
                files.setdefault(path, memory)
        return files

    def _file(self, path: str) -> m.Memory:
        files = self._files()
        if path in files:
            return files[path]
        raise Refused(f"The path {path} is not a file.") if _is_folder(files, path) else _missing(path)

    def _below(self, path: str) -> list[tuple[str, m.Memory]]:
        """Return the file at `path`, or every file in that folder."""
        found = [
            (file, memory)
            for file, memory in self._files().items()
            if file == path or file.startswith(f"{path}/")
        ]
        if not found:
            raise Refused(f"The path {path} does not exist")
        return found

    def _edit(self, memory: m.Memory, text: str) -> str:
        """Change a memory and return its text as it was stored, for example without secrets."""
        written, _ = self._engine.edit(memory.id, content=text)
        return written.content


def _path(command: Mapping[str, Any], name: str = "path") -> str:
    """Return a path of the command in one spelling. Raise `Refused` for one outside of `/memories`."""
    given = _text(command, name)
    parts = [part for part in given.split("/") if part]
    if not given.startswith("/") or parts[:1] != [ROOT[1:]]:
        raise Refused(f"Path must start with {ROOT}, got: {given[:200]}")
    if any(part in (".", "..") for part in parts) or "\\" in given or "%2e" in given.lower():
        raise Refused(f"Path {given[:200]} would escape {ROOT} directory")
    if not given.isprintable():
        raise Refused(
            "A path must not have line breaks or control characters.", "Use letters, digits, - and _."
        )
    return "/" + "/".join(parts)


def _text(command: Mapping[str, Any], name: str) -> str:
    value = command.get(name, "" if name == "new_str" else None)
    if not isinstance(value, str):
        raise ContentRefused(f"{command.get('command')} needs `{name}`, a text.", "Add it and try again.")
    return value


def _range(given: Any) -> tuple[int, int]:
    if not isinstance(given, list | tuple) or [type(each) for each in given] != [int, int]:
        raise Refused(f"Invalid `view_range` parameter: {given}.", "Two line numbers; -1 is the end.")
    return given[0], given[1]


def _missing(path: str) -> Refused:
    return Refused(f"The path {path} does not exist. Please provide a valid path.")


def _is_folder(files: Mapping[str, m.Memory], path: str) -> bool:
    return path == ROOT or any(file.startswith(f"{path}/") for file in files)


def _listing(files: Mapping[str, m.Memory], folder: str, depth: int) -> Iterator[str]:
    """Yield a line for each file and folder in `folder`, with the content of folders; hidden ones are left out."""
    names = {
        file.removeprefix(f"{folder}/").partition("/")[0] for file in files if file.startswith(f"{folder}/")
    }
    for name in sorted(names):
        path = f"{folder}/{name}"
        if name.startswith("."):
            continue
        if path in files:
            yield f"{_size(len(files[path].content.encode()))}\t{path}"
        else:
            yield f"{_size(_total_size(files, path))}\t{path}/"
            if depth > 1:
                yield from _listing(files, path, depth - 1)


def _total_size(files: Mapping[str, m.Memory], folder: str) -> int:
    return sum(len(each.content.encode()) for file, each in files.items() if file.startswith(f"{folder}/"))


def _size(count: int) -> str:
    size, unit = (count, "B") if count < 1024 else (count / 1024, "K")
    return f"{size:.0f}{unit}" if size == int(size) else f"{size:.1f}{unit}"


def _numbered(lines: list[str], first: int) -> str:
    return "\n".join(f"{number:>{_NUMBER}}\t{line}" for number, line in enumerate(lines, first))
