"""Memories: written, searched, put into briefings, maintained and transferred.

A memory's life, and who handles it:

    Engine.remember → memories.Memories → write.MemoryWriter → store
    Engine.search   → retrieval.Retrieval → search.Searcher → index → store
    Engine.recall   → work.delivery.Composer → briefing (content, budget, render)
    after a search  → retrieval.process_searches → maintenance.feedback
    when idle       → work.schedule.Schedule → maintenance (compact, purge, clusters), anchors

The parts that the engine holds are modules of this package; the sub-packages do their work:

- `memories`: `engine.memory`. One memory at a time; who may change what
- `retrieval`: `engine.retrieval`. Search over memories, messages and sessions, and what a search leaves to be done
- `maintainer`: `engine.care`. Many memories at once: consolidation, review, undo, backups, encryption
- `preferences`: `engine.preferences`. What a user sets for a project and keeps in the store
- `sidecar`: the local sidecars, and the choice of one from the settings
- `ranking`: every weight, floor and threshold of search in one table
- `decay`: how memories fade, as pure functions

- `write`: from a draft to a stored memory: limits, redaction, duplicates, contradictions
- `index`: words and vectors of all memories, in this process's memory
- `search`: from a query to ranked hits with their reasons
- `briefing`: what an agent reads at the start of a task, within a budget
- `maintenance`: forget, restore, review, undo, feedback, and what runs automatically
- `anchors`: which code a memory is about, and whether that code has changed
- `seeds`: statements that a project's files contain before anyone has worked in it
- `transfer`: exports, imports, bundles and mirrors

Within the package imports point down too, in this order: `maintainer`, `retrieval`, `memories`, `transfer` and `seeds`,
`maintenance`, `briefing`, `search`, `write`, `index` and `anchors`, `ranking` and `decay`. import-linter checks it. The
package calls `code`, `store`, `llm` and `text`, and knows nothing about sessions, hosts or interfaces.

What it promises:

- No secret reaches the store: all texts pass `write.draft.clean_text`, or `transfer.fields` for imports.
- Nothing crosses a project: memories are read through a `View` and compared within one scope, and an agent changes only
  memories of its own project.
- What a user said outlasts what an agent says: `write.precedence` decides it, and nobody else.
- Nothing is lost at once: what is forgotten can be restored for 30 days, and a change of other memories can be undone.
"""
