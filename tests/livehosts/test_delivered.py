"""What of a request is Recollect's: its blocks in each format, as hosts pass them on."""

import pytest

from livehosts.delivered import blocks_in, delivered, memory_ids
from livehosts.model_request import ModelRequest, RequestPart


@pytest.mark.parametrize("host", ["claude-code", "codex", "gemini", "opencode"])
def test_a_briefing_is_found_in_the_format_of_each_host(host, engine):
    memory = engine.remember("Money is in cents", kind="convention")
    engine.pin(memory.id)
    text = engine.recall("round prices", host=host).text

    (block,) = blocks_in(f"<hook_context>{text}</hook_context>")

    assert "Money is in cents" in block
    assert memory_ids(block) == [memory.id[-6:]]


def test_what_gemini_escapes_is_found_too():
    text = "## Project memory\n&gt; recollect-memory: notes\n- cents\n&gt; end of recollect-memory"

    assert len(blocks_in(text)) == 1


def test_a_block_of_an_earlier_request_is_not_new():
    old = RequestPart("user", "words", "--- recollect-memory: a\n--- end of recollect-memory ---")
    new = RequestPart("user", "words", "--- recollect-memory: b\n--- end of recollect-memory ---")
    request = ModelRequest("chat", "/", {}, (old, new))

    assert delivered(request, [old]) == [new.text]
