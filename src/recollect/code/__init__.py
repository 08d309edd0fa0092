"""A project's code: its graph, its modules, and the files that a task is about. Knows nothing about memories.

The data takes this path:

1. `files` lists the files of a project, by the rules of `ignore`; `decoding` reads them as UTF-8. In a daemon, `watch` tells
   when they have changed.
2. `languages` parses each file into `facts` (definitions, imports, references, bindings), which depend on no other
   file.
3. `graph` stores the facts in a database (`packing` makes them small), resolves them into edges between the files and
   symbols of `nodes`, and keeps both up to date as files change.
4. `relevant` ranks files, symbols and passages for a text: by the hashed words of `terms` and `names`, the roles of `paths`, the
   edges of the graph, and `git_history`; `foreign` recognises files that nobody here wrote.
5. `modules` groups the files into the parts that a maintainer would name, and finds the commands to build and test
   them.

`codebase.Codebase` is the part that everybody else uses: `graph`, `refresh`, `relevant`, `read_history`. It is made
from a folder, a database path and a key, and needs no store. `work.project_code.ProjectCode` (`engine.code`) adds what
does: past tasks, which raise the files that similar tasks changed, and the module map.

`uncollected` pauses the garbage collector while a graph or the indexes of a question are made; `source_hash` tells whether what is
stored was made by other code.

Who asks:

    recollect graph, map      engine.code
    MCP module_map            engine.maps
    MCP code_graph            engine.code.graph
    work.delivery             ProjectMap.cards, for the modules of a task
    the daemon                engine.code.follow, which refreshes graph, history and map
    memory.anchors            languages and decoding, for the code that a memory names

What it promises:

- Nothing here calls a language model, but `modules.project_map` can be given one to name modules.
- No text of a project is stored except names, signatures and first lines of documentation, without secrets.
- Everything that is stored can be rebuilt from the files. A damaged database is deleted and built again.
- Files that git ignores, vendored, built and generated files are not read, and symbolic links are not followed.
- No input can stop a refresh: a file that crashes its parser is left out and remembered.

Within the package imports point down too, and import-linter checks it: `codebase`, `modules` and `relevant`, `graph`,
`git_history`, `paths` and `packing`, `languages`, `nodes`, `facts`.
"""
