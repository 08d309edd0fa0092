"""Sessions of agents: record events, extract findings, promote them to memories.

A session takes this path:

1. `Sessions.start` begins it, or resumes one with the same id.
2. `record` stores events in the form of `events`: redacted, clipped, JSON. They are on disk when it returns. An event
   has an id and counts once.
3. `checkpoint`, after a turn of the user or ten messages, makes messages searchable, passes the events to `Episodes`
   and `Measures`, and stores the findings of `work.extract`.
4. `end` does the same for all events, preferring the host's own transcript if there is one, because it has more. It
   writes a `summary` and promotes findings.
5. `promote.judge` decides which findings become memories, by points for each signal (the user asked for it, corrected
   the agent, it was seen in several sessions, …) and the project's preset. They go through `Memories.add_finding` as
   candidates.

Rules of the user do not wait for the end: a checkpoint, and `learn_rules` before a briefing, store them at once, in the
user's name, if they are read from the host's own record (`hosts.records`).

Modules:

- `sessions`: `Sessions`, the part that does all this
- `events`: the stored form of an event, and redaction
- `session_record`: what is recorded of a session, here and by its host
- `promote`: points, filters and presets in one table each
- `promotion`: stores what `promote` lets through, in the name of the user or of the agent
- `messages`: makes messages searchable
- `summary`, `digest`: a session in five lines, and in 2,000 tokens for a language model
- `timeline`: one session as a person reads it, with what was told and what was not promoted
- `work_done`: whether a session did something worth keeping, and recorded anything
- `transcript`: learn from files, for `recollect extract`
- `spool`: events of Python agents that could not be recorded at once

Callers: the daemon for hooks, the command `session`, `agent.tracker` for agents written in Python. It calls `extract`,
`episodes`, `metrics`, `hosts.records` and `memory.Memories`; a sidecar adds findings and words the summary if the
settings name one.

What it promises:

- A crash loses no recorded event: `recover` ends sessions that were idle for half an hour, and `end` can run again. A
  finding is promoted once.
- A session of another project or user is refused.
- A broken event, line or session is logged and left out; the others are learnt from.
- Hidden reasoning and the whole output of tools are never stored.

To learn more from sessions, add a rule to `work.extract`; to promote more or less, change `promote.POINTS` or
`PRESETS`.
"""
