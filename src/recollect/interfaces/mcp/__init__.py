"""The MCP server: memory, code and past work as tools, prompts and resources for agents.

The daemon serves it. `recollect mcp`, which agents start, is a small program that passes messages on (`relay`); without a
daemon it runs the server itself. `recollect mcp --http` serves several clients on this machine. A tool call takes this
path:

1. `sessions` or `http` receives the message, and `McpRequests.receive` notes it before the SDK dispatches it.
2. The tool, a function in one of the `…_tools` modules whose arguments pydantic has checked, calls `Toolbox.answer`.
3. `McpRequests.run` finds the client's session and folder, borrows the engine for it from `EnginePool` as the actor
   `agent:HOST`, and runs the work in a worker thread.
4. The work calls the engine and returns its answer twice: a dataclass of `answers`, with stable keys, and text.
5. `Toolbox` records the call in episodes and sends both forms. A `RecollectError` becomes an answer that is an error.

Modules:

- `relay`: the program that agents start; it imports almost nothing
- `windows_input`: its input, where only sockets can be waited for
- `sessions`: sessions over sockets, in the daemon or in the relay's process
- `server`: `build_server` with `TOOLS`, and the instructions that agents read
- `streams`: one session; every request is answered before it ends
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
- A request is not lost when the daemon is stopped, upgraded or killed: it is answered by the next server, or with an
  error that says what to do.
- The project is the one given at the start, else that of the current folder, unless the client has other folders open:
  then that of the first of them.
- A memory is shown in full once per session; later answers only name it, unless the tool is called with `repeat`.
- If the user has turned memory off, every tool says so and does nothing.

To add a tool, follow CONTRIBUTING.md. Descriptions are prompts: they say when to call the tool.
"""
