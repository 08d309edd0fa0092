"""Anchors: which code a memory is about, and whether that code has changed.

An anchor is a file or a symbol with a digest of its code. It takes this path:

1. `tie` finds the files and symbols that the text of a new memory names; the writer calls it, and consolidation for
   memories that have none yet. Memories of a branch get no anchors, because their code may be elsewhere.
2. `marks` computes the digest: the tokens of the symbol's code, whatever their layout and their place in the file.
3. `check` compares the anchors with the code as it is now. Files whose size and time are unchanged are not read. Code
   that moved unchanged is followed to its new file.
4. `stale` stores which memories of a project are stale, with the reason and since when, and moves anchors that were
   followed.

5. `difference` shows a person how the code of a stale memory differs from what it was, which it finds in git's history.

`Schedule.run_idle` and `Maintenance.check_code` call `stale.check_anchors`. Readers call `stale.refresh_changed`, which
reads only code that has changed since, or `stale.stale_in` after it: search lowers the score of a stale memory (`ranking.STALE_SHARE`), briefings mark it,
and whoever finds it first puts it into the review list.

The package reads code through `recollect.code.languages` and nothing of the code graph but names (`tie.KnownCode`). It
promises that no file of a project can keep a memory from being stored, and that formatting alone makes nothing stale.
"""
