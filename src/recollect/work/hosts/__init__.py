"""The coding agents that Recollect works with: one file per host holds everything about it.

A host's row (`Host`) says which events it has and what they mean, where its configuration is and how entries look
there, how a hook answers it, which format its briefings take, how its MCP client calls itself, and how its transcripts
are read. The code that uses a row never asks for a host by name:

- a hook event comes in through `hook_input` as a `HostEvent`, becomes session events, and the answer leaves through
  `hook_output` in the host's form;
- `interfaces.install` writes the host's configuration files;
- a transcript is recognised and read through `transcripts`; `session_files` finds those on this machine.

Modules:

- `host`: the classes that a row is made of
- `claude_code`, `codex`, `gemini`, `opencode`, `cursor`, `vscode`, `windsurf`: the hosts
- `registry`: the hosts by name
- `hook_input`, `hook_output`: what hooks send and print
- `transcripts`, `session_files`: reading and finding transcripts

CONTRIBUTING.md shows how to add a host.
"""
