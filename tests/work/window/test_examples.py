"""The examples run, against clients that answer from a script and check what they are sent."""

import json
import runpy
from pathlib import Path
from types import SimpleNamespace

import pytest

from apis import is_accepted
from recollect import ContextWindow
from recollect.work.window.item import ItemType

EXAMPLES = Path(__file__).parents[3] / "examples"
STEPS = 30


class Scripted:
    """Calls `bash` so many times, then looks up what it has lost, then answers."""

    def __init__(self, form):
        self.form = form
        self.sent = []
        self.messages = SimpleNamespace(create=self.create)  # Anthropic's
        self.chat = SimpleNamespace(completions=self.messages)  # OpenAI's

    def create(self, *, messages, **options):
        assert is_accepted(messages, self.form)
        self.sent.append(messages)
        step = len(self.sent)
        if step <= STEPS:
            call = ("bash", {"command": f"seq {step}00 {step + 5}00 | head -c 2000"})
        elif step == STEPS + 1:
            call = ("look_up", {"what": "seq 100"})
        else:
            call = None
        return getattr(self, self.form)(step, call)

    def anthropic(self, step, call):
        said = {"type": "text", "text": "Done."}
        used = call and {"type": "tool_use", "id": f"toolu_{step}", "name": call[0], "input": call[1]}
        from anthropic.types import Message

        return Message.model_validate(
            {
                "id": f"msg_{step}",
                "type": "message",
                "role": "assistant",
                "model": "scripted",
                "content": [used or said],
                "usage": {"input_tokens": 1, "output_tokens": 1},
            }
        )

    def openai(self, step, call):
        function = call and {"name": call[0], "arguments": json.dumps(call[1])}
        message = {"role": "assistant", "content": None if call else "Done."}
        if call:
            message["tool_calls"] = [{"id": f"call_{step}", "type": "function", "function": function}]
        choice = {"index": 0, "finish_reason": "stop", "message": message}
        from openai.types.chat import ChatCompletion

        return ChatCompletion.model_validate(
            {"id": "c", "object": "chat.completion", "created": 1, "model": "scripted", "choices": [choice]}
        )


@pytest.mark.parametrize("form", ["anthropic", "openai"])
def test_a_plain_loop_goes_on_past_the_size_of_its_window(form, engine, clock):
    example = runpy.run_path(str(EXAMPLES / f"{form}_loop.py"))
    window = ContextWindow(engine, 6_000, "s1", clock)
    window.add(example["SYSTEM"], ItemType.SYSTEM)
    client = Scripted(form)

    answer = example["ask"](client, window, "Count a little.")

    assert answer == "Done."
    assert window.prunings >= 2
    assert "100\\n101\\n102" in str(client.sent[-1])  # what was looked up
