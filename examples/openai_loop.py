"""A plain loop with OpenAI's SDK whose context never fills up.

    OPENAI_API_KEY=… python examples/openai_loop.py "Why do the tests fail?"

What leaves the window can be had again: the model has a tool for it, and each line `[left out: …]` names an id.
"""

import json
import subprocess
import sys
from typing import Any

from recollect import ContextWindow, Engine
from recollect.work.window.item import ItemType

MODEL = "gpt-5"
SYSTEM = "You are a coding agent. What stands in [left out: …] can be had again with the tool look_up."


def _tool(name: str, description: str, parameter: str) -> dict[str, Any]:
    schema = {"type": "object", "properties": {parameter: {"type": "string"}}, "required": [parameter]}
    return {"type": "function", "function": {"name": name, "description": description, "parameters": schema}}


TOOLS = [
    _tool("bash", "Run a command in the project.", "command"),
    _tool("look_up", "What was left out of this conversation: by its id, or by words.", "what"),
]


def ask(client: Any, window: ContextWindow, question: str) -> str:
    messages = window.prepare(question, "openai")
    while True:
        response = client.chat.completions.create(model=MODEL, tools=TOOLS, messages=messages)
        message = response.choices[0].message
        window.extend([message], "openai")
        if not message.tool_calls:
            return message.content or ""
        window.extend(
            [
                {"role": "tool", "tool_call_id": call.id, "content": use(window, call.function)}
                for call in message.tool_calls
            ],
            "openai",
        )
        messages = window.messages("openai")


def use(window: ContextWindow, function: Any) -> str:
    given = json.loads(function.arguments)
    if function.name == "look_up":
        return (
            "\n\n".join(found.text for found in window.find(given["what"], 1)) or "Nothing is known of that."
        )
    done = subprocess.run(given["command"], shell=True, capture_output=True, text=True, timeout=120)
    return done.stdout + done.stderr


def main() -> None:
    from openai import OpenAI

    with Engine.open(actor="agent:example") as engine:
        window = ContextWindow(engine)
        window.add(SYSTEM, ItemType.SYSTEM)
        for question in sys.argv[1:]:
            print(ask(OpenAI(), window, question))  # noqa: T201


if __name__ == "__main__":
    main()
