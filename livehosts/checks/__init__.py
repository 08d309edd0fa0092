"""The checks, by what they look at.

- `briefing`: what the first request has, with and without a daemon, and under load
- `task`: the map, files for the task of a prompt, and what is known of a file that is opened
- `correction`: what a user corrects in one session reaches the next
- `failure`: the fix that worked is offered when a command fails again
- `sessions`: sessions end, and nothing is said twice in one
- `nudge`: an agent that recorded nothing is asked once, after work worth keeping
- `rules`: a rule of the user's stops a tool
- `connection`: warnings of the host, MCP tools, slash commands, and what `recollect uninstall` leaves
- `registry`: all of them
"""
