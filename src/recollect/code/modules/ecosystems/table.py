"""The ecosystems: whose files they are, and who reads them."""

from collections.abc import Callable, Iterable
from typing import NamedTuple

from recollect.code.modules.ecosystems.compiled import (
    c_signs,
    dotnet_signs,
    go_signs,
    gradle_signs,
    maven_signs,
    rust_signs,
)
from recollect.code.modules.ecosystems.node import node_signs
from recollect.code.modules.ecosystems.python import python_signs
from recollect.code.modules.ecosystems.scripted import php_signs, ruby_signs
from recollect.code.modules.ecosystems.signs import Signs
from recollect.code.modules.ground import Ground
from recollect.code.modules.map import Framework


class Ecosystem(NamedTuple):
    manifests: tuple[str, ...]  # file names, or endings that begin with "*"
    endings: tuple[str, ...]  # of its source files
    read: Callable[[Ground, str], Signs]


def has_manifest(names: Iterable[str], manifests: Iterable[str]) -> bool:
    names = set(names)
    return any(
        any(name.endswith(each[1:]) for name in names) if each[0] == "*" else each in names
        for each in manifests
    )


def _simple(tool: str, **commands: str) -> Callable[[Ground, str], Signs]:
    """For tools that need no more than their own words."""

    def read(ground: Ground, folder: str) -> Signs:
        return Signs(tool, commands, {}, Framework(tool, "", commands["test"]))

    return read


ECOSYSTEMS = {
    "python": Ecosystem(
        ("pyproject.toml", "setup.py", "setup.cfg", "Pipfile", "requirements.txt", "manage.py", "tox.ini"),
        (".py",),
        python_signs,
    ),
    "node": Ecosystem(
        ("package.json",),
        (".js", ".jsx", ".ts", ".tsx", ".mjs", ".cjs", ".mts", ".vue", ".svelte", ".css"),
        node_signs,
    ),
    "rust": Ecosystem(("Cargo.toml",), (".rs",), rust_signs),
    "go": Ecosystem(("go.mod",), (".go",), go_signs),
    "java": Ecosystem(("pom.xml",), (".java", ".kt", ".scala"), maven_signs),
    "gradle": Ecosystem(
        ("build.gradle", "build.gradle.kts", "settings.gradle", "settings.gradle.kts"),
        (".java", ".kt", ".groovy"),
        gradle_signs,
    ),
    "ruby": Ecosystem(("Gemfile", "*.gemspec", "Rakefile"), (".rb",), ruby_signs),
    "php": Ecosystem(("composer.json",), (".php",), php_signs),
    "c": Ecosystem(
        ("CMakeLists.txt", "meson.build", "configure.ac", "configure", "Makefile"),
        (".c", ".cc", ".cpp", ".cxx", ".h", ".hpp", ".hh"),
        c_signs,
    ),
    "dotnet": Ecosystem(("*.sln", "*.slnx", "*.csproj", "*.fsproj"), (".cs", ".fs", ".vb"), dotnet_signs),
    "elixir": Ecosystem(
        ("mix.exs",),
        (".ex", ".exs"),
        _simple("mix", build="mix compile", test="mix test", format="mix format"),
    ),
    "swift": Ecosystem(
        ("Package.swift",), (".swift",), _simple("swift", build="swift build", test="swift test")
    ),
    "dart": Ecosystem(
        ("pubspec.yaml",),
        (".dart",),
        _simple("dart", test="dart test", lint="dart analyze", format="dart format ."),
    ),
    "zig": Ecosystem(("build.zig",), (".zig",), _simple("zig", build="zig build", test="zig build test")),
    "deno": Ecosystem(
        ("deno.json", "deno.jsonc"),
        (".ts",),
        _simple("deno", test="deno test", lint="deno lint", format="deno fmt"),
    ),
}
# Ecosystems whose commands in CI are known under another name.
CI_NAMES = {"gradle": "java"}
