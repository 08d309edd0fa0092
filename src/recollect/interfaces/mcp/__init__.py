"""The MCP server: memory, code and past work as tools, resources and prompts.

A request reaches `McpRequests`, which knows the client's session and project and lends the engine for it. The tool
calls the engine and returns its answer with stable keys and as text. Nothing of the engine is imported before the first
call, so that the handshake is fast.

- `server`: builds the server, and serves it over standard input and output (`stdio`) or HTTP (`http`)
- `requests`: clients, their sessions and projects, and the engines
- `toolbox`: how a tool is registered and run
- `memory_tools`, `code_tools`, `work_tools`: the tools; `memories` does the work of the first
- `prompts`: prompts and resources
- `answers`: the structured answers

CONTRIBUTING.md shows how to add a tool.
"""
