from recollect.code.nodes import Symbol
from recollect.code.relevant.passages import split_passages
from recollect.code.relevant.weights import LONGEST_PASSAGE

TEXT = """import os

class Cart:
    lines = []

    def total(self):
        def each():
            return 1
        return each()

    def put(self):
        pass

print(os)
"""
OUTLINE = (
    Symbol("a.py::Cart", "Cart", "class", "a.py", 3, 12),
    Symbol("a.py::Cart.lines", "lines", "variable", "a.py", 4, 4),
    Symbol("a.py::Cart.total", "total", "function", "a.py", 6, 9),
    Symbol("a.py::Cart.total.each", "each", "function", "a.py", 7, 8),
    Symbol("a.py::Cart.put", "put", "function", "a.py", 11, 12),
)


def test_a_file_falls_into_its_functions_classes_and_the_rest():
    found = [
        (each.first, each.last, each.symbol.id if each.symbol else None)
        for each in split_passages("a.py", TEXT, OUTLINE)
    ]

    assert found == [
        (1, 2, None),
        (3, 5, "a.py::Cart"),
        (6, 9, "a.py::Cart.total"),
        (11, 12, "a.py::Cart.put"),
        (13, 14, None),
    ]


def test_a_long_function_is_cut():
    text = "def long():\n" + "    step()\n" * 100
    outline = (Symbol("a.py::long", "long", "function", "a.py", 1, 101),)

    found = list(split_passages("a.py", text, outline))

    assert [(each.first, each.last) for each in found] == [(1, 40), (41, 80), (81, 101)]
    assert all(len(each.text.splitlines()) <= LONGEST_PASSAGE for each in found)


def test_an_outline_that_reaches_beyond_the_file_does_no_harm():
    outline = (Symbol("a.py::gone", "gone", "function", "a.py", 5, 50),)

    assert [each.symbol for each in split_passages("a.py", "one\ntwo\n", outline)] == [None]
    assert list(split_passages("a.py", "", outline)) == []
