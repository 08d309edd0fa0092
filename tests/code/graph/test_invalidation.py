"""How far a change in one file reaches."""

import pytest
from sources import edges, edges_anew, write

from recollect.code.graph.build import Builder
from recollect.code.graph.invalidation import changed_names
from recollect.code.languages.parser import parse


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
    assert done.affected == 3


def test_a_new_name_that_nobody_says_costs_one_file(folder, code):
    chain(folder)
    code.refresh()

    text = (folder / "base.py").read_text()
    (folder / "base.py").write_text(text + "\n\ndef quite_new(): pass\n")

    assert code.refresh().affected == 1


def test_a_change_that_touches_nearly_everyone_is_answered_by_resolving_all(folder, code):
    users = {
        f"u{number}": f"from base import make\n\ndef u{number}():\n    make().run()\n" for number in range(40)
    }
    base = "class A:\n    def run(self): pass\n\nclass B:\n    def run(self): pass\n\ndef make():\n    return A()\n"
    write(folder, base=base, apart="def apart(): pass\n", **users)
    code.refresh()

    write(folder, base=base.replace("return A()", "return B()"))
    done = code.refresh()

    assert done.affected == 42
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

    assert edges(asked.graph) == edges_anew(folder, tmp_path)


TWO = "class A:\n    def run(self): pass\n\nclass B:\n    def run(self): pass\n\n"
USE = "from lib import make\n\ndef use():\n    make().run()\n"
REACHING = {
    "what a function yields": (
        {
            "lib": TWO + "def make():\n    yield A()\n",
            "use": "from lib import make\n\ndef use():\n    for one in make():\n        one.run()\n",
        },
        {"lib": TWO + "def make():\n    yield B()\n"},
    ),
    "a local name behind another": (
        {"lib": TWO + "def make():\n    one = A()\n    other = one\n    return other\n", "use": USE},
        {"lib": TWO + "def make():\n    one = B()\n    other = one\n    return other\n"},
    ),
    "a local name behind an attribute": (
        {
            "lib": TWO + "class Box:\n    def __init__(self):\n        one = A()\n        self.thing = one\n",
            "use": "from lib import Box\n\ndef use():\n    Box().thing.run()\n",
        },
        {"lib": TWO + "class Box:\n    def __init__(self):\n        one = B()\n        self.thing = one\n"},
    ),
    "an import inside of a function": (
        {"one": TWO, "two": TWO, "lib": "def make():\n    from one import A\n    return A()\n", "use": USE},
        {"lib": "def make():\n    from two import A\n    return A()\n"},
    ),
    "a class inside of a function": (
        {"lib": TWO + "def make():\n    class Own(A): pass\n    return Own()\n", "use": USE},
        {"lib": TWO + "def make():\n    class Own(B): pass\n    return Own()\n"},
    ),
    "the first list of exports": (
        {"lib": "def make(): pass\n\ndef other(): pass\n", "use": "from lib import *\n\nmake()\n"},
        {"lib": "__all__ = ['other']\n\ndef make(): pass\n\ndef other(): pass\n"},
    ),
    "an import of a module in a package": (
        {
            "pack/__init__": "def run(): pass\n",
            "pack/part": "",
            "lib": "import pack.part\n",
            "use": "import lib\n\nlib.pack.run()\n",
        },
        {"lib": "\n"},
    ),
    "another method of a name that was the only one": (
        {
            "lib": "class A:\n    def feed(self): pass\n",
            "other": "",
            "use": "def use(pet):\n    pet.feed()\n",
        },
        {"other": "class B:\n    def feed(self): pass\n"},
    ),
    "a new module of a package that others import": (
        {"pack/__init__": "", "use": "import pack\n\npack.part.run()\n"},
        {"pack/part": "def run(): pass\n"},
    ),
    "a folder that becomes a package": (
        {"far/pack/part": "def run(): pass\n", "use": "from pack.part import run\n\nrun()\n"},
        {"far/pack/__init__": ""},
    ),
}


def lay_out(root, files):
    for path, text in files.items():
        file = root / f"{path}.py"
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text)


@pytest.mark.parametrize("warm", [True, False])
@pytest.mark.parametrize("before, after", REACHING.values(), ids=REACHING)
def test_a_change_reaches_everyone_whose_edges_are_different_then(
    folder, code, open_code, tmp_path, before, after, warm
):
    lay_out(folder, before)
    code.refresh()
    old = edges(code.graph)

    lay_out(folder, after)
    asked = code if warm else open_code()
    asked.refresh()

    assert edges(asked.graph) == edges_anew(folder, tmp_path)
    assert edges(asked.graph)["use.py"] != old["use.py"]


def test_a_name_elsewhere_does_not_change_what_an_attribute_is(folder, code, tmp_path):
    write(
        folder,
        lib="def make(): pass\n\nclass Box:\n    def __init__(self):\n        self.handler = make\n",
        use="from lib import Box\n\ndef use():\n    return Box().handler\n",
        other="",
    )
    code.refresh()

    write(folder, other="def handler(): pass\n")
    code.refresh()

    assert edges(code.graph) == edges_anew(folder, tmp_path)


def test_what_was_cut_short_is_found_by_the_next_look(folder, code, tmp_path, monkeypatch):
    chain(folder)
    code.refresh()
    (folder / "apart.py").write_text("def apart():\n    return 1\n")
    code.refresh()
    text = (folder / "middle.py").read_text()
    (folder / "middle.py").write_text(text.replace("Base", "Other"))

    def interrupt(self, *what):
        raise KeyboardInterrupt

    with monkeypatch.context() as patched, pytest.raises(KeyboardInterrupt):
        patched.setattr(Builder, "_write_graph", interrupt)
        code.refresh()
    code.refresh()

    assert edges(code.graph) == edges_anew(folder, tmp_path)
