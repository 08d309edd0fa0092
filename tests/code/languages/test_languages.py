import pytest

from recollect.code.languages.parser import grammar
from recollect.code.languages.table import LANGUAGES, language_of


@pytest.mark.parametrize(
    "path, language",
    [
        ("src/app.py", "python"),
        ("stubs/app.pyi", "python"),
        ("SConstruct", "python"),
        ("web/App.JSX", "javascript"),
        ("web/app.ts", "typescript"),
        ("web/app.tsx", "tsx"),
        ("main.go", "go"),
        ("lib.rs", "rust"),
        ("Main.java", "java"),
        ("a.c", "c"),
        ("a.h", "cpp"),
        ("a.hpp", "cpp"),
        ("Gemfile", "ruby"),
        ("Program.cs", "csharp"),
        ("index.php", "php"),
        ("build.gradle.kts", "kotlin"),
        ("run.sh", "bash"),
        ("package.json", "json"),
        (".github/workflows/ci.yml", "yaml"),
        ("pyproject.toml", "toml"),
        ("README.md", None),
        ("photo.png", None),
        ("LICENSE", None),
    ],
)
def test_a_file_s_name_tells_its_language(path, language):
    assert language_of(path) == language


@pytest.mark.parametrize(
    "head, language",
    [
        (b"#!/usr/bin/python3.11\n", "python"),
        (b"#!/usr/bin/env python3\n", "python"),
        (b"#!/usr/bin/env -S VAR=1 node --flag\n", "javascript"),
        (b"#! /bin/sh -e\n", "bash"),
        (b"#!/opt/tool\n", None),
        (b"#!", None),
        (b"\x7fELF", None),
        (b"", None),
    ],
)
def test_a_file_without_an_ending_is_known_by_its_first_line(head, language):
    assert language_of("bin/tool", head) == language


def test_a_first_line_never_overrules_an_ending():
    assert language_of("notes.txt", b"#!/usr/bin/env python3\n") is None


@pytest.mark.parametrize("language", LANGUAGES)
def test_every_language_has_its_grammar(language):
    assert grammar(language).node_kind_count > 0
