"""The languages we read: whose files they are, which grammar parses them, and which module reads the tree."""

import re
from pathlib import PurePosixPath
from typing import NamedTuple


class Language(NamedTuple):
    name: str
    extractor: str  # the module of this package that has `facts(tree, source, language)`
    grammar: str  # a module
    grammar_function: str = "language"
    endings: tuple[str, ...] = ()  # of file names, in small letters
    names: tuple[str, ...] = ()  # whole file names
    interpreters: tuple[str, ...] = ()  # in a first line that begins with `#!`


_ROWS = (
    Language(
        "python",
        "python",
        "tree_sitter_python",
        endings=(".py", ".pyi", ".pyw"),
        names=("SConstruct", "SConscript", "wscript"),
        interpreters=("python", "pypy"),
    ),
    Language(
        "javascript",
        "script.reading",
        "tree_sitter_javascript",
        endings=(".js", ".jsx", ".mjs", ".cjs"),
        names=("Jakefile",),
        interpreters=("node", "bun"),
    ),
    Language(
        "typescript",
        "script.reading",
        "tree_sitter_typescript",
        "language_typescript",
        endings=(".ts", ".mts", ".cts"),
        interpreters=("deno", "ts-node", "tsx"),
    ),
    Language("tsx", "script.reading", "tree_sitter_typescript", "language_tsx", endings=(".tsx",)),
    Language("go", "plain", "tree_sitter_go", endings=(".go",)),
    Language("rust", "plain", "tree_sitter_rust", endings=(".rs",)),
    Language("java", "plain", "tree_sitter_java", endings=(".java",)),
    Language("c", "plain", "tree_sitter_c", endings=(".c",)),
    Language(
        "cpp",
        "plain",
        "tree_sitter_cpp",
        # A `.h` may be of either, and this grammar reads both.
        endings=(".h", ".cc", ".cpp", ".cxx", ".c++", ".hh", ".hpp", ".hxx", ".h++", ".inl", ".ipp"),
    ),
    Language(
        "ruby",
        "plain",
        "tree_sitter_ruby",
        endings=(".rb", ".rake", ".gemspec", ".ru"),
        names=("Rakefile", "Gemfile", "Guardfile", "Capfile", "Vagrantfile", "Podfile", "Fastfile"),
        interpreters=("ruby", "jruby"),
    ),
    Language("csharp", "plain", "tree_sitter_c_sharp", endings=(".cs", ".csx")),
    Language(
        "php",
        "plain",
        "tree_sitter_php",
        "language_php",
        endings=(".php", ".phtml", ".inc"),
        interpreters=("php",),
    ),
    Language("kotlin", "plain", "tree_sitter_kotlin", endings=(".kt", ".kts")),
    Language(
        "bash",
        "plain",
        "tree_sitter_bash",
        endings=(".sh", ".bash", ".ksh", ".zsh", ".bats"),
        names=(".bashrc", ".bash_profile", ".profile", ".zshrc", "PKGBUILD"),
        interpreters=("sh", "bash", "dash", "ksh", "zsh", "bats"),
    ),
    Language(
        "json",
        "outline",
        "tree_sitter_json",
        endings=(".json", ".jsonc", ".json5"),
        names=(".babelrc", ".eslintrc", ".prettierrc"),
    ),
    Language("yaml", "outline", "tree_sitter_yaml", endings=(".yaml", ".yml"), names=(".clang-format",)),
    Language("toml", "outline", "tree_sitter_toml", endings=(".toml",), names=("Pipfile",)),
)

LANGUAGES = {row.name: row for row in _ROWS}

_BY_NAME = {name: row.name for row in _ROWS for name in row.names}
_BY_ENDING = {ending: row.name for row in _ROWS for ending in row.endings}
_BY_INTERPRETER = {name: row.name for row in _ROWS for name in row.interpreters}

_SHEBANG = re.compile(rb"#!\s*(\S*/)?(?:env\s+(?:-\S+\s+|\w+=\S*\s+)*(?:\S*/)?)?([A-Za-z][A-Za-z-]*)")


def language_of(path: str, head: bytes = b"") -> str | None:
    """By the file's name, else its ending, else what its first line says runs it. None: none of ours."""
    file = PurePosixPath(path)
    named = _BY_NAME.get(file.name) or _BY_ENDING.get(file.suffix.lower())
    if named or file.suffix:
        return named
    shebang = _SHEBANG.match(head)
    return _BY_INTERPRETER.get(shebang[2].decode()) if shebang else None
