"""One background process per user: it keeps the model loaded, answers hooks in time, and learns when nobody waits.

An event comes from the hook program over a socket (`protocol`) to `server`, which passes it to `hook_service`. That
finds the `HookSession`, records the event in the session's project, looks up what the agent should see, and returns
what the hook prints; what takes longer (checkpoints, learning, maintenance) goes to a background thread. Events from a
time without a daemon wait in the `spool` and are recorded first.

- `protocol`: requests and answers; imported by hooks, so it imports almost nothing
- `start`, `client`: start, stop and ask the daemon
- `server`: the socket, and which request gets which answer
- `hook_service`, `hook_session`: what happens with events
- `spool`: events that wait on disk
- `embedder`: vectors from the daemon's model, for commands
- `connection`: the check of `recollect doctor`, from a host's configuration to the daemon
- `log`: the daemon's log, without anything that was said

The daemon is optional: without it hooks write events down and exit, and commands load the model themselves.
"""
