"""JSON, YAML and TOML: an outline of the keys, two levels deep, without their values and without edges."""

from recollect.code.languages.language import Language

LANGUAGES = (
    Language(
        name="json",
        endings=(".json", ".jsonc", ".json5"),
        file_names=(".babelrc", ".eslintrc", ".prettierrc"),
        is_data=True,
        folder="config",
        queries=("json",),
        grammar="tree_sitter_json",
        parser="config",
    ),
    Language(
        name="yaml",
        endings=(".yaml", ".yml"),
        file_names=(".clang-format",),
        is_data=True,
        folder="config",
        queries=("yaml",),
        grammar="tree_sitter_yaml",
        parser="config",
    ),
    Language(
        name="toml",
        endings=(".toml",),
        file_names=("Pipfile",),
        is_data=True,
        folder="config",
        queries=("toml",),
        grammar="tree_sitter_toml",
        parser="config",
    ),
)
