"""JSON, YAML and TOML: an outline of the keys, two levels deep, without their values and without edges.

The query of each language captures keys and their names, and `parse` makes definitions of them. Values are never read:
they may be secrets.
"""

from recollect.code.languages.language import Language

LANGUAGES = (
    Language(
        name="json",
        endings=(".json", ".jsonc", ".json5"),
        file_names=(".babelrc", ".eslintrc", ".prettierrc"),
        is_data=True,
        folder="config",
        reader="config",
    ),
    Language(
        name="yaml",
        endings=(".yaml", ".yml"),
        file_names=(".clang-format",),
        is_data=True,
        folder="config",
        reader="config",
    ),
    Language(
        name="toml",
        endings=(".toml",),
        file_names=("Pipfile",),
        is_data=True,
        folder="config",
        reader="config",
    ),
)
