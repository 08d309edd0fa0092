"""Consolidation: many small changes to many memories, undone as one.

A run goes through the operations in the order of `operations.OPERATIONS`. Each operation plans `Action`s; the run
carries them out in short transactions and stores its position, so that it can stop anywhere and resume there.

- `run`: `due` says when a run is due, `plan` what it would do, `consolidate` starts or resumes one
- `operations`: the table of operations, and those that look at one memory, tag or cluster at a time
- `pairs`: the operations on pairs of similar memories, merge and contradictions
- `links`: the operations on links
- `context`: what every operation works with, and the `Action`s it plans
- `groups`: memories that may be compared with each other, and their similar pairs
- `neighbours`: candidate pairs by meaning and by words, without comparing all pairs
- `verifier`: whether the project's files still agree with a memory
- `throttle`: wait while foreground work is running, and stop on request

The path of a pair: `groups` loads the memories of one project, scope and branch, `neighbours` proposes pairs,
`memory.judgement` compares them, a judge is asked where the rules are unsure, and `pairs` merges, supersedes
(`write.precedence`) or asks.

`Maintenance.consolidate` calls it for `recollect consolidate`, and the daemon when nobody works. It runs in one process
at a time, over all projects of a user, and never compares memories of two projects.

Nothing is merged or superseded without asking unless all rules agree; everything else becomes a question for
`recollect review`. A run of any size is one entry of `recollect changes`. An action reads its memories again before it
writes, and does nothing if somebody changed them meanwhile. A dry run writes nothing.

To add an operation, write a function that yields `Action`s for an `OperationContext`, and a row in `OPERATIONS`.
Each operation and its limits are described in docs/consolidation.md; `python -m bench.consolidate` measures them.
"""
