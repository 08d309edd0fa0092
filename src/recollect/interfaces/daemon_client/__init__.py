"""What other processes need of the daemon: how to start it, ask it, and leave events for it. The daemon uses it too.

- `protocol`: requests and answers; hooks import it, so it imports almost nothing
- `caller`: what the daemon must know about a process that it works for: folder, settings, terminal
- `start`: start a daemon; the process that holds the lock is the daemon
- `control`: status, start and stop, for commands
- `spool`: events that hooks wrote to disk while no daemon ran, with what they showed the model themselves
- `first_prompts`: which sessions have had their first prompt, which may wait longer than others
- `embedder`: vectors from the daemon's model, for commands and the MCP server
- `stuck`: the work that the daemon has given up, for `recollect doctor`
- `log`: the daemon's log, without memories or messages

It imports nothing of `daemon`, `cli`, `hooks` and `mcp`, which all use it.
"""
