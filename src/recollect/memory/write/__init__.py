"""The write path: every memory that is stored or edited goes through `MemoryWriter`, whichever interface it comes from.

A draft passes through these modules in order (docs/writing.md tells it for users, with numbers of its own):

1. `limits` refuses what cannot be stored: empty, too long, binary, our own injected text, or from an ignored file.
2. `draft` removes secrets and fills in the defaults, the kind by `kind`; `enrich` adds a summary, tags and the parts of a
   procedure.
3. `writer.prepare` anchors the memory to the code that it names, embeds it, and looks for similar memories of the same
   scope: by vector, by words, and by the fingerprint of the text.
4. `memory.judgement` compares the memory with each of them. Where its rules are unsure, a sidecar may be asked.
5. A memory that says the same is reinforced, with the richer text: `reinforce`.
6. `precedence.decide` says which contradicted memories are superseded, and which stay beside the new one as a conflict.
7. `writer.write` stores memory, vector, links and audit line in one transaction. If another process has written since
   step 3, it compares again.

- `writer`: `MemoryWriter` with `remember` (all steps), `prepare` and `write` (the halves), and `rewrite` for edits
- `draft`: from a `Draft` to a `Memory`
- `kind`: which kind a person's statement is if they do not say
- `forbidden`: the commands that a rule forbids, which become its triggers
- `limits`, `enrich`: what is refused, and what is added
- `precedence`: who wins a contradiction, and `supersede`, which records it
- `reinforce`: what a memory becomes when it is said again
- `messages`: stores messages of imported sessions, redacted and bounded; they are not compared

It is called by `Memories` for everything that people, agents and sessions write, by `maintenance` (`wrong`, `review`)
and by `transfer.mirror`. An import does not pass through here, because it restores and does not learn: `transfer` has
its own checks, with the same limits and redaction.

The package promises that no secret reaches the store, that a refused draft changes nothing, that two processes that
store the same sentence leave one memory, and that a change to other memories is recorded and can be undone.

To change who wins, edit `precedence`. What counts as a contradiction is decided in `memory.judgement`.
"""
