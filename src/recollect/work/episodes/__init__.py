"""Episodes: what agents did in past sessions, as rows to query and patterns to learn from.

A tool call passes through these modules:

    record.py     a call and its result become a `ToolExecution` and the files it touched
    recorder.py   a bounded queue and a thread store them, so that no caller waits
    tasks.py      requests of the user begin, switch and close tasks
    patterns.py   failures and their fixes, renames and workflows that recur
    failures.py   failures reduced to what stays the same from run to run
    learnings.py  what files are for, common errors, workflows that succeed

`episodes.py` is the part that the engine holds. It asks

    queries.py    the history of a file, of tools, of similar tasks
    tables.py     DuckDB over the rows, for aggregates
    sql.py        queries that users write, in a limited process
    export.py     Parquet files

Calls come in two ways: `Sessions` passes the events of a session through `Episodes.watch`, and the MCP server and
Python agents call `Episodes.record`. `Schedule.run_idle` calls `refresh`, which looks for patterns in new rows, embeds
tasks, and sums up rows that are too old. `recollect history` and `task`, the MCP tool `work_history` and hooks after a
failed tool (`fixes_for`) ask.

Rows live in the store: see `EpisodeStore`. Single rows are looked up there, aggregates are computed in DuckDB:
docs/decisions/0011-episodes-in-sqlite-and-duckdb-for-sql.md.

What it promises:

- Texts of files, tool output and model answers are never stored, only sizes, digests and shapes. Commands and paths are
  redacted.
- Recording never raises into a session and never makes it wait: a failure is logged, a full queue drops the call.
- A call counts once, even if the same session is read again.
- Queries see one project of one user. SQL of users is read-only, limited in time and memory, and sees the six tables
  only.
"""
