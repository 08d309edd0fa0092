"""The MCP server: memory, code and past work as tools, prompts and resources for agents.

`recollect mcp` starts it, for one client over standard input and output, or with `--http` for several clients on this
machine. A tool call takes this path:

1. `stdio` or `http` receives the message, and `McpRequests.receive` notes it before the SDK dispatches it.
2. The tool, a function in one of the `…_tools` modules whose arguments pydantic has checked, calls `Toolbox.answer`.
3. `McpRequests.run` finds the client's session and folder, borrows the engine for it from `EnginePool` as the actor
   `agent:HOST`, and runs the work in a worker thread.
4. The work calls the engine and returns its answer twice: a dataclass of `answers`, with stable keys, and text.
5. `Toolbox` records the call in episodes and sends both forms. A `RecollectError` becomes an answer that is an error.

Modules:

- `server`: `build_server` with `TOOLS`, the instructions that agents read, and serving over standard input and output
- `stdio`: the streams; every request is answered before the server exits
- `http`: the same server on 127.0.0.1, with a token, closed to web pages
- `requests`: clients, their sessions, projects and engines; `ToolContext` is what a tool gets
- `toolbox`: how a tool is registered and run
- `memory_tools`: the tools for memories and past sessions as agents see them; `memories` does their work
- `code_tools`: `module_map`, `update_module_map` and `code_graph`
- `work_tools`: `work_history`
- `prompts`: prompts (slash commands), and the briefing as a resource
- `answers`: the structured answers

What it promises:

- The handshake is answered before anything of the engine is imported.
- The project is the one given at the start, else that of the current folder, unless the client has other folders open:
  then that of the first of them.
- A memory is shown in full once per session; later answers only name it, unless the tool is called with `repeat`.
- If the user has turned memory off, every tool says so and does nothing.

To add a tool, follow CONTRIBUTING.md. Descriptions are prompts: they say when to call the tool.
"""
