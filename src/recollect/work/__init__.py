"""What happens while agents work: sessions, transcripts, episodes, the context window. Built on memories and code.

From an event to a memory:

    hook or MCP call   → hosts.hook_input → sessions.Sessions.record → store
    transcript file    → hosts.transcripts → transcripts → sessions.Sessions.learn_from
    checkpoint, end    → episodes (what was done), metrics (what it cost), extract (findings)
    end of a session   → sessions.promote decides → memory.Memories.add, the same write path as for people

And from memories to an agent:

    every moment       → delivery.Composer.compose, for every interface
    each turn          → agent.tracker.TopicTracker, for agents written in Python
    a full window      → window.ContextWindow

- `sessions`: `engine.sessions`. Record events, extract findings, promote them to memories
- `extract`: the findings in the events of a session, by rules
- `transcripts`: files that agents write, read as one kind of event
- `hosts`: everything about each coding agent, one file per host
- `episodes`: `engine.episodes`. Past work as rows: tools, files and tasks, with patterns in them
- `window`: keep a conversation within a model's context window
- `agent`: recall in the background of an agent written in Python
- `metrics`: `engine.measures`. Counts, timings and the tokens that memory saved
- `delivery`: `engine.delivery`. What an agent is told, at every moment
- `project_code`: `engine.code`. The code of a project with past tasks and its module map
- `schedule`: `engine.schedule`. The maintenance that is due: backups, purging, compaction, clusters

The engine makes these parts and interfaces call them. They call `memory`, `code`, `store` and `text`, and nothing
above.

What it promises:

- Events, messages and findings are redacted before anything is written.
- A session belongs to one project, and nothing of it is seen in another.
- An agent in the foreground never waits for learning, and never fails because of it: errors are logged.
- What is recorded counts once, even if it is delivered or read twice, and survives a crash.
- With `recollect off` nothing is recorded, with `recollect auto off` nothing is learnt.
"""
