"""The program that hosts run at every prompt and tool: small, fast, and never in the way.

`program` sends the event to the daemon and prints its answer; `deliver` takes care of events that no daemon accepted.
What an event means is not known here, except that `SessionStart` may take longer: see `recollect.work.hosts` and
`recollect.interfaces.daemon`.
"""
