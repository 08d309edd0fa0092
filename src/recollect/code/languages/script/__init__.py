"""JavaScript and TypeScript, which import each other freely.

`parse` turns a syntax tree into `FileFacts`: `nodes` reads single nodes, `definitions`, `bindings` and `references` collect
what a file defines, assigns, imports and uses. `resolver` turns the facts of all files into edges, and `modules` finds
the file that an import means.
"""

from recollect.code.languages.language import Language

_CONFIG_FILES = ("tsconfig.json", "jsconfig.json", "package.json")

LANGUAGES = (
    Language(
        name="javascript",
        endings=(".js", ".jsx", ".mjs", ".cjs"),
        file_names=("Jakefile",),
        interpreters=("node", "bun"),
        folder="script",
        queries=("javascript", "fields", "elements"),
        reader="script",
        constructor="constructor",
        has_single_quoted_strings=True,
        config_files=_CONFIG_FILES,
    ),
    Language(
        name="typescript",
        endings=(".ts", ".mts", ".cts"),
        interpreters=("deno", "ts-node", "tsx"),
        folder="script",
        queries=("javascript", "typescript"),
        grammar_function="language_typescript",
        reader="script",
        constructor="constructor",
        has_single_quoted_strings=True,
        config_files=_CONFIG_FILES,
    ),
    Language(
        name="tsx",
        endings=(".tsx",),
        folder="script",
        queries=("javascript", "elements", "typescript"),
        grammar="tree_sitter_typescript",
        grammar_function="language_tsx",
        reader="script",
        constructor="constructor",
        has_single_quoted_strings=True,
        config_files=_CONFIG_FILES,
    ),
)
