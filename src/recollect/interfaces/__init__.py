"""The top layer: everything that people, agents and hosts call.

An interface parses its input, calls the engine, and renders the value that comes back. It holds no rules: if the
command line, the MCP server and a hook answer the same question, they call the same method.

- `cli`: the command line, for people
- `mcp`: the MCP server, for agents
- `hooks`: `recollect hook HOST EVENT`, the small program that a host runs at every prompt and tool
- `daemon`: the background process that answers hooks, embeds texts for the others, and runs maintenance
- `daemon_client`: what other processes need of the daemon: how to start it, ask it, and leave events for it
- `web`: the memory browser, for people
- `install`: writes the configuration files of hosts, and restores them
- `anthropic_memory`: the memory tool of Anthropic's API, for agents written in Python
- `engine_pool`: open engines by project and actor, shared by `daemon` and `mcp`
- `loopback`: listening on this machine only, for `mcp` and `web`

Four paths lead to the engine:

    person  → __main__ → cli.main.run → the command's module → Engine (actor "user")
    person  → browser → web.server → a page → Engine (actor "user")
    agent   → mcp.server → McpRequests.run → EnginePool → Engine (actor "agent:HOST")
    host    → __main__ → hooks.program → socket → daemon.server → HookService.handle → EnginePool → Engine ("agent:hook")

A program in Python skips this layer: `from recollect import Engine`.

What every interface keeps to:

- What an actor may do is decided below, by `Context` and the parts, and never here.
- A `RecollectError` is for the user. The command line prints its message and hint and exits 1, the MCP server returns
  them as the answer, and for a hook the daemon logs it. Anything else is a bug.
- Texts of users are cleaned of secrets by the parts that store them. `daemon_client.spool` cleans its own, because it writes
  without an engine.
- Imports are lazy where somebody waits: a hook imports almost nothing, `--help` imports no command, and the MCP
  handshake imports no engine.

Imports between these parts point down too: `daemon`, `cli`, then `hooks`, `mcp` and `web`,
`install`, `daemon_client`, `engine_pool`.

CONTRIBUTING.md shows how to add a command, an MCP tool and a host.
"""
