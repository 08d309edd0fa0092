"""Connect hosts to Recollect and disconnect them: edit their configuration files, and restore them exactly.

`plan` asks `edits` what belongs into each file of a host, and shows the user every change before `change` makes all of
them or none. The `ledger` records what was written and what the files were before, so that uninstalling restores a file
byte for byte if nobody changed it, and removes exactly our entries if somebody did.

- `machine`: the user's home, environment and program
- `entries`: the entries of hooks and servers, and how ours are recognised
- `edits`: one edit per file (JSON, TOML, a block of Markdown, a file of our own); `toml` edits Codex's configuration
- `templates`, `bundles`: slash commands, the skill, rules and plugins, from `files/`
- `plan`, `change`, `ledger`, `installations`: planning, writing and recording
- `rules`: the briefing in a rules file

What differs between hosts is in `recollect.work.hosts`.
"""
