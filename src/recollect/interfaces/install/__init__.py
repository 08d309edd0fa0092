"""Connect hosts to Recollect and disconnect them: edit their configuration files, and restore them exactly.

`recollect install HOST` takes this path:

1. `edits.edits_for` says what belongs into each file of the host, from the host's row in `recollect.work.hosts`.
2. `plan.plan_install` reads the files and returns a `Plan` with every change, which the command shows as a diff.
3. `plan.carry_out` backs up the files, makes all changes or none (`change.apply`), and records them in the `ledger`.

`recollect uninstall` does the same with `plan_uninstall`. If nobody changed a file since, it becomes byte for byte what
it was before; else exactly our entries are removed.

- `machine`: the user's home, environment, and the program that hosts run
- `entries`: the entries of hooks and MCP servers, and how ours are recognised
- `edits`: one edit per file: JSON, TOML, a block of Markdown, or a file of our own
- `toml`: our table in Codex's `config.toml`
- `templates`: slash commands, the skill, rules and plugins, from `files/`
- `bundles`: makes the Claude Code plugin and the Gemini extension in `files/`
- `plan`, `change`: planning, and writing several files atomically
- `ledger`: what is installed where, and the files as they were before
- `installations`: the installations that the ledger lists
- `connection`: the checks and repairs of `recollect doctor`, from a host's configuration to the daemon
- `rules`: the briefing in a rules file, for hosts whose hooks cannot add to a prompt; the daemon renews it

It is called by the commands `install` and `uninstall`, and by the daemon for `rules`. It calls `recollect.work.hosts` for what differs between hosts, and `recollect.text` to edit files in
place.

What it promises: a file that cannot be changed safely is refused and left alone, a link out of the project is not
followed, a file that somebody changes meanwhile is not overwritten, and comments and formatting stay as they are.

To change what a host gets, edit its row in `recollect.work.hosts`; to change the texts, edit `files/`. A page of docs/hosts lists
what each host gets.
"""
