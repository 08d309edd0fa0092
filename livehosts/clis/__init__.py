"""The CLIs that are tested, one module each: `claude_code`, `codex`, `gemini`, `opencode`; `registry` lists them."""
