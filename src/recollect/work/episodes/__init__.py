"""Episodes: what agents did in past sessions, as rows to query and patterns to learn from.

A tool call passes through these modules:

    record.py     a call and its result become an `Execution` and the files it touched
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

Rows live in the store: see `EpisodeStore`. Texts of files, tool output and model answers are never
stored, only sizes, digests and shapes. Recording never raises into a session: a failure is logged.
"""
