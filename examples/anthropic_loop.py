"""A plain loop with Anthropic's SDK whose context never fills up.

    ANTHROPIC_API_KEY=… python examples/anthropic_loop.py "Why do the tests fail?"

What leaves the window can be had again: the model has a tool for it, and each line `[left out: …]` names an id.
"""

import subprocess
import sys
from typing import Any

from recollect import ContextWindow, Engine
from recollect.work.window.item import ItemType

MODEL = "claude-sonnet-4-5"
SYSTEM = "You are a coding agent. What stands in [left out: …] can be had again with the tool look_up."
TOOLS = [
    {
        "name": "bash",
        "description": "Run a command in the project.",
        "input_schema": {
            "type": "object",
            "properties": {"command": {"type": "string"}},
            "required": ["command"],
        },
    },
    {
        "name": "look_up",
        "description": "What was left out of this conversation: by its id, or by words.",
        "input_schema": {"type": "object", "properties": {"what": {"type": "string"}}, "required": ["what"]},
    },
]


def ask(client: Any, window: ContextWindow, question: str) -> str:
    messages = window.prepare(question)
    while True:
        response = client.messages.create(
            model=MODEL, max_tokens=8_000, system=window.system, tools=TOOLS, messages=messages
        )
        window.extend([{"role": "assistant", "content": response.content}], "anthropic")
        calls = [block for block in response.content if block.type == "tool_use"]
        if not calls:
            return "\n".join(block.text for block in response.content if block.type == "text")
        results = [
            {"type": "tool_result", "tool_use_id": call.id, "content": use(window, call.name, call.input)}
            for call in calls
        ]
        window.extend([{"role": "user", "content": results}], "anthropic")
        messages = window.messages()


def use(window: ContextWindow, tool: str, given: dict[str, str]) -> str:
    if tool == "look_up":
        return (
            "\n\n".join(found.text for found in window.find(given["what"], 1)) or "Nothing is known of that."
        )
    done = subprocess.run(given["command"], shell=True, capture_output=True, text=True, timeout=120)
    return done.stdout + done.stderr


def main() -> None:
    from anthropic import Anthropic

    with Engine.open(actor="agent:example") as engine:
        window = ContextWindow(engine)
        window.add(SYSTEM, ItemType.SYSTEM)
        for question in sys.argv[1:]:
            print(ask(Anthropic(), window, question))  # noqa: T201


if __name__ == "__main__":
    main()
