"""Maintain stored memories: what people do to them, what use teaches, and what runs by itself.

People change one memory at a time: `states` forgets, restores, pins, tags and links; `wrong` marks a memory as wrong;
`review` answers the questions that programs left open; `undo` takes back a change.

Use changes memories: `feedback` raises and lowers confidence after each retrieval, links what was used together, and
records questions that memory could not answer.

The rest runs in the background, each at its own interval:

- `compact`: end quarantines and archive what has faded, expired or exceeds the capacity, once a day
- `consolidate`: merge duplicates, find contradictions, check facts against the code, once a week or when idle
- `clusters`: group memories by meaning, after 50 retrievals
- `merge`: how two memories become one, for `consolidate` and `review`
- `purge`: delete for good what was forgotten 30 days ago, and give disk space back
- `vectors`: embed memories that have no vector
- `doctor`: check the installation and report problems

The package promises that nothing is deleted at once, that what a user said is never replaced without asking, and that
every change to more than one memory is one entry of `recollect changes` that can be undone.
"""
