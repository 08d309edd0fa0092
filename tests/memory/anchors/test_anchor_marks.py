"""What changes a mark and what does not; real formatters do the reformatting."""

import subprocess
import sys

import pytest

from recollect.memory.anchors.marks import mark

UGLY = '''
import json
from os import (path, sep,)

LIMIT = 0XFF

@cached( maxsize = 10 )
def parse_config(name, *, strict = False, keys = ('a', 'b',)) :
    \'\'\'Reads the file.\'\'\'
    with open(name) as file: data = json.load( file )   # all of it
    if (strict): raise ValueError('unknown: ' + u'it\\'s ' "and "
        'more')
    for (key) in (keys): del data[key]; print(key,)
    first, second = (1, 2)
    value = first + second * 3 if first and second or strict and not first else data.get("a very long key indeed", {'x': 1E5}) or name
    return {'a' : data, 'b': [ 1,2,3, ], 'text': f"{name!r} and {{}}"}, (value,), lambda x : (x), \\
        second


class Reader() :
    """Reads."""
    mode = 'r'
    def read(self) : return self.mode
    def close(self): pass
'''


def python(source: str, symbol: str = "parse_config") -> str | None:
    return mark("python", source.encode(), symbol)


def formatted(source: str, *options: str) -> str:
    command = [sys.executable, "-m", "ruff", "format", "--isolated", *options, "-"]
    return subprocess.run(command, input=source, capture_output=True, text=True, check=True).stdout


@pytest.mark.parametrize(
    "options",
    [
        (),
        ("--line-length", "40"),
        ("--config", "format.quote-style='single'"),
        ("--config", "format.skip-magic-trailing-comma=true", "--line-length", "200"),
    ],
)
@pytest.mark.parametrize("symbol", ["parse_config", "Reader", "Reader.read", "LIMIT"])
def test_a_formatter_changes_no_mark(symbol, options):
    tidy = formatted(UGLY, *options)

    assert tidy != UGLY
    assert python(tidy, symbol) == python(UGLY, symbol) is not None


def test_moving_code_within_its_file_changes_no_mark():
    head, _, rest = UGLY.partition("@cached")
    function, _, rest = rest.partition("\n\n\n")

    moved = f"{head}\n{rest}\n\n\nX = 1\n\n@cached{function}\n"

    assert python(moved) == python(UGLY)


def test_comments_and_docstrings_change_no_mark():
    said = UGLY.replace("Reads the file.", "Reads it all.").replace("# all of it", "# every bit")

    assert said != UGLY
    assert python(said) == python(UGLY)


@pytest.mark.parametrize(
    "before, after",
    [
        ("* 3", "* 4"),
        ("first + second * 3", "(first + second) * 3"),
        ("strict = False", "strict = True"),
        ("(value,)", "(value)"),
        ("unknown: ", "Unknown: "),
        ("not first", "first"),
        ("print(key,)", ""),
        ("print(key,)", "print(key, key)"),
        ("@cached( maxsize = 10 )\n", ""),
        ("data = json.load( file )", "data = json.loads( file )"),
        ('f"{name!r}', 'f"{name!s}'),
        ("u'it", "b'it"),
    ],
)
def test_a_real_change_changes_the_mark(before, after):
    changed = UGLY.replace(before, after, 1)

    assert changed != UGLY
    assert python(changed) != python(UGLY)


def test_a_change_of_indentation_that_moves_a_statement_out_of_a_block_is_real():
    inside = "def f(x):\n    if x:\n        a()\n        b()\n"
    outside = "def f(x):\n    if x:\n        a()\n    b()\n"

    assert python(inside, "f") != python(outside, "f")


def test_another_functions_change_changes_no_mark():
    changed = UGLY.replace("return self.mode", "return None").replace("0XFF", "0XFE")

    assert python(changed) == python(UGLY)
    assert python(changed, "Reader.read") != python(UGLY, "Reader.read")


def test_a_class_is_what_it_declares_and_which_methods_it_has():
    other_code = UGLY.replace("return self.mode", "return None")
    reordered = UGLY.replace("    def close(self): pass\n", "").replace(
        "    def read", "    def close(self): pass\n    def read"
    )
    one_less = UGLY.replace("    def close(self): pass\n", "")
    declared = UGLY.replace("mode = 'r'", "mode = 'w'")

    assert python(other_code, "Reader") == python(reordered, "Reader") == python(UGLY, "Reader")
    assert len({python(each, "Reader") for each in (UGLY, one_less, declared)}) == 3


def test_the_only_function_of_a_file_keeps_its_mark_when_others_come():
    alone = "def f(x):\n    return x\n"

    assert python(alone, "f") == python(f"{alone}\n\ndef g(x):\n    return x\n", "f")


def test_there_is_no_mark_of_what_is_not_there():
    assert python(UGLY, "parse") is None
    assert python("def broken(:\n  '", "nothing") is None


@pytest.mark.parametrize("deep", ["(" * 3000 + "1" + ")" * 3000, "-" * 3000 + "1", "[" * 500 + "]" * 500])
def test_code_that_is_deeply_nested_has_a_mark(deep):
    one, other = (python(f"def f():\n    return {deep}{more}\n", "f") for more in ("", " + 1"))

    assert one and other and one != other


LANGUAGES = {
    "javascript": (
        "function total(a, b) { return {'a': [a, b,], 'b': 'it\\'s'}; }",
        'function total(a, b) {\n  // both\n  return {\n    "a": [a, b],\n    "b": "it\'s"\n  }\n}',
        "function total(a, b) { return {'a': [a], 'b': 'it\\'s'}; }",
    ),
    "typescript": (
        "export function total(a: number, b = 1): number { return (a + b) }",
        "/** Adds. */\nexport function total(\n  a: number,\n  b = 1,\n): number {\n  return a + b;\n}",
        "export function total(a: number, b = 1): number { return a - b }",
    ),
    "go": (
        "package x\nfunc total(a int, b int) int { return a + b }",
        "package x\n\n// total adds.\nfunc total(\n\ta int,\n\tb int,\n) int {\n\treturn a + b\n}",
        "package x\nfunc total(a int, b int) int { return a * b }",
    ),
    "rust": (
        "fn total(a: i32, b: i32) -> i32 { vec![a, b].iter().sum() }",
        "/// Adds.\nfn total(\n    a: i32,\n    b: i32,\n) -> i32 {\n    vec![a, b].iter().sum()\n}",
        "fn total(a: i32, b: i32) -> i32 { vec![a, b].iter().sum(); }",
    ),
    "java": (
        "class X {\nint total(int a, int b) { return a + b; }\n}",
        "class X {\n  /** Adds. */\n  int total(int a, int b) {\n    return a + b;\n  }\n}",
        "class X {\nint total(int a, int b) { return a - b; }\n}",
    ),
    "ruby": (
        "def total(a, b) a + b end",
        "# Adds.\ndef total(a, b)\n  a + b\nend",
        "def total(a, b) a - b end",
    ),
    "c": (
        "int total(int a, int b) { return a + b; }",
        "/* Adds. */\nint\ntotal(int a,\n      int b)\n{\n    return a + b; // sum\n}",
        "int total(int a, int b) { return 'a' + b; }",
    ),
}


@pytest.mark.parametrize("language", LANGUAGES)
def test_every_language_has_marks(language):
    before, laid_out, changed = LANGUAGES[language]
    symbol = "X.total" if language == "java" else "total"

    marks = [mark(language, source.encode(), symbol) for source in (before, laid_out, changed)]

    assert marks[0] == marks[1] != marks[2]
    assert None not in marks


def test_who_names_an_overloaded_function_means_all_that_bear_its_name():
    source = "@overload\ndef read(a: int) -> int: ...\n@overload\ndef read(a: str) -> str: ...\ndef read(a):\n    return a\n"

    changed = source.replace("return a", "return str(a)")

    assert python(changed, "read") != python(source, "read")
    assert python(changed, "read#2") == python(source, "read#2")


@pytest.mark.parametrize(
    "language, source",
    [
        ("python", 'def f():\n    return """one\ntwo"""\n'),
        ("javascript", "function f() {\n  return `one\ntwo`\n}\n"),
        ("go", "package a\n\nfunc f() string {\n\treturn `one\ntwo`\n}\n"),
    ],
)
def test_the_ends_of_lines_that_git_writes_change_no_mark(language, source):
    windows = source.replace("\n", "\r\n")

    assert mark(language, windows.encode(), "f") == mark(language, source.encode(), "f") is not None


@pytest.mark.parametrize("language", ["javascript", "typescript"])
def test_a_decorator_belongs_to_its_method(language):
    source = 'class Shop {\n  @route("/cart")\n  cart() {\n    return 1\n  }\n}\n'

    changed = source.replace("/cart", "/basket")

    assert mark(language, changed.encode(), "Shop.cart") != mark(language, source.encode(), "Shop.cart")
