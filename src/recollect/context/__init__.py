"""The bottom layer: the `Context` that every part is given, and the protocols of the services in it.

- `context`: `Context`, one actor in one project: settings, store, embedder, clock, actor, project and folder
- `store`: the `Store` protocol in three parts, `MemoryStore`, `WorkStore` and `StoreMaintenance`
- `team`: what a team server needs of a database: stores of callers, and the directory of people and tokens
- `embedder`: the `Embedder` protocol
- `pair_reader`: the `PairReader` protocol, of what reads two statements at once
- `confirmed_time`: the time that may be relied on to delete by age: a clock that jumps is believed when it is seen twice
- `git`: reads a repository without running anything that it names; the only module that runs git
- `project`: finds the project that a folder belongs to, by git's files and the store's keys

`Engine.open` makes a `Context` and hands it to the parts. A part is a plain class that takes the context and the parts
below it; it gets everything from there and nothing from global state:

    class Retrieval:
        def __init__(self, context: Context, memory: Memories, preferences: Preferences) -> None: ...

The protocols are here and not beside their implementations, so that every layer can name them without importing a
backend. The package imports only `policy`, `model`, `config`, `kinds` and `errors`.

What a `Context` decides, for everybody:

- `view` and `full_view`: which memories a call may see. An agent never sees other projects; a memory of another branch
  is seen once that branch is merged.
- `check` and `check_memory`: what the actor may do, by the table in `policy`.
- `is_on`: whether memory or learning is switched on here. `refuse_if_off` is the one place that refuses.
- `confirmed_now`: the time to compare with when something is deleted or archived by age.
- `register_project`: projects are stored when something is first written about them.

A `Context` is frozen and can be used from any thread. To act for somebody else or in another project, make a new one:
`dataclasses.replace(context, actor=…)`, `context.for_project(project)`.
"""
