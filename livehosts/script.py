"""What the scripted model does: for each prompt a list of actions, one per request.

A script has no state. It finds the last prompt that it knows in the request, counts the results of tools that came after it,
and takes the action of that number. So a resumed session and a repeated request need no care.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from livehosts.model_request import RESULT, WORDS, ModelRequest
from livehosts.reply import ModelReply

SUMMARY_TAG = "<state_snapshot>"  # in which Gemini CLI wants the summary of a chat
SUMMARY = f"{SUMMARY_TAG}The user said hello.</state_snapshot>"


@dataclass(frozen=True, slots=True)
class Say:
    """Answer with words, which ends the turn."""

    text: str = "Done."


@dataclass(frozen=True, slots=True)
class RunShell:
    """Run a command with the host's own tool."""

    command: str


@dataclass(frozen=True, slots=True)
class ReadFile:
    """Read a file with the host's own tool, or with a shell command where the host has none."""

    path: str


@dataclass(frozen=True, slots=True)
class WriteFile:
    """Write a file with the host's own tool, or with a shell command where the host has none."""

    path: str
    text: str


@dataclass(frozen=True, slots=True)
class CallTool:
    """Call a tool of an MCP server by its own name, whatever the host puts before it."""

    name: str
    arguments: Mapping[str, Any] = field(default_factory=dict)


Action = Say | RunShell | ReadFile | WriteFile | CallTool


@dataclass(frozen=True, slots=True)
class Script:
    """The actions for each prompt; a prompt that it does not know gets one word.

    `turns` maps words of a prompt to what the model does then. `calls` turns an action into a call of the host's tool.
    """

    turns: Mapping[str, Sequence[Action]]
    calls: Callable[[Action, ModelRequest], ModelReply]

    def reply(self, request: ModelRequest) -> ModelReply:
        if not request.is_turn:
            return ModelReply(SUMMARY if SUMMARY_TAG in request.text else "A session")
        step, actions = self._position(request)
        action = actions[step] if step < len(actions) else Say()
        if isinstance(action, Say):
            return ModelReply(action.text)
        return self.calls(action, request)

    def _position(self, request: ModelRequest) -> tuple[int, Sequence[Action]]:
        for index in range(len(request.parts) - 1, -1, -1):
            part = request.parts[index]
            if part.kind != WORDS or part.author != "user":
                continue
            for words, actions in self.turns.items():
                if words in part.text:
                    results = [later for later in request.parts[index:] if later.kind == RESULT]
                    return len(results), actions
        return 0, ()
