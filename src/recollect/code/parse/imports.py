"""What an import says, in each language's words."""

import re
from collections.abc import Callable, Iterator

from recollect.code.facts import Import

_GO = re.compile(r"""(?:([\w.]+)\s+)?["`]([^"`]+)["`]""")
_JAVA = re.compile(r"import\s+(static\s+)?([\w.]+?)(\.\*)?\s*;")
_KOTLIN = re.compile(r"import\s+([\w.`]+?)(\.\*)?(?:\s+as\s+(\w+))?\s*;?\s*$")
_CSHARP = re.compile(r"using\s+(static\s+)?(?:(\w+)\s*=\s*)?([\w.:]+)")
_PHP_USE = re.compile(r"use\s+(?:function\s+|const\s+)?\\?([\w\\]*?)\\?(?:\{(.*)\}|([^;{]*))\s*;", re.DOTALL)
_PHP_PART = re.compile(r"(?:function\s+|const\s+)?\\?([\w\\]+)(?:\s+as\s+(\w+))?", re.IGNORECASE)
_QUOTED = re.compile(r"""["']([^"']*)["']""")
_INCLUDE = re.compile(r"""include(?:_next)?\s*(["<][^">\n]+[">])""")
_SOURCE = re.compile(r"^(?:\.|source)\s+(\S.*)$", re.DOTALL)
_SHELL_VALUE = re.compile(r"\$\(.*\)|\$\{[^}]*\}|\$\w+|[\"']", re.DOTALL)


def imports_of(language: str, text: str) -> Iterator[Import]:
    return _READERS[language](text)


def _go(text: str) -> Iterator[Import]:
    if found := _GO.search(text):
        alias, module = found[1] or "", found[2]
        yield Import(module, "*") if alias == "." else Import(module, "", "" if alias == "_" else alias)


def _rust(text: str) -> Iterator[Import]:
    """`use a::{b, c::d as e}` is an import for each leaf; `mod a;` brings in the file of that name."""
    public = text.startswith("pub")
    text = re.sub(r"^pub(?:\([^)]*\))?\s*", "", " ".join(text.split())).rstrip("; ")
    if text.startswith("mod "):
        yield Import("self", text.removeprefix("mod "), reexport=public)
    elif text.startswith("use "):
        for path, alias in _use_tree(text.removeprefix("use ").lstrip(":"), 0):
            module, _, name = path.rpartition("::")
            yield Import(module or name, name if module else "", alias, reexport=public)


def _use_tree(text: str, depth: int) -> Iterator[tuple[str, str]]:
    before, brace, rest = text.partition("{")
    if not brace or depth > 20:
        path, _, alias = (part.strip() for part in text.partition(" as "))
        yield path.removesuffix("::self"), alias
        return
    part, level = "", 0
    for letter in rest.rstrip().removesuffix("}") + ",":
        level += (letter == "{") - (letter == "}")
        if letter == "," and level == 0:
            if part.strip():
                yield from _use_tree(before.strip() + part.strip(), depth + 1)
            part = ""
        else:
            part += letter


def _java(text: str) -> Iterator[Import]:
    if found := _JAVA.search(text):
        _, path, star = found.groups()
        yield Import(path, "*") if star else _last_of(path)


def _kotlin(text: str) -> Iterator[Import]:
    if found := _KOTLIN.search(text):
        path, star, alias = found.groups()
        yield Import(path, "*") if star else _last_of(path.replace("`", ""), alias or "")


def _csharp(text: str) -> Iterator[Import]:
    if found := _CSHARP.search(text):
        _, alias, path = found.groups()
        path = path.replace("global::", "")
        yield _last_of(path, alias) if alias else Import(path, "*")


def _last_of(path: str, alias: str = "") -> Import:
    module, _, name = path.rpartition(".")
    return Import(module or name, name if module else "", alias)


def _php(text: str) -> Iterator[Import]:
    if not text.startswith("use"):
        if found := _QUOTED.search(text):
            yield Import("./" + found[1].lstrip("/"), "*")
        return
    if found := _PHP_USE.match(text):
        prefix, group, single = found.groups()
        parts = group if group is not None else f"{prefix}{single}"
        for part in parts.split(","):
            if name := _PHP_PART.match(part.strip()):
                path = f"{prefix}\\{name[1]}" if group is not None else name[1]
                yield _last_of(path.replace("\\", "."), name[2] or "")


def _c(text: str) -> Iterator[Import]:
    if found := _INCLUDE.search(text):
        yield Import(found[1].strip('"'), "*")


def _ruby(text: str) -> Iterator[Import]:
    if found := _QUOTED.search(text):
        is_relative = text.startswith("require_relative") and not found[1].startswith(".")
        yield Import(f"./{found[1]}" if is_relative else found[1], "*")


def _bash(text: str) -> Iterator[Import]:
    if found := _SOURCE.match(text):
        path = _SHELL_VALUE.sub("", found[1]).strip().lstrip("/")
        if path:
            yield Import(path, "*")


_READERS: dict[str, Callable[[str], Iterator[Import]]] = {
    "go": _go,
    "rust": _rust,
    "java": _java,
    "kotlin": _kotlin,
    "csharp": _csharp,
    "php": _php,
    "c": _c,
    "cpp": _c,
    "ruby": _ruby,
    "bash": _bash,
}
