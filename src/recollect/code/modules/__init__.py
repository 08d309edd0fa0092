"""The module map: which parts a codebase has, where they are, and how they are built, tested and linted.

A scan takes this path:

1. `scan_input` collects the files with their sizes, their texts on demand, and the data of the code graph.
2. `tools` finds packages and the commands of each: `commands` reads what CI runs and the tasks of a Makefile,
   `command_runs` what agents ran, `ecosystems` what manifests say (`ecosystems.table` has all of them).
3. `grouping` decides which files belong together; no group crosses a package.
4. `scan` makes modules of the groups: names, descriptions (`descriptions`), keywords, core files, tests and
   dependencies.
5. `merge.merge_scan` puts the result into the stored map, and keeps corrections, names and use.

- `module_map`: the map as a value, and as a JSON document
- `merge`: how scans, use by sessions, names of a model and corrections change a map
- `stems`: stems of names and sentences, for scans and tasks
- `task`: the modules that a task is about, and the cards of a briefing
- `for_agents`: the map without what a repository or an agent could pass off as an instruction
- `project_map`: `ProjectMap`, the part that everybody else uses: it stores, scans and corrects the map of one project
- `ecosystems`: one reader per build tool: `python`, `node`, `compiled` (Rust, Go, JVM, .NET, C), `scripted` (Ruby, PHP)

It is called by `engine.maps` for `recollect map`, `recollect init` and MCP; by `ProjectCode.follow` when files change,
at most once a day; by sessions, which raise the confidence of the modules they worked on (`mark_used`); and by
`memory.seeds` for commands.

What it promises: a scan is deterministic, uses no model and no network. A correction by a person survives every later
scan, also if files move, and an agent cannot overrule it. A briefing never waits for a scan. Texts are redacted before
they are stored.

To support another build tool, add a reader and a row to `ecosystems.table`; names of tasks and CI commands are in
`data`. docs/map.md says what is in a map and where each field comes from.
"""
