"""Which files, symbols and lines a text is about.

`search.relevant` answers in these steps:

1. `question` weighs the terms of the text; the first line counts more.
2. `mentions` finds what the text names outright: files, modules, symbols, and the frames of a traceback.
3. `ranking` scores all files by words (`index`), names, mentions, links to other good files, and `past_work`: similar
   commits and past tasks vote for the files that they changed.
4. The best files are read, copies of other projects and generated ones put last, and the others split into `passages`,
   which are scored again and add to the score of their files.
5. The best passages become snippets within the budget, and the files are put into the order to read them.

Modules:

- `search`: `relevant` and the values it returns; every file hit has its parts, which add up to its score
- `ranking`: the score of each file; indexes are built for the first question about a graph
- `question`, `mentions`, `passages`, `past_work`: the steps above
- `evidence`: the probability that a text is about the best files, and which of them to show an agent
- `index`: BM25 over weighted fields, in numpy
- `symbol_index`: the symbols of a name, without unpacking the outlines of other files
- `weights`: all weights, floors and limits, each with its scale; docs/relevant.md says how they were fitted

`Codebase.relevant` calls it, for `recollect graph relevant`, `Engine.relevant` and context windows.
`ProjectCode.relevant` adds the past tasks of the project on every one of these ways.

The result depends on the files, the git history and the past tasks alone. No model is used. Run `python -m
bench.localisation` before and after a change of weights.
"""
