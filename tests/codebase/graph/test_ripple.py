"""How far a change in one file reaches."""

import pytest
from sources import write

from recollect.codebase.graph.build import Builder
from recollect.codebase.graph.ripple import changed_names
from recollect.codebase.parse.parser import parse


def names(before: str, after: str) -> set[str]:
    return changed_names(parse("python", before.encode()), parse("python", after.encode()))


@pytest.mark.parametrize(
    "before, after, expected",
    [
        ("def f(): pass", "# new\n\ndef f():\n    x = 1\n    print(x)", set()),
        ("def f(): pass", "def f(): pass\ndef g(): pass", {"g"}),
        ("def f(): pass", "def h(): pass", {"f", "h"}),
        ("def f(): return A()", "def f(): return B()", {"f"}),
        ("def f():\n    x = A()\n    return x", "def f():\n    x = B()\n    return x", {"f"}),
        ("class A: pass", "class A(B): pass", {"A"}),
        (
            "class A:\n    def __getitem__(self, key) -> int: ...",
            "class A:\n    def __getitem__(self, key) -> str: ...",
            {"A"},
        ),
        ("class A:\n    def f(self): self.x = B()", "class A:\n    def f(self): self.x = C()", {"x"}),
        ("from a import b", "from a import b as c", {"b", "c"}),
        ("from a import *", "", {"*"}),
        ("def f():\n    def g(): pass", "def f():\n    def h(): pass", set()),
    ],
)
def test_what_others_can_see_is_told_by_name(before, after, expected):
    assert names(before, after) == expected


def chain(root) -> None:
    """What `use` calls hangs on `base`, three files away."""
    write(
        root,
        base="class Base:\n    def run(self): pass\n\nclass Other:\n    def run(self): pass\n",
        middle="from base import Base\n\ndef make():\n    made = Base()\n    return made\n",
        shelf="from middle import make\n\nclass Shelf:\n    def __init__(self):\n        self.thing = make()\n",
        use="from shelf import Shelf\n\ndef use():\n    Shelf().thing.run()\n",
        apart="def apart(): pass\n",
    )


def test_a_change_reaches_those_who_see_it_only_through_others(folder, code):
    chain(folder)
    code.refresh()
    before = {edge.target for edge in code.graph.callees("use.py::use")}

    text = (folder / "middle.py").read_text()
    (folder / "middle.py").write_text(text.replace("Base", "Other"))
    done = code.refresh()

    assert "base.py::Base.run" in before
    assert "base.py::Other.run" in {edge.target for edge in code.graph.callees("use.py::use")}
    assert done.resolved == 3


def test_a_new_name_that_nobody_says_costs_one_file(folder, code):
    chain(folder)
    code.refresh()

    text = (folder / "base.py").read_text()
    (folder / "base.py").write_text(text + "\n\ndef quite_new(): pass\n")

    assert code.refresh().resolved == 1


def test_a_change_that_touches_nearly_everyone_is_answered_by_resolving_all(folder, code):
    users = {
        f"u{number}": f"from base import make\n\ndef u{number}():\n    make().run()\n" for number in range(40)
    }
    base = "class A:\n    def run(self): pass\n\nclass B:\n    def run(self): pass\n\ndef make():\n    return A()\n"
    write(folder, base=base, apart="def apart(): pass\n", **users)
    code.refresh()

    write(folder, base=base.replace("return A()", "return B()"))
    done = code.refresh()

    assert done.resolved == 42
    assert {edge.target for edge in code.graph.callees("u7.py::u7")} == {"base.py::make", "base.py::B.run"}


EDITS = {
    "a body": ("        return self.size()", "        print(self)\n        return self.size()"),
    "a function at the end": ("# end", "def late():\n    return Cart()\n"),
    "a function in the middle": ("class Cart", "def early(): pass\n\n\nclass Cart"),
    "a method that a subclass elsewhere inherits": ("# more", "    def weigh(self): pass\n"),
    "another base": ("class Cart:", "class Cart(Box):"),
    "another type behind the same name": ("kept = Cart()", "kept = Box()"),
    "a name that others say": ("def size", "def length"),
}


@pytest.mark.parametrize("warm", [True, False])
@pytest.mark.parametrize("old, new", EDITS.values(), ids=EDITS)
def test_what_is_known_of_other_files_is_kept_only_while_it_is_true(
    folder, code, open_code, tmp_path, old, new, warm
):
    write(
        folder,
        cart="from wagon import Wagon\n\n\nclass Box:\n    def size(self): pass\n\n\nkept = Cart()\n\n\n"
        "def push():\n    Wagon().weigh()\n    Wagon().size()\n    late()\n\n\nclass Cart:\n"
        "    def size(self): pass\n\n    def all(self):\n        return self.size()\n\n# more\n\n# end\n",
        wagon="import cart\n\n\nclass Wagon(cart.Cart):\n    def pull(self):\n        cart.kept.size()\n        self.size()\n",
        yard="import wagon\n\n\ndef park():\n    wagon.Wagon().all().size()\n    wagon.Wagon().pull()\n",
    )
    code.refresh()
    (folder / "cart.py").write_text((folder / "cart.py").read_text() + "\n")
    code.refresh()
    asked = code if warm else open_code()

    (folder / "cart.py").write_text((folder / "cart.py").read_text().replace(old, new, 1))
    asked.refresh()

    assert edges(asked.graph) == anew(folder, tmp_path)


def edges(graph):
    return {path: set(leaf.edges) for path, leaf in graph.leaves.items()}


def anew(root, tmp_path):
    """The edges that a graph made from nothing has."""
    built = Builder(root, tmp_path / "anew.db", None)
    built.refresh()
    built.close()
    return edges(built.graph)
