"""A project's code: its graph, its modules, and the files that a task is about. Knows nothing of memories.

The data takes this path:

1. `files` lists the files of a project, by the rules of `ignore`; `decoding` reads them as UTF-8.
2. `languages` parses each file into `facts` (definitions, imports, references, bindings), which depend on no other file.
3. `graph` stores the facts in a database (`packing` makes them small), resolves them into edges between the files and
   symbols of `nodes`, and keeps both up to date as files change.
4. `relevant` ranks files, symbols and passages for a text: by the hashed words of `terms`, the roles of `paths`, the edges
   of the graph, and `git_history`.
5. `modules` groups the files into the parts that a maintainer would name, and finds the commands to build and test them.

`codebase.Codebase` is the part that everybody else uses. Three promises hold: nothing here calls a language model (but
`modules.project_map` can be given one to name modules), no text of a project is stored except names, signatures and first
lines of documentation without secrets, and everything that is stored can be rebuilt from the files.
"""
