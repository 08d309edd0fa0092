"""Maintain stored memories: what people change, what is learnt from use, and what runs automatically.

People change memories, through `Memories` and `Maintenance`:

- `states`: forget, restore, deprecate, pin, tag, link, resolve a conflict
- `wrong`: mark a memory as wrong, store what is right instead, and review what was derived from it
- `review`: answer the questions that programs left open; `KINDS` says what each answer does
- `undo`: record changes so that they can be undone, and undo them

Use changes memories, through `Retrieval`:

- `feedback`: raise and lower confidence after each retrieval, link what was used together, record and close gaps

The rest runs in the background, when `work.schedule.Schedule` or the daemon finds that it is due:

- `compact`: end quarantines, archive moments that are over and what exceeds the capacity, after a day or 50 retrievals
- `consolidate`: merge duplicates, find contradictions, check facts against the code, once a week or daily when idle
- `clusters`: group memories by meaning, after 50 retrievals; `density` finds the groups
- `merge`: how two memories become one, for `consolidate` and `review`
- `purge`: permanently delete what was forgotten 30 days ago, drop old messages, and free disk space
- `vectors`: embed memories that have no vector of the current model
- `doctor`: check the installation and report problems

The package calls `write` to store statements and to decide who wins, `anchors` to check code, and `decay` for what has
faded.

It promises:

- Nothing is deleted at once: compaction archives, forgetting hides for 30 days.
- What a user said or pinned is never replaced by what a program says without asking: it becomes a question for
  `recollect review`.
- Every change to more than one memory is one entry of `recollect changes`, and `recollect undo` takes it back exactly.
  What somebody changed since is left alone and named.
"""
