"""The write path: every memory that is stored or edited goes through `MemoryWriter`, whichever interface it comes from.

A draft passes through these modules in order (docs/writing.md numbers the steps):

1. `limits` refuses what cannot be stored: empty, too long, binary, or from an ignored file.
2. `draft` removes secrets and fills in the defaults; `enrich` adds a summary, tags and the parts of a procedure.
3. `writer` embeds the memory, finds similar ones and compares them. `contradict` compares two statements that `statement`
   has parsed, with the words of `word_tables` (`data/words.toml`).
4. A memory that says the same is reinforced: `reinforce`.
5. `precedence` decides which of two contradicting memories wins.
6. `writer` stores the memory, its vector and its links in one transaction.

`messages` stores messages of imported sessions; they are redacted and bounded, but not compared.

The package promises that no secret reaches the store, that a refused draft changes nothing, and that a change to other
memories is recorded and can be undone.
"""
