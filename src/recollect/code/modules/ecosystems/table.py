"""All ecosystems: their manifests, their languages, and the function that reads a package."""

from collections.abc import Callable, Iterable
from typing import NamedTuple

from recollect.code.modules.ecosystems.compiled import (
    read_c,
    read_dotnet,
    read_go,
    read_gradle,
    read_maven,
    read_rust,
)
from recollect.code.modules.ecosystems.node import read_node
from recollect.code.modules.ecosystems.package_info import PackageInfo
from recollect.code.modules.ecosystems.python import read_python
from recollect.code.modules.ecosystems.scripted import read_php, read_ruby
from recollect.code.modules.module_map import TestFramework
from recollect.code.modules.scan_input import ScanInput


class Ecosystem(NamedTuple):
    manifests: tuple[str, ...]  # file names, or endings that begin with "*"
    languages: tuple[str, ...]
    read: Callable[[ScanInput, str], PackageInfo]


def has_manifest(names: Iterable[str], manifests: Iterable[str]) -> bool:
    names = set(names)
    return any(
        any(name.endswith(each[1:]) for name in names) if each[0] == "*" else each in names
        for each in manifests
    )


def _simple(tool: str, **commands: str) -> Callable[[ScanInput, str], PackageInfo]:
    """Return a reader for tools that need nothing but their own commands."""

    def read(project: ScanInput, folder: str) -> PackageInfo:
        return PackageInfo(tool, commands, {}, TestFramework(tool, "", commands["test"]))

    return read


ECOSYSTEMS = {
    "python": Ecosystem(
        ("pyproject.toml", "setup.py", "setup.cfg", "Pipfile", "requirements.txt", "manage.py", "tox.ini"),
        ("python",),
        read_python,
    ),
    "node": Ecosystem(
        ("package.json",),
        ("javascript", "typescript", "tsx", "vue", "svelte", "css"),
        read_node,
    ),
    "rust": Ecosystem(("Cargo.toml",), ("rust",), read_rust),
    "go": Ecosystem(("go.mod",), ("go",), read_go),
    "java": Ecosystem(("pom.xml",), ("java", "kotlin", "scala"), read_maven),
    "gradle": Ecosystem(
        ("build.gradle", "build.gradle.kts", "settings.gradle", "settings.gradle.kts"),
        ("java", "kotlin", "groovy"),
        read_gradle,
    ),
    "ruby": Ecosystem(("Gemfile", "*.gemspec", "Rakefile"), ("ruby",), read_ruby),
    "php": Ecosystem(("composer.json",), ("php",), read_php),
    "c": Ecosystem(
        ("CMakeLists.txt", "meson.build", "configure.ac", "configure", "Makefile"),
        ("c", "cpp"),
        read_c,
    ),
    "dotnet": Ecosystem(
        ("*.sln", "*.slnx", "*.csproj", "*.fsproj"), ("csharp", "fsharp", "visual-basic"), read_dotnet
    ),
    "elixir": Ecosystem(
        ("mix.exs",),
        ("elixir",),
        _simple("mix", build="mix compile", test="mix test", format="mix format"),
    ),
    "swift": Ecosystem(
        ("Package.swift",), ("swift",), _simple("swift", build="swift build", test="swift test")
    ),
    "dart": Ecosystem(
        ("pubspec.yaml",),
        ("dart",),
        _simple("dart", test="dart test", lint="dart analyze", format="dart format ."),
    ),
    "zig": Ecosystem(("build.zig",), ("zig",), _simple("zig", build="zig build", test="zig build test")),
    "deno": Ecosystem(
        ("deno.json", "deno.jsonc"),
        ("typescript",),
        _simple("deno", test="deno test", lint="deno lint", format="deno fmt"),
    ),
}
# Ecosystems whose commands in CI have another ecosystem's name.
CI_NAMES = {"gradle": "java"}
