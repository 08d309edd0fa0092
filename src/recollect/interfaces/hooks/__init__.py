"""The program that hosts run at every prompt and tool: small, fast, and never in the way.

- `program`: send the event to the daemon and print its answer
- `without_daemon`: what is said without one: the briefing of a new session, composed from the store
- `deliver`: a background process for events that nobody has kept yet

What an event means is said in `recollect.work.hosts`, and what the daemon does with it in `recollect.interfaces.daemon`.
`program` knows only that `SessionStart` may take longer.
"""
