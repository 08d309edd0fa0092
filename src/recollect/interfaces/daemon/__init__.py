"""One background process per user: it keeps the model loaded, answers hooks in time, and learns from sessions.

An event takes this path:

1. `hooks.program` sends it over a socket (`daemon_client.protocol`) to `server`.
2. `HookService.handle` finds the `HookSession`, borrows the engine of the session's project from `EnginePool`, and
   records the event with `Sessions.record`, in a thread of its own: a store that another process writes to holds up no
   answer. Meanwhile `HookSession.request_for` decides what the agent should see: the briefing, memories that fit the
   prompt, warnings before a tool runs, or fixes after it failed. While the model is still loading, memories are found
   by their words.
3. What is ready before the hook's deadline is printed, in the host's form (`work.hosts.hook_output`); what comes later
   is added to the answer of the next prompt or tool call. A text counts as told once the hook has confirmed that it
   read the answer (`Outbox`); one that nobody read waits for the next event too.
4. `_follow_up` queues the rest for the background thread: a checkpoint after a turn, learning after a session.
   A session whose host is gone without a word is ended by `tick`, or before the next briefing in its project.

Once a second the server calls `HookService.tick`. After five seconds without a hook that runs `Schedule.run_idle`,
recovers crashed sessions, consolidates if it is due, and updates the code graphs of projects in use.

- `server`: the socket, who may connect, and which request gets which answer
- `hook_service`: what happens with events, and background work
- `hook_session`: one session of a host: its recent messages, what it was shown, and lookups
- `outbox`: what a session is about to be told, until a hook has confirmed it
- `status_lines`: what hosts show in their status line
- `code_index`: the code of projects, read before a session's first prompt needs it
- `host_process`: the process of a host, by which a session that never ended is known to be over
- `team_follower`: live updates of the team server
- `watchdog`: threads in which a project's work is given up when it does not end

What other processes use of it is in `interfaces.daemon_client`.

What it promises:

- When a hook gets its answer, the event is on disk, or the answer says that it is not, and the hook spools it. An event
  has an id and counts once, even if it is delivered twice.
- The socket is open to its user only; each connection's user id is checked, or a token where there are no Unix sockets.
- Spooled events are redacted before they are written, and recorded before later ones.
- A daemon exits when it is idle, when the settings change, and when a newer version of Recollect calls it.
- It is optional: without it hooks compose the briefing of a new session themselves (`hooks.without_daemon`), write
  events down and exit, and commands load the model themselves.

To change what agents see at an event, start at `HookSession.request_for`. What an event of a host means is in
`recollect.work.hosts`.
"""
