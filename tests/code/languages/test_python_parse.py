from textwrap import dedent

import pytest

from recollect.code.facts import CLASS, FILE, FUNCTION, VARIABLE, Import
from recollect.code.languages.parser import parse
from recollect.code.nodes import symbol_ids


def read(source: str):
    return parse("python", dedent(source).encode())


def chains(facts, kind):
    return {reference.chain for reference in facts.references if reference.kind == kind}


def bound(facts):
    return {(binding.name, binding.value, binding.annotated) for binding in facts.bindings}


def test_a_name_is_the_class_that_isinstance_says_where_it_says_so():
    facts = read(
        """
        def show(x):
            x.hide()
            if isinstance(x, (Page, Leaf)):
                x.show()
                x()
                if isinstance(x, str):
                    x.strip()
        """
    )

    assert {entry.chain for entry in facts.references if entry.kind == "calls"} == {
        "isinstance", "x.hide", "Page().show", "Leaf().show", "Page()", "Leaf()", "str().strip",
    }  # fmt: skip


def test_definitions_stand_in_their_scopes_with_all_that_is_written_about_them():
    facts = read(
        '''
        """The shop."""

        RATE = 0.19


        @register("till")
        class Till(Counter[int], metaclass=Meta):
            """Takes money.

            And gives change.
            """

            currency: str = "EUR"

            @property
            def total(self) -> Money:
                def rounded(value): ...
                return rounded(self.sum)
        '''
    )

    assert facts.doc == "The shop."
    assert symbol_ids("shop.py", facts.definitions) == [
        "shop.py::RATE",
        "shop.py::Till",
        "shop.py::Till.currency",
        "shop.py::Till.total",
        "shop.py::Till.total.rounded",
    ]
    rate, till, currency, total, rounded = facts.definitions
    assert (rate.kind, rate.scope) == (VARIABLE, FILE)
    assert (till.kind, till.line, till.end, till.doc) == (CLASS, 7, 19, "Takes money.")
    assert till.bases == ("Counter[]",)
    assert till.decorators == ("register()",)
    assert (currency.kind, currency.scope) == (VARIABLE, 1)
    assert (total.kind, total.returns, total.decorators) == (FUNCTION, "Money", ("property",))
    assert rounded.scope == 3
    assert not facts.broken


def test_a_second_symbol_of_a_name_is_numbered_with_what_it_holds():
    facts = read(
        """
        class A:
            def run(self): ...
        class A:
            def run(self): ...
        """
    )

    assert symbol_ids("a.py", facts.definitions) == ["a.py::A", "a.py::A.run", "a.py::A#2", "a.py::A#2.run"]


def test_defaults_and_literals_are_never_kept():
    facts = read(
        """
        TOKEN = "hunter2"

        def sign(self, key: str = "hunter2", *, salt="hunter2", mode: Literal["hunter2"] = "hunter2", **rest) -> "Signed":
            sent = send("hunter2", Field(default="hunter2")).go(b"hunter2")
            limit: Annotated[str, Field("hunter2")] = "hunter2"
        """
    )

    assert "hunter2" not in repr(facts)
    sign = facts.definitions[1]
    assert sign.signature == "(self, key: str = …, *, salt=…, mode: Literal = …, **rest) -> Signed"
    assert sign.parameters == (
        ("self", ""),
        ("key", "str"),
        ("salt", ""),
        ("mode", "Literal"),
        ("**rest", ""),
    )


def test_every_sort_of_import_is_read():
    facts = read(
        """
        import os, numpy.linalg as la
        from . import models
        from ..shop.till import (
            Till as Register,  # the old name
            open_till,
        )
        from errors import *

        def lazily():
            from json import dumps
        """
    )

    assert list(facts.imports) == [
        Import("os", "", "", 2),
        Import("numpy.linalg", "", "la", 2),
        Import(".", "models", "", 3),
        Import("..shop.till", "Till", "Register", 4),
        Import("..shop.till", "open_till", "", 4),
        Import("errors", "*", "", 8),
        Import("json", "dumps", "", 11, 0),
    ]


def test_calls_and_uses_are_chains():
    facts = read(
        """
        import json

        LIMIT = 3

        def work(self, names):
            self.app.loader(names).get(names[0]).close()
            (await fetch(LIMIT)).text
            type(self).make()
            "".join(names)
            self.width + json.encoder.FLOAT
        """
    )

    assert chains(facts, "calls") == {
        "self.app.loader().get().close",
        "self.app.loader().get",
        "self.app.loader",
        "fetch",
        "self.__class__.make",
        "type",
        "str().join",
    }
    assert chains(facts, "uses") == {"fetch().text", "self.width", "json.encoder.FLOAT", "LIMIT"}
    assert all(reference.scope == 1 for reference in facts.references)


def test_bindings_tell_what_names_are_given():
    facts = read(
        """
        def work(self, given):
            self.app = given or App()
            port: int = 80
            first, second = one(), two()
            left, right = pair()
            with opened() as file, locked() as self.lock: ...
            async with session() as http: ...
            for row in table.rows(): ...
            if (found := find()) and isinstance(given, (Page, Leaf)): given.show()
            shop = cast("Shop", given)
            return self.app if found else None
        """
    )

    assert bound(facts) >= {
        ("self.app", "given", False),
        ("self.app", "App()", False),
        ("port", "int", True),
        ("first", "one()", False),
        ("second", "two()", False),
        ("left", "pair()[0]", False),
        ("right", "pair()[1]", False),
        ("file", "opened().__enter__()", False),
        ("self.lock", "locked().__enter__()", False),
        ("http", "session().__aenter__()", False),
        ("row", "table.rows().__iter__()[]", False),
        ("found", "find()", False),
        ("shop", "Shop", True),
        ("return", "self.app", False),
    }


def test_what_a_file_exports_is_what_it_lists():
    facts = read(
        """
        __all__ = ["Till", 'open_till']
        __all__ += ["close_till"]
        """
    )

    assert facts.exports == ("Till", "open_till", "close_till")


def test_of_a_broken_file_the_rest_is_read():
    facts = read(
        """
        def good(): return helper()

        def bad():
            x = = 3

        class Also:
            def fine(self): ...
        """
    )

    assert facts.broken
    assert {"good", "Also"} <= {definition.name for definition in facts.definitions}


@pytest.mark.parametrize(
    "source",
    [
        b"",
        b"\xff\xfe\x00def",
        b"class",
        b"def f(",
        b"from import x as",
        b"import",
        b"@\nclass A: pass",
        b"x" + b".a()" * 3000,
        b"(" * 3000,
        b"[" * 500 + b"]" * 500,
        b"a = b = " * 1000 + b"c()",
        b"if x:\n" + b"".join(b" " * i + b"if x:\n" for i in range(1, 300)),
        b"x = " + b"a or " * 2000 + b"b",
    ],
    ids=range(13),
)
def test_no_bytes_make_it_fail(source):
    assert parse("python", source).language == "python"


def test_a_chain_is_followed_twelve_links_deep_wherever_its_head_was_met_before():
    facts = read(
        """
        shop.tills.main.open()
        short = shop.tills.main.open().drawer().count()
        long = shop.tills.main.open().drawer().count().rounded().shown()
        """
    )

    assert ("short", "shop.tills.main.open().drawer().count()", False) in bound(facts)
    assert ("long", "?.tills.main.open().drawer().count().rounded().shown()", False) in bound(facts)


def test_what_a_value_may_be_is_all_that_it_could_come_to():
    facts = read(
        """
        one = first() if ready else (second or third())
        two = ready and fourth()
        three = None
        """
    )

    assert {(name, value) for name, value, _ in bound(facts)} == {
        *(("one", value) for value in ("first()", "second", "third()")),
        ("two", "fourth()"),
    }


@pytest.mark.parametrize(
    "written, signature",
    [
        ("OrderedDict[_KT, _VT]", "(OrderedDict[_KT, _VT])"),
        ("Base, Generic[T],", "(Base, Generic[T])"),
        ("Base, metaclass=Meta", "(Base, metaclass=Meta)"),
        ("namedtuple('Point', 'x y')", "(namedtuple(…))"),
        ("with_metaclass(Meta, Base)", "(with_metaclass(…))"),
        ("Base, password='hunter2'", "(Base, password=…)"),
        ("*bases", "(*bases)"),
        ("", ""),
    ],
)
def test_a_class_shows_its_bases_as_written_without_values(written, signature):
    facts = parse("python", f"class A({written}): ...\n".encode())

    assert facts.definitions[0].signature == signature
