"""The code graph: files, symbols, and the edges between them, kept up to date as files change.

- `build` updates the graph: it finds the files that changed, parses them, and resolves the edges that are affected.
- `parsing` parses files and `resolving` resolves edges, both in `workers` processes if there are many.
- `scrub` removes secrets from the facts of a file before anything is stored.
- `invalidation` finds the files whose edges a change may affect.
- `database` stores parsed files by blob, and the files with their edges.
- `file_node` is one file of the graph, and `graph` answers questions about all of them; `impact` finds what may break.
- `schedule` says when a program that runs all day should refresh.

The result of a refresh does not depend on the path to it: after any sequence of changes, the edges are the same as those of
a graph that is built from nothing. Several processes may refresh the same graph at the same time.
"""
