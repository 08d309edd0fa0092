"""The code graph: files, symbols, and the edges between them, kept up to date as files change.

`Builder.refresh` takes this path:

1. List the files, and compare size, time and content with the records in the database.
2. `parsing` parses the files that are new or changed, in `workers` processes if there are many. Files with a content
   that was parsed before are not parsed again: facts are stored by the hash of the content.
3. `scrub` removes secrets and the texts of literals from the facts.
4. `invalidation` finds the files whose edges the change may affect: those that can see a name that is new, gone or
   different.
5. `database` stores records and facts in one transaction, and a new `CodeGraph` replaces the old one. The affected edges
   are gone.

`CodeGraph` asks `Builder.resolve` for the edges that it needs: of one file for what that file needs, and of all files for
what leads to one. `resolving` finds them with the resolver of the language family, and they are stored. The daemon asks for
all edges after each refresh.

Modules:

- `build`: `Builder`, which updates the graph, and `Refreshed`, what a refresh did
- `parsing`, `resolving`: files to facts, and facts to edges; `workers`: the processes for both
- `scrub`: no secret is stored
- `invalidation`: the smallest set of files to resolve again, found by the words that the files have
- `database`: one SQLite file per project below RECOLLECT_HOME, encrypted with the store's key
- `file_node`: one file of the graph, packed until somebody asks for its outline or edges
- `graph`: `CodeGraph`, which finds symbols, callers, callees and dependencies; `impact`: what may break if something
  changes; `call_sites`: every line at which a function calls another
- `schedule`: when a program that runs all day should refresh even if no change was noticed

`Codebase` calls it; `relevant`, `modules`, `recollect graph` and the MCP tool `code_graph` read a `CodeGraph`. It calls
`languages` to parse and resolve, and `store.sqlite.connection` for its file.

What it promises:

- The result does not depend on the path to it: after any sequence of changes, the edges are the same as those of a
  graph that is built from nothing.
- What a `CodeGraph` says never changes, and any thread may use it. Several processes may refresh the same graph at the same
  time.
- A refresh can be stopped at any time. What was parsed is kept, and the graph stays as it was.

To change how a language is resolved, see `recollect.code.languages`; how far an edge is believed is in
`recollect.code.nodes`.
"""
