"""Languages that are parsed by a query and resolved without following all of their types.

`parse` turns the captures of a query into `FileFacts`, `resolver` turns the facts of all files into edges, and `packages`
has what several languages use to find the package or file that an import means. What tells the languages apart is in
their rows (`Language`).
"""
