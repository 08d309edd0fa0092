import random
from textwrap import dedent

import pytest

from recollect.code.languages.parser import parse
from recollect.code.languages.python.modules import PythonModules
from recollect.code.languages.python.resolver import PythonResolver
from recollect.code.nodes import CALLS, IMPORTS, INHERITS, POSSIBLE, REFERENCES, USES, CodeEdge


def project(files):
    return PythonResolver({path: parse("python", dedent(text).encode()) for path, text in files.items()})


def calls(files, path="app.py"):
    """Caller, called and rule, shortened to what follows `::`; only what is shown by default."""
    return {
        (edge.source.partition("::")[2], edge.target, edge.rule)
        for edge in project(files).edges(path)
        if edge.kind == CALLS and edge.confidence >= POSSIBLE
    }


SHOP = """
    class Till:
        def __init__(self): ...
        def open(self) -> "Till": ...
        def close(self): ...
"""


def test_a_name_is_looked_for_from_the_inside_out():
    found = calls(
        {
            "app.py": """
                def helper(): ...

                class A:
                    def helper(self): ...
                    def run(self):
                        helper()

                def outer():
                    def helper(): ...
                    def inner():
                        helper()
                    inner()
            """
        }
    )

    assert found == {
        ("A.run", "app.py::helper", "scope"),
        ("outer.inner", "app.py::outer.helper", "scope"),
        ("outer", "app.py::outer.inner", "scope"),
    }


def test_calls_in_defaults_decorators_and_annotations_run_where_the_function_is_defined():
    found = calls(
        {
            "app.py": """
                def clock(): ...
                def note(text): ...
                def logged(name): ...
                LIMIT = 3

                def outer():
                    @logged("inner")
                    def inner(at=clock(), *, most=LIMIT, why: Annotated[str, note("why")] = "") -> note("x"):
                        note("inside")

                class Till:
                    zero = clock()

                    @logged("open")
                    def open(self, at=clock()): ...

                def closed(at=[clock()]): ...
            """
        }
    )

    assert found == {
        ("outer", "app.py::logged", "scope"),
        ("outer", "app.py::clock", "scope"),
        ("outer", "app.py::note", "scope"),
        ("outer.inner", "app.py::note", "scope"),
        ("Till", "app.py::clock", "scope"),
        ("Till", "app.py::logged", "scope"),
        ("", "app.py::clock", "scope"),
    }


def test_a_constant_in_a_default_is_used_by_the_function():
    files = {"app.py": "LIMIT = 3\n\n\ndef few(most=LIMIT, other=max(LIMIT, 1)): ...\n"}

    found = {(edge.source, edge.target) for edge in project(files).edges("app.py") if edge.kind == USES}

    assert found == {("app.py::few", "app.py::LIMIT")}


@pytest.mark.parametrize(
    "imported, called",
    [
        ("from shop.till import open_till", "open_till()"),
        ("from shop.till import open_till as start", "start()"),
        ("from shop import open_till", "open_till()"),
        ("from shop import till", "till.open_till()"),
        ("from shop.everything import *", "open_till()"),
        ("import shop.till", "shop.till.open_till()"),
        ("import shop.till as t", "t.open_till()"),
        ("from .shop.till import open_till", "open_till()"),
        (
            "try:\n    from fast import open_till\nexcept ImportError:\n    from shop import open_till",
            "open_till()",
        ),
    ],
)
def test_imports_are_followed_to_where_a_function_is_defined(imported, called):
    files = {
        "shop/__init__.py": "from .till import open_till",
        "shop/till.py": "def open_till(): ...",
        "shop/everything.py": "from .till import *\nfrom .till import open_till as _hidden",
    }

    at_the_top = calls(files | {"app.py": f"{imported}\n\ndef run():\n    {called}"})
    inside = calls(
        files | {"app.py": f"def run():\n    {imported.replace(chr(10), chr(10) + '    ')}\n    {called}"}
    )

    assert ("run", "shop/till.py::open_till", "import") in at_the_top
    if "*" not in imported:
        assert ("run", "shop/till.py::open_till", "import") in inside


def test_a_star_brings_only_what_is_listed():
    files = {
        "shop.py": "__all__ = ['sell']\ndef sell(): ...\ndef steal(): ...",
        "app.py": "from shop import *\n\ndef run():\n    sell()\n    steal()",
    }

    assert calls(files) == {("run", "shop.py::sell", "import")}


def test_what_is_outside_is_kept_as_such_and_builtins_are_not():
    found = calls(
        {
            "json.py": "def dumps(): ...",
            "app.py": """
                import requests
                import json
                from numpy.linalg import norm

                class Failed(ValueError, requests.Timeout): ...

                def run():
                    session = requests.Session()
                    session.get()
                    print(len(norm()))
                    json.dumps()
            """,
        }
    )

    assert found == {
        ("run", "external:requests.Session", "import"),
        ("run", "external:requests.Session.get", "type"),
        ("run", "external:numpy.linalg.norm", "import"),
        ("run", "external:json.dumps", "import"),
    }


def test_self_cls_and_super_go_through_the_bases_in_their_order():
    found = calls(
        {
            "app.py": """
                class Base:
                    def greet(self): ...
                    def only_base(self): ...

                class Left(Base):
                    def greet(self):
                        super().greet()

                class Right(Base):
                    def greet(self): ...
                    def only_base(self): ...

                class Both(Left, Right):
                    def run(self):
                        self.greet()
                        self.only_base()

                    @classmethod
                    def make(cls):
                        cls.make()
                        type(cls).make()
                        def later():
                            cls.run()
            """
        }
    )

    assert found == {
        ("Left.greet", "app.py::Base.greet", "self"),
        ("Both.run", "app.py::Left.greet", "self"),
        ("Both.run", "app.py::Right.only_base", "self"),
        ("Both.make", "app.py::Both.make", "self"),
        ("Both.make.later", "app.py::Both.run", "self"),
    }


@pytest.mark.parametrize(
    "body",
    [
        "def run(till: Till):\n    till.close()",
        "def run(till: 'Till | None'):\n    till.close()",
        "def run(till: Optional[Till]):\n    till.close()",
        "def run(tills: list[Till]):\n    for till in tills:\n        till.close()",
        "def run(tills: list[Till]):\n    tills[0].close()",
        "def run(tills: dict[str, Till]):\n    for name, till in tills.items():\n        till.close()",
        "def run(tills: dict[str, Till]):\n    tills.get('a').close()",
        "def run(*tills: Till):\n    [till.close() for till in tills]",
        "def run(kind: type[Till]):\n    kind().close()",
        "def run(make: Callable[[int], Till]):\n    make().close()",
        "def run(pair: tuple[int, Till]):\n    _, till = pair\n    till.close()",
        "def run():\n    till = Till()\n    till.close()",
        "def run():\n    Till().open().close()",
        "def run(given=None):\n    (given or Till()).close()\n    till = given or Till()\n    till.close()",
        "def run(x):\n    if isinstance(x, Till):\n        x.close()",
        "def run(x):\n    cast('Till', x).close()\n    till = cast(Till, x)\n    till.close()",
        "def make() -> Till: ...\ndef run():\n    make().close()",
        "def make():\n    return Till()\ndef run():\n    make().close()",
        "async def make() -> Till: ...\nasync def run():\n    (await make()).close()",
        "the_till = Till()\ndef run():\n    the_till.close()",
        "T = TypeVar('T', bound=Till)\ndef run(till: T):\n    till.close()",
        "@contextmanager\ndef opened() -> Iterator[Till]: ...\ndef run():\n    with opened() as till:\n        till.close()",
        "@contextmanager\ndef opened():\n    yield Till()\ndef run():\n    with opened() as till:\n        till.close()",
        "@cache\ndef make() -> Till: ...\ndef run():\n    make().close()",
        "if (till := Till()):\n    pass\ndef run():\n    till.close()",
        "def run(tills: list[Till]):\n    for at, till in enumerate(sorted(tills)):\n        till.close()",
        "def run():\n    try: ...\n    except (KeyError, Till) as till:\n        till.close()",
        "def run(url: Till | str):\n    url = url.open()\n    url.close()",
        "def run(kind=Till):\n    kind().close()",
        "def run(kind=None):\n    till = (kind or Till)()\n    till.close()",
        "TILL = Till()\ndef run(till=TILL):\n    till.close()",
        "_till = Till()\ndef run(till=_till):\n    till.close()",
        "class Own:\n    def __init__(self, kind=Till):\n        self.till = kind()\ndef run(own: Own):\n    own.till.close()",
        "Either = Union[Till, str]\ndef run(till: Either):\n    till.close()",
        "Either = Till | None\ndef run(tills: set[Either]):\n    for till in list(tills):\n        till.close()",
        "Either: TypeAlias = Optional[Till]\ndef run(till: Either):\n    till.close()",
        "Either = Union['Till', str]\ndef run(x):\n    if isinstance(x, Either):\n        x.close()",
        "S = TypeVar('S')\nclass Own(Till):\n    def __enter__(self: S) -> S: ...\ndef run():\n    with Own() as own:\n        own.close()",
    ],
)
def test_types_are_followed(body):
    head = "from typing import *\nfrom contextlib import contextmanager\nfrom shop import Till\n"

    found = calls({"shop.py": SHOP, "app.py": f"{head}\n{body}"})

    assert ("run", "shop.py::Till.close", "type") in found


@pytest.mark.parametrize("default", ["None", "True", "make()", "'Till'", "till", "other", "3"])
def test_only_a_class_or_constant_that_is_a_default_tells_the_type_of_a_parameter(default):
    facts = parse("python", f"def run(till={default}): ...".encode())

    assert list(facts.bindings) == []


def test_flags_that_are_combined_are_no_types():
    found = calls(
        {"app.py": "class FLAG:\n    def close(self): ...\nboth = FLAG | FLAG\ndef run():\n    both.close()"}
    )

    assert found == set()


@pytest.mark.parametrize(
    "attribute",
    [
        "def __init__(self):\n        self.till = Till()",
        "def __init__(self, till: Till):\n        self.till = till",
        "till: Till",
        "till = Till()",
        "@property\n    def till(self) -> Till: ...",
        "@cached_property\n    def till(self):\n        return Till()",
        "def prepare(self):\n        self.till: Till | None = None",
        "till = Lazy()",
    ],
)
def test_attributes_are_followed(attribute):
    source = f"""
from shop import Till

class Lazy:
    def __get__(self, instance, owner) -> Till: ...

class Shop:
    {attribute}

class Branch(Shop):
    def run(self):
        self.till.close()
"""

    found = calls({"shop.py": SHOP, "app.py": source})

    assert ("Branch.run", "shop.py::Till.close", "type") in found


def test_reading_a_property_calls_it_and_assigning_to_self_does_not_hide_it():
    found = calls(
        {
            "app.py": """
                class Base:
                    @property
                    def debug(self) -> bool: ...
                    @debug.setter
                    def debug(self, value): ...

                class App(Base):
                    def run(self):
                        self.debug = True
                        if self.debug: ...
                        self.debug.bit_length()
            """
        }
    )

    assert {edge for edge in found if "external" not in edge[1]} == {
        ("App.run", "app.py::Base.debug", "self")
    }


def test_calling_a_class_calls_its_constructor_and_the_class_if_it_has_none_of_its_own():
    found = calls(
        {
            "shop.py": SHOP,
            "app.py": """
                from shop import Till

                class Small(Till): ...
                class Bare: ...
                class Called:
                    def __call__(self): ...

                def run():
                    Small()
                    Bare()
                    Called()()
            """,
        }
    )

    assert found == {
        ("run", "shop.py::Till.__init__", "scope"),
        ("run", "app.py::Small", "scope"),
        ("run", "app.py::Bare", "scope"),
        ("run", "app.py::Called", "scope"),
        ("run", "app.py::Called.__call__", "type"),
    }


def test_self_as_a_return_type_is_what_the_method_was_called_on():
    found = calls(
        {
            "app.py": """
                class Query:
                    def filter(self) -> Self: ...
                    def order(self):
                        return self
                    def __enter__(self) -> "Self": ...

                class Special(Query):
                    def only_here(self): ...

                def run():
                    Special().filter().order().only_here()
                    with Special() as query:
                        query.only_here()
            """.replace("class Query", "from typing import Self\n\n                class Query")
        }
    )

    assert ("run", "app.py::Special.only_here", "type") in found


def test_the_vote_says_what_a_receiver_without_a_type_mostly_is():
    files = {
        "shop.py": SHOP,
        "one.py": "from shop import Till\ndef one(till: Till): ...",
        "two.py": "from shop import Till\ndef two():\n    till = Till()",
        "app.py": "def run(till):\n    till.close()\n    till.unknown()",
    }

    assert calls(files) == {("run", "shop.py::Till.close", "vote")}


def test_a_name_that_means_several_things_gets_no_vote():
    files = {
        "shop.py": SHOP + "\n    class Drawer:\n        def close(self): ...",
        "one.py": "from shop import Till, Drawer\ndef one(till: Till): ...\ndef two(till: Drawer): ...",
        "app.py": "def run(till):\n    till.close()",
    }

    assert calls(files) == set()


def test_the_only_method_of_a_name_is_merely_possible():
    resolver = project(
        {
            "shop.py": "class Till:\n    def reconcile(self): ...\n    def append(self): ...",
            "app.py": "def run(x):\n    x.reconcile()\n    x.append()\n    [].reconcile()",
        }
    )

    assert resolver.edges("app.py") == [
        CodeEdge("app.py::run", CALLS, "shop.py::Till.reconcile", "name", 2),
    ]


def test_bases_imports_uses_and_references_are_edges_too():
    resolver = project(
        {
            "shop/__init__.py": "",
            "shop/till.py": SHOP + "\n    LIMIT = 3\n    def check(f): ...",
            "app.py": """
                import os.path
                from shop import till
                from shop.till import Till, LIMIT, check

                class Small(Till):
                    @check
                    def run(self) -> Till:
                        return min(LIMIT, till.LIMIT, key=check)
            """,
        }
    )

    edges = {edge[:4] for edge in resolver.edges("app.py")}

    assert edges == {
        ("app.py", IMPORTS, "external:os.path", "written"),
        ("app.py", IMPORTS, "shop/till.py", "written"),
        ("app.py::Small", INHERITS, "shop/till.py::Till", "import"),
        ("app.py::Small.run", REFERENCES, "shop/till.py::check", "import"),
        ("app.py::Small.run", REFERENCES, "shop/till.py::Till", "import"),
        ("app.py::Small.run", USES, "shop/till.py::LIMIT", "import"),
    }


def test_an_absolute_import_means_the_nearest_package_and_no_stranger_s_module():
    files = {
        "one/lib/__init__.py": "def here(): ...",
        "two/lib/__init__.py": "def here(): ...",
        "scripts/yaml.py": "def load(): ...",
        "two/app.py": "import lib\nimport yaml\n\ndef run():\n    lib.here()\n    yaml.load()",
    }

    assert calls(files, "two/app.py") == {
        ("run", "two/lib/__init__.py::here", "import"),
        ("run", "external:yaml.load", "import"),
    }


def test_a_changed_file_is_seen_at_once_and_its_importers_are_named():
    resolver = project(
        {
            "shop/__init__.py": "from .till import open_till",
            "shop/till.py": "def open_till(): ...",
            "app.py": "from shop import open_till\n\ndef run():\n    open_till()",
            "other.py": "import json",
        }
    )
    before = [edge.target for edge in resolver.edges("app.py") if edge.kind == CALLS]

    importers = resolver.importers("shop/till.py")
    resolver.update("shop/till.py", parse("python", b"class open_till:\n    def __init__(self): ..."))
    changed = [edge.target for edge in resolver.edges("app.py") if edge.kind == CALLS]
    resolver.update("shop/till.py", None)
    gone = [edge.target for edge in resolver.edges("app.py") if edge.kind == CALLS]

    assert before == ["shop/till.py::open_till"]
    assert importers == {"shop/__init__.py", "app.py"}
    assert changed == ["shop/till.py::open_till.__init__"]
    assert gone == []


def test_a_file_that_comes_is_found_by_those_that_asked_for_it():
    resolver = project({"app.py": "from shop import sell\n\ndef run():\n    sell()"})

    resolver.update("shop.py", parse("python", b"def sell(): ..."))

    assert [edge.target for edge in resolver.edges("app.py")] == ["shop.py", "shop.py::sell"]


@pytest.mark.parametrize(
    "source",
    [
        "class A(A): ...\nA().run()",
        "class A(B): ...\nclass B(A): ...\nA().run()",
        "x = x\nx.run()\ny = z\nz = y\ny.run()",
        "from app import x\nx.run()",
        "from app import *\nx.run()",
        "def f():\n    return f()\nf().run()",
        "class A(X, Y): ...\nclass X: ...\nclass Y(X): ...\nA().run()",
        "\n".join(f"a{i + 1} = a{i}.b()" for i in range(400)) + "\na400.run()",
        "def f(x: " + "list[" * 300 + "]" * 300 + "): x.run()",
        "x: ']][[|,' = 1\nx.run()",
        "from ...... import x\nx.run()",
    ],
)
def test_circles_and_nonsense_come_to_an_end(source):
    assert isinstance(project({"app.py": source}).edges("app.py"), list)


def test_self_means_the_same_in_all_methods_of_a_class_and_no_others():
    files = {
        "app.py": """
            class Till:
                def open(self):
                    self.count()

                def close(self):
                    self.count()

                @classmethod
                def make(self):
                    self.count()

                def count(self): ...

            class Drawer:
                def close(self):
                    self.count()

                def count(self): ...

            def count(self):
                self.count()
        """
    }

    assert calls(files) == {
        ("Till.open", "app.py::Till.count", "self"),
        ("Till.close", "app.py::Till.count", "self"),
        ("Till.make", "app.py::Till.count", "self"),
        ("Drawer.close", "app.py::Drawer.count", "self"),
    }


def test_a_name_means_what_it_was_given_in_its_own_function():
    files = {
        "app.py": """
            class A:
                def go(self): ...

            class B:
                def go(self): ...

            thing = A()

            def first():
                thing.go()

            def second():
                thing = B()

                def inner():
                    thing.go()

            def third(thing: B):
                thing.go()
        """
    }

    assert calls(files) >= {
        ("first", "app.py::A.go", "type"),
        ("second.inner", "app.py::B.go", "type"),
        ("third", "app.py::B.go", "type"),
    }
    assert ("first", "app.py::B.go", "type") not in calls(files)


def test_a_type_variable_is_never_a_type():
    found = calls(
        {
            "app.py": """
                from typing import Generic, NewType, TypeVar

                T = TypeVar("T")
                Name = NewType("Name", str)

                def first(items: list[T], name: Name, one: T) -> T:
                    one.open()
                    name.open()
                    items[0].open()

                def use():
                    first([], "", 1).close()
            """
        }
    )

    assert {call for call in found if call[0]} == {("use", "app.py::first", "scope")}


def test_a_descriptor_with_one_type_argument_gives_that_type():
    found = calls(
        {
            "till.py": SHOP,
            "app.py": """
                from typing import Generic, TypeVar
                from till import Till

                T = TypeVar("T")

                class Late(Generic[T]):
                    def __get__(self, instance, owner) -> T: ...

                class App:
                    till: Late[Till] = Late()

                    def run(self):
                        self.till.close()
            """,
        }
    )

    assert ("App.run", "till.py::Till.close", "type") in found


def test_files_that_come_and_go_leave_the_index_of_a_new_project():
    chance = random.Random(5)
    names = ["a", "b", "c", "a.b", "b.c", "a.b.c", ".", "..", ".b", "..c", ".a.b", "d.x", "x", ".d.x"]
    possible = [
        f"{folder}{file}"
        for folder in ("", "src/", "a/", "a/b/", "c/", "src/a/b/")
        for file in ("a.py", "b.py", "b.pyi", "c.py", "d.x.py", "__init__.py")
    ]
    modules = PythonModules(possible[::3])
    present = set(possible[::3])

    for _ in range(150):
        path = chance.choice(possible)
        (modules.remove if path in present else modules.add)(path)
        present ^= {path}
        fresh = PythonModules(present)

        for importer in chance.sample(possible, 6):
            asked = {name: modules.imported(name, importer) for name in names}
            assert asked == {name: fresh.imported(name, importer) for name in names}


@pytest.mark.parametrize(
    "body",
    [
        "    if not isinstance(x, Till):\n        x.close()",
        "    if isinstance(x, Till):\n        return\n    x.close()",
        "    assert not isinstance(x, Till)\n    x.close()",
        "    if x and isinstance(x, (Till, int)):\n        raise KeyError\n    x.close()",
        "    if isinstance(x, Till):\n        print(x)\n    x.close()",
        "    if isinstance(x, Till):\n        print(x)\n    else:\n        x.close()",
        "    if isinstance(x, Till):\n        x = Shelf()\n        x.close()",
        "    if isinstance(x, Till) or x.close():\n        return",
        "    if isinstance(x, TILLS):\n        x.close()",
        "    match x:\n        case [Till()]:\n            x.close()",
        "    match x:\n        case Till() as y:\n            pass\n        case _:\n            x.close()",
    ],
)
def test_a_name_is_no_object_of_a_class_where_isinstance_says_no(body):
    source = f"from shop import Till\ndef run(x: Shelf):\n{body}"
    found = calls({"shop.py": SHOP, "app.py": f"class Shelf:\n    def close(self): ...\n{source}"})

    assert ("run", "app.py::Shelf.close", "type") in found
    assert not any(target == "shop.py::Till.close" for _, target, _ in found)


@pytest.mark.parametrize(
    "test",
    [
        "isinstance(x, Shelf) and isinstance(x.till, Till)",
        "isinstance(x.till, Till) and isinstance(x, Shelf)",
    ],
)
def test_what_is_said_of_an_attribute_counts_before_what_is_said_of_its_object(test):
    source = f"from shop import Till\nclass Shelf:\n    till = None\ndef run(x):\n    if {test}:\n        x.till.close()"

    found = calls({"shop.py": SHOP, "app.py": source})

    assert ("run", "shop.py::Till.close", "type") in found


@pytest.mark.parametrize(
    "body",
    [
        "    if not isinstance(x, Till):\n        raise TypeError\n    x.close()",
        "    if not isinstance(x, Till):\n        x = make(x)\n    x.close()",
        "    if isinstance(x, Till) and x.close():\n        return",
        "    if not isinstance(x, Till):\n        print()\n    else:\n        x.close()",
        "    assert isinstance(x, Till)\n    x.close()",
        "    return isinstance(x, Till) and x.close()",
        "    return x.close() if isinstance(x, Till) else None",
        "    return not isinstance(x, Till) or x.close()",
        "    return [y.close() for y in x if isinstance(y, Till)]",
        "    while isinstance(x, Till):\n        x.close()",
        "    if isinstance(x, (Till, str)):\n        x.close()",
        "    if isinstance(x, Till | None):\n        x.close()",
        "    if isinstance(x, Till) or isinstance(x, str):\n        x.close()",
        "    if isinstance(x.till, Till):\n        x.till.close()",
        "    import shop\n    if isinstance(x, shop.Till):\n        x.close()",
        "    match x:\n        case str() | Till(open=True) if x.close():\n            return",
        "    match x.till:\n        case Till():\n            x.till.close()",
        "    if isinstance(x, Till):\n        x = x.close()",
    ],
)
def test_a_name_is_an_object_of_a_class_where_isinstance_says_yes(body):
    found = calls({"shop.py": SHOP, "app.py": f"from shop import Till\ndef run(x):\n{body}"})

    assert ("run", "shop.py::Till.close", "type") in found


def test_calling_what_a_property_returns_calls_both():
    source = """
        class Till:
            def __call__(self): ...

        class Shop:
            @property
            def till(self) -> Till: ...

            def run(self):
                self.till()
    """

    found = {(source, target) for source, target, _ in calls({"app.py": source})}

    assert {("Shop.run", "app.py::Shop.till"), ("Shop.run", "app.py::Till.__call__")} <= found


@pytest.mark.parametrize(
    "body",
    [
        "    tills = [Till(), Till()]\n    tills[0].close()",
        "    tills = [Till() for _ in x]\n    for till in tills:\n        till.close()",
        "    tills = {Till(), Shelf()}\n    for till in tills:\n        till.close()",
    ],
)
def test_the_elements_of_a_list_are_objects_of_its_classes(body):
    source = f"from shop import Till\nclass Shelf: ...\ndef run(x):\n{body}"

    assert ("run", "shop.py::Till.close", "type") in calls({"shop.py": SHOP, "app.py": source})
