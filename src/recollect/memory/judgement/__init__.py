"""Judgement: how two statements relate to each other, and why. It reads and writes nothing.

- `word_tables`: what is known about words, from `data/words.toml`
- `statement`: parses a text into words, values, clauses, scopes and what it says is over
- `tools`: tools and their roles, which are rivals of each other
- `pair`: two statements side by side: what they share, what is opposed, which values differ, what is left
- `meaning`: which words of one mean words of the other, or add nothing
- `frame`: what is left of each by the part it plays, and whether both are about the same matter
- `agreement`, `disagreement`: the rules; `certainty`: what a contradiction must meet to act by itself
- `compare`: tries the rules in order; `compare(new, old, cosine)` returns a `Comparison` (`comparison`): the relation, the reason, and
  whether it is certain
- `candidates`: what a statement names, by which others about the same are found
- `roles`: the tools of each role, extended by a file of the user
- `reading`: what a model that reads two statements at once adds where the rules find nothing
- `second_opinion`: asks a model where the rules are unsure

`memory.write` asks it about a new memory and those like it, `memory.maintenance.consolidate` about stored ones,
`memory.seeds` about what it found in the project. Who wins a contradiction is not decided here but in
`write.precedence`.

A certain contradiction supersedes a memory and a certain duplicate merges one, so a rule may only be certain of what
nobody would question; an unsure verdict costs a question. To change what counts as a contradiction, edit `disagreement` or
`data/words.toml`, and run `tests/memory/judgement` and `python -m bench.pairs`.
"""
