"""The APIs of models: each module reads a request and writes an answer.

- `anthropic`: Messages, for Claude Code
- `responses`: OpenAI's Responses, for Codex
- `chat`: OpenAI's chat completions, for OpenCode
- `gemini`: generateContent and streamGenerateContent, for Gemini CLI
"""
