"""Seeds from the settings of linters and formatters: line lengths, quotes, indentation, rule sets."""

import configparser
import re
from collections.abc import Callable, Collection, Iterator, Mapping
from dataclasses import replace
from pathlib import Path
from textwrap import dedent
from typing import Any

from recollect.code.languages.table import CODE_ENDINGS
from recollect.code.modules.ecosystems.package_info import table_at
from recollect.memory.seeds.seed import ProjectFile, Seed, listed, read_first

_SURE = 0.9
_MOST_RULES = 16
_NOT_OFF = r"(?![^\n]*+(?:\n[ \t][^\n]*+)*?\n  Enabled: false)"  # after a setting of RuboCop: its rule is on
_LANGUAGES = {  # that a tool checks
    "ruff": "Python",
    "black": "Python",
    "flake8": "Python",
    "rustfmt": "Rust",
    "Checkstyle": "Java",
    "RuboCop": "Ruby",
    "clang-format": "C and C++",
}


def style_seeds(root: Path, linters: Collection[str] | None = None) -> Iterator[Seed]:
    """Yield what the settings say of tools that the project uses: `linters`, or any of them if it is None."""
    for reader in _READERS:
        for seed in reader(root):
            tool = next((name for name in _CHECKED if name in seed.content.lower()), None)
            if tool is None or linters is None or tool in linters:
                yield seed


_CHECKED = ("black", "isort", "flake8", "mypy", "pyright", "ruff")  # tools whose sections are often left over


def _line_length(at: str, length: Any, tool: str) -> Iterator[Seed]:
    if str(length).isdigit() and 40 <= int(length) <= 400:
        of = f" of {language}" if (language := _LANGUAGES.get(tool)) else ""
        # A formatter may leave longer lines, so nothing is said of every line.
        yield Seed(f"The line length{of} is set to {length} ({tool}).", "convention", at, _SURE)


def _quotes(at: str, style: Any, tool: str) -> Iterator[Seed]:
    if style in ("single", "double"):
        content = f"Strings in {_LANGUAGES[tool]} are written in {style} quotes ({tool})."
        yield Seed(content, "convention", at, _SURE)


def _rules(at: str, names: Any, tool: str, verb: str = "checks the rule sets") -> Iterator[Seed]:
    settings_text = [str(name) for name in names if name] if isinstance(names, list | tuple) else []
    if settings_text and len(settings_text) <= _MOST_RULES:
        yield Seed(f"{tool} {verb} {listed(settings_text)}.", "convention", at, 0.7)


def _ruff(root: Path) -> Iterator[Seed]:
    found = read_first(root, "ruff.toml", ".ruff.toml")
    settings = found.toml() if found else {}
    if found is None and (found := read_first(root, "pyproject.toml")):
        settings = table_at(found.toml(), "tool", "ruff")
    if found is None or not settings:
        return
    yield from _line_length(found.where(r"^\s*line-length"), settings.get("line-length"), "ruff")
    yield from _quotes(found.where(r"quote-style"), table_at(settings, "format").get("quote-style"), "ruff")
    if settings.get("indent-width"):
        width = settings["indent-width"]
        yield Seed(f"Python is indented by {width} (ruff).", "convention", found.where("indent-width"), _SURE)
    lint = {**settings, **table_at(settings, "lint")}
    selected = [*(lint.get("select") or ()), *(lint.get("extend-select") or ())]
    yield from _rules(found.where(r"\bselect\s*="), selected, "Ruff")
    checks_docs = any(str(rule) == "ALL" or str(rule).startswith("D") for rule in selected)
    if checks_docs and (docs := table_at(lint, "pydocstyle").get("convention")):
        at = found.where("^convention")
        yield Seed(f"Docstrings follow the {docs} convention (ruff).", "convention", at, _SURE)


def _python(root: Path) -> Iterator[Seed]:
    """Yield what black, isort, mypy and flake8 are set to, in whichever file."""
    if found := read_first(root, "pyproject.toml"):
        tools = table_at(found.toml(), "tool")
        if "black" in tools:
            at = found.where(r"^\[tool\.black")
            yield Seed("Python code is formatted with black.", "convention", at, 0.8)
            yield from _line_length(at, table_at(tools, "black").get("line-length"), "black")
            if table_at(tools, "black").get("skip-string-normalization"):
                yield Seed("Black leaves the quotes of strings as they are.", "convention", at, 0.6)
        if profile := table_at(tools, "isort").get("profile"):
            at = found.where(r"^\[tool\.isort")
            yield Seed(f"Imports are sorted with isort, profile {profile}.", "convention", at, 0.7)
        if table_at(tools, "mypy").get("strict") is True:
            yield Seed(
                "mypy checks the types, in strict mode.",
                "convention",
                found.where(r"^\[tool\.mypy"),
                _SURE,
            )
        if "pyright" in tools or "basedpyright" in tools:
            at = found.where(r"^\[tool\.\w*pyright")
            mode = table_at(tools, "pyright").get("typeCheckingMode")
            yield Seed(
                f"pyright checks the types{f', in {mode} mode' if mode else ''}.", "convention", at, 0.8
            )
    for name, section in ((".flake8", "flake8"), ("setup.cfg", "flake8"), ("tox.ini", "flake8")):
        if (found := read_first(root, name)) and (flake8 := _ini(found, section)):
            length = flake8.get("max-line-length") or flake8.get("max_line_length")
            if "E501" not in f"{flake8.get('ignore', '')}{flake8.get('extend-ignore', '')}":
                yield from _line_length(found.where("max.line.length"), length, "flake8")
    if (found := read_first(root, "mypy.ini", ".mypy.ini")) and _ini(found, "mypy").get(
        "strict", ""
    ).lower() == "true":
        yield Seed("mypy checks the types, in strict mode.", "convention", found.where("^strict"), _SURE)


def _ini(found: ProjectFile, section: str) -> Mapping[str, str]:
    parser = configparser.RawConfigParser(strict=False, allow_no_value=True)
    try:
        parser.read_string(found.text)
        return dict(parser[section]) if parser.has_section(section) else {}
    except configparser.Error:
        return {}


def _prettier(root: Path) -> Iterator[Seed]:
    found = read_first(
        root, ".prettierrc", ".prettierrc.json", ".prettierrc.yaml", ".prettierrc.yml", ".prettierrc.json5"
    )
    settings = (found.json() or _flat_yaml(found)) if found else {}
    if found is None and (found := read_first(root, "package.json")):
        settings = table_at(found.json(), "prettier")
    if found is None or not settings:
        return
    width, spaces = settings.get("printWidth"), settings.get("tabWidth")
    settings_text = [
        f"lines up to {width} characters" if width else "",
        "indentation by tabs"
        if settings.get("useTabs") is True
        else f"indentation of {spaces} spaces"
        if spaces
        else "",
        _either(settings.get("singleQuote"), "single quotes", "double quotes"),
        _either(settings.get("semi"), "semicolons", "no semicolons"),
        {"none": "no trailing commas", "all": "trailing commas"}.get(settings.get("trailingComma") or "", ""),
    ]
    if any(settings_text):
        content = f"Prettier formats the code: {listed(filter(None, settings_text))}."
        yield Seed(content, "convention", found.where("printWidth|tabWidth|singleQuote|semi|prettier"), _SURE)


def _either(value: Any, yes: str, no: str) -> str:
    return yes if value is True else no if value is False else ""


def _biome(root: Path) -> Iterator[Seed]:
    if (found := read_first(root, "biome.json", "biome.jsonc")) is None:
        return
    settings = found.json()
    style = table_at(settings, "formatter")
    quotes = table_at(settings, "javascript", "formatter")
    settings_text = [
        f"lines up to {style['lineWidth']} characters" if style.get("lineWidth") else "",
        {"tab": "indentation by tabs", "space": f"indentation of {style.get('indentWidth', 2)} spaces"}.get(
            style.get("indentStyle", ""), ""
        ),
        f"{quotes['quoteStyle']} quotes" if quotes.get("quoteStyle") else "",
        {"asNeeded": "no semicolons", "always": "semicolons"}.get(quotes.get("semicolons", ""), ""),
    ]
    if any(settings_text):
        content = f"Biome formats and lints the code: {listed(filter(None, settings_text))}."
        yield Seed(content, "convention", found.where("formatter"), _SURE)


def _eslint(root: Path) -> Iterator[Seed]:
    found = read_first(root, ".eslintrc.json", ".eslintrc", ".eslintrc.yml", ".eslintrc.yaml")
    extends: Any = found.json().get("extends") if found else None
    if found is None and (found := read_first(root, "package.json")):
        extends = table_at(found.json(), "eslintConfig").get("extends")
    extends = [extends] if isinstance(extends, str) else extends
    if found and extends:
        yield from _rules(found.where("extends"), extends, "ESLint", "extends")
    elif found := read_first(
        root, "eslint.config.js", "eslint.config.mjs", "eslint.config.ts", ".eslintrc.js", ".eslintrc.cjs"
    ):
        yield Seed(f"ESLint checks the code, as {found.path} says.", "convention", found.path, 0.3)


_LONGEST_PATTERN = (
    60  # characters: of longer ones, and of many, nothing is told, since code may be among them
)
_MOST_PATTERNS = 4


def _editorconfig(root: Path) -> Iterator[Seed]:
    if (found := read_first(root, ".editorconfig")) is None:
        return
    settings: dict[str, dict[str, str]] = {}
    section, length = "", ""
    for line in found.text.splitlines():
        if match := re.match(r"\s*\[(.+)\]\s*$", line):
            section = "*" if match[1] in ("**", "**/*") else match[1]
        elif match := re.match(r"\s*(indent_style|indent_size|max_line_length)\s*=\s*(\w+)", line):
            name, value = match[1], match[2].lower()
            if name == "max_line_length":
                length = value if section == "*" else length
            else:
                settings.setdefault(section, {})[name] = value
    common = settings.get("*", {})
    indented = {section: _indentation({**common, **own}) for section, own in settings.items()}
    told = [
        section
        for section in indented
        if indented[section]
        and len(section) <= _LONGEST_PATTERN
        and not any(
            _endings(section) & _endings(other) and indented[section] != indented[other] for other in indented
        )
    ][:_MOST_PATTERNS]
    if "*" not in told:
        told = [section for section in told if _has_file(root, section)]
    left_out = " ".join(indented.keys() - {"", *told})
    if "*" in told and any(f".{word}" in CODE_ENDINGS for word in re.findall(r"\w+", left_out)):
        told = []  # what holds for most files does not hold for that code
    every = "all files" if len(told) == len(indented.keys() - {""}) else "most files"
    if told:
        styles = [f"{indented[section]} in {every if section == '*' else section}" for section in told]
        content = f"Indentation is {listed(styles)} (.editorconfig)."
        yield Seed(content, "convention", found.where("indent_"), 0.8)
    yield from _line_length(found.where("max_line_length"), length, ".editorconfig")


def _indentation(settings: Mapping[str, str]) -> str:
    """Return how files are indented; "" if the settings leave it open."""
    style, size = settings.get("indent_style"), settings.get("indent_size", "")
    if style == "tab":
        return "tabs"
    if "unset" in (style, size) or not (style or size.isdigit()):
        return ""
    return f"{size} spaces" if size.isdigit() else "spaces"


def _has_file(root: Path, section: str) -> bool:
    """Return whether a file may belong to a section such as `*.{js,ts}` or `**.rb`, of which the first ending counts."""
    pattern = re.sub(r"\{(\w++)[^{}]*+\}", r"\1", section)
    pattern = re.sub(r"\*{2,}(?!/)|(?<!/)\*{2,}(?=.)", "*", pattern).lstrip("/")
    try:
        return any(root.rglob(pattern))
    except (ValueError, NotImplementedError, IndexError):  # it is no pattern
        return False


def _endings(section: str) -> set[str]:
    """Return the endings that a section such as `*.{js,ts}` names."""
    return set(re.findall(r"\w+", section))


def _rust(root: Path) -> Iterator[Seed]:
    if found := read_first(root, "rustfmt.toml", ".rustfmt.toml"):
        settings = found.toml()
        yield from _line_length(found.where("max_width"), settings.get("max_width"), "rustfmt")
        if settings.get("hard_tabs") is True:
            yield Seed("Rust is indented by tabs (rustfmt).", "convention", found.where("hard_tabs"), _SURE)
    if found := read_first(root, "Cargo.toml"):
        lints = {**table_at(found.toml(), "workspace", "lints"), **table_at(found.toml(), "lints")}
        settings_text = [
            f"{name} ({level})"
            for group in ("rust", "clippy")
            for name, setting in table_at(lints, group).items()
            if (level := setting if isinstance(setting, str) else table_at(setting).get("level"))
            in ("deny", "forbid")
        ]
        yield from _rules(found.where(r"lints"), settings_text, "Cargo", "refuses code that breaks the lints")


def _others(root: Path) -> Iterator[Seed]:
    """Yield from formats of which only a line or two are worth reading."""
    if found := read_first(root, ".golangci.yml", ".golangci.yaml", ".golangci.toml"):
        linters = re.search(r"^linters:[ \t]*\n((?:[ \t#][^\n]*+\n?|\n|(?!))++)", found.text, re.M)
        named = _yaml_list(dedent(linters[1]), "enable") if linters else []
        yield from _rules(found.where("enable:"), named, "golangci-lint", "runs")
    if found := read_first(root, "checkstyle.xml", "config/checkstyle/checkstyle.xml"):
        length = found.value(r'"LineLength"[\s\S]{0,300}?name="max"\s+value="(\d+)"')
        yield Seed("Java code is checked by Checkstyle.", "convention", found.path, 0.4)
        yield from _line_length(found.where("LineLength"), length, "Checkstyle")
    if found := read_first(root, ".rubocop.yml"):
        length = found.value(
            rf"^Layout/LineLength:\n(?:(?!  Enabled: false)[ \t#][^\n]*+\n|\n)*?[ \t]+Max:\s*(\d+){_NOT_OFF}"
        )
        yield from _line_length(found.where("Layout/LineLength"), length, "RuboCop")
        quotes = found.value(
            rf"^Style/StringLiterals:\n(?:(?!  Enabled: false)[ \t#][^\n]*+\n|\n)*?[ \t]+EnforcedStyle:\s*(\w+)_quotes{_NOT_OFF}"
        )
        yield from _quotes(found.where("Style/StringLiterals"), quotes, "RuboCop")
    if found := read_first(root, "phpcs.xml", "phpcs.xml.dist", ".phpcs.xml", ".phpcs.xml.dist"):
        rules = re.findall(r'<rule\s+ref="(\w+)"', found.text)
        yield from _rules(found.where("<rule"), rules, "PHP_CodeSniffer", "checks the code against")
    if found := read_first(root, ".clang-format"):
        base, width = found.value(r"^BasedOnStyle:\s*(\S+)"), found.value(r"^IndentWidth:\s*(\d+)")
        settings_text = [f"based on {base}" if base else "", f"indentation of {width}" if width else ""]
        if any(settings_text):
            content = f"clang-format formats C and C++: {listed(filter(None, settings_text))}."
            yield Seed(content, "convention", found.path, _SURE)
        yield from _line_length(
            found.where("ColumnLimit"), found.value(r"^ColumnLimit:\s*(\d+)"), "clang-format"
        )
    if found := read_first(root, ".pre-commit-config.yaml"):
        hooks = [
            hook
            for hook in re.findall(r"^[ \t]*+-?[ \t]*+id:[ \t]*[\"']?([\w.-]+)", found.text, re.M)
            if hook not in _BORING_HOOKS
        ]
        for seed in _rules(
            found.where("id:"), list(dict.fromkeys(hooks)), "Before a commit pre-commit", "runs"
        ):
            yield replace(seed, confidence=0.45)  # they run by themselves


_BORING_HOOKS = frozenset(
    """trailing-whitespace end-of-file-fixer check-yaml check-toml check-json check-merge-conflict debug-statements
    check-added-large-files mixed-line-ending fix-byte-order-marker check-case-conflict check-ast check-xml
    check-symlinks file-contents-sorter name-tests-test detect-private-key check-docstring-first""".split()
)


def _flat_yaml(found: ProjectFile) -> dict[str, Any]:
    """Parse `name: value` lines without indentation."""
    known = {"true": True, "false": False}
    return {
        name: known.get(value.lower(), value.strip("\"'"))
        for name, value in re.findall(r"^(\w+):\s*(\S+)\s*$", found.text, re.M)
    }


def _yaml_list(text: str, name: str) -> list[str]:
    """Return the list of that name that is not indented: a deeper one is of something else."""
    block = re.search(rf"^{name}:[ \t]*\n((?:[ \t]*-[^\n]+\n?|[ \t]*#[^\n]*\n|[ \t]*\n|(?!))++)", text, re.M)
    return re.findall(r"^\s*-\s*([\w-]+)", block[1], re.M) if block else []


_READERS: tuple[Callable[[Path], Iterator[Seed]], ...] = (
    _ruff,
    _python,
    _prettier,
    _biome,
    _eslint,
    _editorconfig,
    _rust,
    _others,
)
