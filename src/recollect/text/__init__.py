"""Texts and words: what every layer above needs to read, compare and clean them. Nothing here knows about memories.

- `redact`: removes secrets and personal data, and says which kinds it found
- `cuts`: the beginning or the end of a text, without a secret that the cut would split
- `redaction_rules`: the rules of `data/redaction.toml`, and the checks that they name
- `secret_values`: what a value looks like: a placeholder, a name, a digest, or random
- `words`: stop words, distinctive words, parts of identifiers, the terms of a query
- `stem`: the stemmer of search, and the one for comparing statements
- `sentences`: the sentences of a message without pasted text, questions and guesses
- `shapes`: whether a text looks like a path, a name, a command or an instruction
- `lookalikes`: our mark in any spelling that looks like it
- `tokens`: token counts, and texts cut to a number of tokens
- `jsonc`: edit JSON with comments as text
- `block`: our part of a Markdown file that belongs to the user

All are pure functions of their arguments. Word lists and rules are files in `data`. Importing a module loads no
library: the tokenizer and the secret scanner are loaded on first use.

**Where secrets are removed.** `redact` is called wherever a text enters the store, a file or the network, mainly in:

    memory.write.draft, .messages        new memories and imported messages
    memory.transfer.fields, .record      imported files
    work.sessions.events                 events of sessions; work.extract: findings
    work.episodes.record                 commands and paths of tool calls
    work.window.pruned_texts, .outputs   texts that left a context window, and what is shown of them
    interfaces.daemon_client.spool       events that wait on disk
    code.graph.scrub                     names and documentation in the code graph
    llm.questions                        prompts for a language model

Two rules hold everywhere: a text is redacted before it is cut, or cut with `cuts`, because half a secret is not
recognised, and redacting twice changes nothing more. To recognise another kind of secret, add a rule to `data/redaction.toml`.

`jsonc` and `block` leave every byte outside their own value or block unchanged; `interfaces.install` relies on it.
"""
