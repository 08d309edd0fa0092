"""Python: parsed and resolved with its scopes, annotations, bases and the types of assigned values.

`parse` turns a syntax tree into `FileFacts`, with what `narrowing` finds where `isinstance` has said what a name is.
`resolver` turns the facts of all files into edges: it looks names up in
`scopes` (of one file), `modules` (which file an import means) and `values` (what a name, a call or an attribute gives),
reads types with `annotations`, and guesses what is left with `project_names` (all names of the project).
"""

from recollect.code.languages.language import Language

LANGUAGES = (
    Language(
        name="python",
        endings=(".py", ".pyi"),
        minor_endings=(".pyw",),
        file_names=("SConstruct", "SConscript", "wscript"),
        interpreters=("python", "pypy"),
        reader="python",
        constructor="__init__",
    ),
)
