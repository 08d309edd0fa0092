"""The coding agents that Recollect works with: one file per host holds everything about it.

A host's row (`Host`) says which events it has and what they mean, where its configuration is and how entries look
there, how a hook answers it, which format its briefings take, how its MCP client calls itself, and how its transcripts
are read. The code that uses a row never asks for a host by name:

    hook event      → hook_input.host_event → session_events → Sessions.record
    what to show    → hook_output.printed, in the form that the host takes
    installation    → interfaces.install.edits, from the host's files, hook_entry and server_entry
    transcript      → session_files finds it, transcripts recognises and reads it
    MCP client      → registry.host_of_client, from the name that it gives

Modules:

- `host`: the classes that a row is made of; each field has a comment
- `claude_code`, `codex`, `gemini`: hosts with transcripts, which the same file reads
- `opencode`, `opencode_database`: a host whose transcripts are in a database, which the second file reads
- `cursor`, `vscode`, `windsurf`: hosts without transcripts of their own format
- `registry`: the hosts by name, and the formats of briefings
- `hook_input`: what hooks send, as events of a session
- `hook_output`: what hooks print
- `transcripts`: all formats, those of programs that are not hosts too
- `session_files`: finds transcripts on this machine without opening them
- `records`: finds the host's own record of a session, which confirms what the user typed

Callers are the daemon (`hook_service`, `hook_session`, `spool`), `interfaces.install`, the MCP server, sessions, and
briefings. The package calls `work.transcripts` only.

What it promises: a row is data and pure functions; nothing here writes a file or opens a store. A field that a host
does not send is absent and no error. Hook events become the same session events that the host's transcript would give,
so a session is learnt from in the same way by either.

CONTRIBUTING.md shows how to add a host: a file, a line in `registry`, a page and a test. What Recollect does at a kind
of event (`HookKind`) is decided in `interfaces.daemon.hook_session`.
"""
