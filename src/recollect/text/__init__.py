"""Texts and words: what every layer above needs to read, compare and clean them. Nothing here knows about memories.

- `redact`: removes secrets and personal data. Everything that is stored or sent passes through it. `redaction_rules`
  reads its rules from `data/redaction.toml`, and `secret_values` decides what a value looks like
- `words`: stop words, distinctive words, parts of identifiers, the terms of a query
- `stem`: the stemmer of search, and the one for comparing statements
- `sentences`: the sentences of a message without pasted text, questions and guesses
- `tokens`: token counts, and texts cut to a number of tokens
- `jsonc`, `block`: edit JSON with comments, or our part of a Markdown file, and leave the rest of the file unchanged

Word lists and rules are files in `data`. Importing a module loads no library: the tokenizer and the secret scanner are
loaded on first use.
"""
