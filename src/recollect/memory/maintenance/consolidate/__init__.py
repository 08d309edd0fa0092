"""Consolidation: many small changes to many memories, undone as one.

A run goes through the operations in the order of `operations.OPERATIONS`. Each operation plans `Action`s; the run
carries them out in short transactions and stores its position, so that it can stop anywhere and resume there.

- `run`: start, resume, finish or plan a run, and decide when one is due
- `operations`: the table of operations, and those that look at one memory at a time
- `pairs`: the operations on pairs of similar memories, merge and contradictions
- `links`: the operations on links
- `context`: what every operation works with, and the `Action`s it plans
- `groups`: memories that may be compared with each other, and their similar pairs
- `neighbours`: candidate pairs by meaning and by words, without comparing all pairs
- `verifier`: whether the project's files still agree with a memory
- `throttle`: wait while foreground work is running, and stop on request

Nothing is merged or superseded without asking unless all rules agree; everything else becomes a question for
`recollect review`. A run of any size is one entry of `recollect changes`.
"""
