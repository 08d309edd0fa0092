"""Whether a text that a stranger wrote looks like what it is given as: a path, a name, a command, a description.

Repositories and agents name files, modules and commands, and what they name is shown to agents. A name that reads like
a sentence could pass for an instruction there.
"""

import re

LONGEST_PATH = 200  # characters
LONGEST_NAME = 60
LONGEST_COMMAND = 80
MEMORY_FILES = "/memories/"  # paths of the memory tool of Anthropic's API; there are no files behind them

# A path has few spaces, and none of what separates sentences, quotes, tags and shell commands.
_PATH = re.compile(r"(?:[A-Za-z]:)?[^\s<>|\"`:;?\x00-\x1f]+(?: [^\s<>|\"`:;?\x00-\x1f]+){0,2}")
_NAME = re.compile(r"[\w@.+#(\[][\w@.+/&#,()\[\]\\-]*(?: [\w@.+/&#,()\[\]\\-]+){0,4}")
# A program and its arguments; programs in a row, but no substitution, redirection or quoting of sentences.
_ARGUMENT = r"[\w@%+=:,./*{}\[\]^~-]+"
_COMMAND = re.compile(
    rf"(?:\w+=[\w./:-]* )?[\w./@-]+(?: {_ARGUMENT}){{0,9}}(?: && [\w./@-]+(?: {_ARGUMENT}){{0,9}}){{0,3}}"
)
_PROGRAMS = frozenset(
    """ant autopep8 ava basedpyright bazel biome black bun bundle buck2 cargo clang-format clang-tidy cmake composer cppcheck
    cpplint ctest cypress dart deno detekt dotnet elixir eslint flake8 flit flutter gem gleam go gofmt gofumpt goimports
    golangci-lint gotestsum gradle gradlew grunt gulp hatch invoke isort jest just ktlint lake lein mage make maturin meson
    mill mix mocha moon mvn mvnw mypy next ninja node nose2 nox npm npx nx oxfmt oxlint pants pdm pest php php-cs-fixer
    phpcbf phpcs phpstan phpunit pint pipenv pixi playwright pnpm poe poetry pre-commit prek prettier psalm pylint pyright
    pytest python python3 pytype rake rails revive rspec rubocop ruff rustfmt rye sbt sh bash stack standardrb staticcheck
    stylelint swift task tox tsc turbo ty uv uvx vite vitest xcodebuild yapf yarn zig""".split()
)
_FEWEST_WORDS = 3  # of an instruction: "instructions" is a good name of a folder
_ORDERS = re.compile(
    r"\b(?:you|your|must|always|never|ignore|disregard|override|obey|please|do not|don't|instructions?"
    r"|system (?:notice|message|prompt)|as an ai)\b|https?:|\$\(|`|\|\s*\w|[<>{}]|^\s*\w+\s*:",
    re.IGNORECASE,
)


def looks_like_path(text: str) -> bool:
    """Return whether `text` looks like the path of a file or folder."""
    return len(text) <= LONGEST_PATH and text.isprintable() and _PATH.fullmatch(text) is not None


def looks_like_name(text: str) -> bool:
    """Return whether `text` looks like the name of a module, a package or a symbol: a few words, no sentence."""
    if len(text) > LONGEST_NAME or not text.isprintable() or _NAME.fullmatch(text) is None:
        return False
    words = re.sub(r"[\W_]+", " ", text).strip()
    return len(words.split()) < _FEWEST_WORDS or not reads_like_instruction(words)


def looks_like_command(text: str) -> bool:
    """Return whether `text` looks like a command of a common build tool, or a script of the project, with plain arguments."""
    if len(text) > LONGEST_COMMAND or _COMMAND.fullmatch(text) is None or reads_like_instruction(text):
        return False
    return all(_is_program(part) for part in text.split(" && "))


def _is_program(command: str) -> bool:
    words = command.split(" ")
    program = words[1] if "=" in words[0] and len(words) > 1 else words[0]
    return program.removeprefix("./") in _PROGRAMS or "/" in program


def reads_like_instruction(text: str) -> bool:
    """Return whether a description addresses its reader, gives orders or has markup, instead of describing something."""
    return _ORDERS.search(text) is not None
