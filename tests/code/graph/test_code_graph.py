"""What one may ask of the graph."""

import pytest

from recollect.code.nodes import CodeEdge
from recollect.errors import UnknownName


@pytest.fixture
def graph(shop, code):
    return code.graph


def test_a_file_has_an_outline(graph):
    symbols = graph.outline("money.py")

    assert [symbol.id for symbol in symbols] == [
        "money.py::Money",
        "money.py::Money.plus",
        "money.py::total",
    ]
    assert (symbols[0].kind, symbols[0].line, symbols[0].end, symbols[0].doc) == ("class", 4, 8, "An amount.")
    assert graph.file_doc("money.py") == "Money and what is done with it."
    assert graph.language("money.py") == "python"
    assert graph.paths == ("cart.py", "money.py", "page.py")


def test_files_and_classes_contain_their_symbols(graph):
    assert [(edge.source, edge.target) for edge in graph.contents("money.py")] == [
        ("money.py", "money.py::Money"),
        ("money.py::Money", "money.py::Money.plus"),
        ("money.py", "money.py::total"),
    ]


@pytest.mark.parametrize(
    "name, ids",
    [
        ("total", ["money.py::total"]),
        ("Money.plus", ["money.py::Money.plus"]),
        ("money.py::Money.plus", ["money.py::Money.plus"]),
        ("money.Money.plus", ["money.py::Money.plus"]),
        ("MONEY", ["money.py::Money"]),
        ("money.plus", ["money.py::Money.plus"]),
        ("ney.plus", []),
        ("nothing", []),
        ("", []),
        ("::", []),
    ],
)
def test_a_symbol_is_found_by_name_or_the_end_of_its_id(graph, name, ids):
    assert [symbol.id for symbol in graph.find(name)] == ids


def test_a_name_in_its_own_case_is_preferred(folder, code):
    (folder / "a.py").write_text("def run(): pass\nclass Run: pass\n")

    assert [symbol.id for symbol in code.graph.find("Run")] == ["a.py::Run"]
    assert [symbol.id for symbol in code.graph.find("RUN")] == ["a.py::run", "a.py::Run"]


def test_a_method_outside_of_its_class_is_found_by_its_own_name(folder, code):
    (folder / "server.go").write_text("package main\n\ntype Server struct{}\n\nfunc (s *Server) Run() {}\n")

    assert [(each.id, each.name) for each in code.graph.find("Run")] == [("server.go::Server.Run", "Run")]
    assert code.graph.near("runn") == ["Run"]


def test_a_mistyped_name_has_near_ones(graph):
    assert graph.near("chekout") == ["checkout"]


def test_callers_and_callees(graph):
    assert [(edge.source, edge.rule) for edge in graph.callers("money.py::total")] == [
        ("cart.py::Cart.pay", "import")
    ]
    assert {edge.target for edge in graph.callees("cart.py::Cart")} == {
        "external:requests.post",
        "money.py::total",
    }


def test_calls_from_code_come_before_those_from_tests(folder, code):
    (folder / "pay.py").write_text("def pay(): pass\n")
    (folder / "examples").mkdir()
    for file in ("examples/buy.py", "shop.py", "test_pay.py"):
        (folder / file).write_text("from pay import pay\ndef run():\n    pay()\n")

    found = [edge.source for edge in code.graph.callers("pay.py::pay")]

    assert (found[0], set(found[1:])) == ("shop.py::run", {"examples/buy.py::run", "test_pay.py::run"})


def test_a_class_that_inherits_a_generic_is_listed_once(folder, code):
    (folder / "till.py").write_text("class Till(Generic[T]): ...\nclass Own(Till[int]): ...\n")

    assert [(edge.source, edge.kind) for edge in code.graph.callers("till.py::Till")] == [
        ("till.py::Own", "inherits")
    ]


def test_the_methods_of_a_class_are_not_listed_as_its_users(folder, code):
    source = "package a\ntype Till struct{}\nfunc (t *Till) Pay() {}\nfunc Run(t *Till) {}\n"
    (folder / "till.go").write_text(source)

    assert [edge.source for edge in code.graph.callers("till.go::Till")] == ["till.go::Run"]


def test_an_inherited_method_is_found_by_the_name_of_the_class_that_inherits_it(folder, code):
    (folder / "till.py").write_text("class Till:\n    def close(self): ...\n")
    (folder / "own.py").write_text("from till import Till\nclass Own(Till): ...\nclass Mine(Own): ...\n")

    assert [each.id for each in code.graph.symbols_named("Mine.close")] == ["till.py::Till.close"]
    with pytest.raises(UnknownName):
        code.graph.symbols_named("Mine.open")


def test_what_is_only_possible_is_shown_on_request(folder, code):
    (folder / "a.py").write_text("class A:\n    def unusual_name(self): pass\n")
    (folder / "b.py").write_text("def f(x):\n    x.unusual_name()\n")

    sure = code.graph.callers("a.py::A.unusual_name")
    possible = code.graph.callers("a.py::A.unusual_name", possible=True)

    assert sure == ()
    assert possible == (CodeEdge("b.py::f", "calls", "a.py::A.unusual_name", "name", 2),)


def test_a_file_depends_on_what_it_imports(graph):
    assert [(edge.kind, edge.target) for edge in graph.dependencies("cart.py")] == [
        ("imports", "money.py"),
        ("imports", "external:requests"),
    ]
    assert [edge.source for edge in graph.dependents("money.py")] == ["cart.py"]


def test_what_may_break_is_reached_backwards_and_fades_with_distance(graph):
    reached = {each.id: each for each in graph.impact("money.py")}

    assert reached["cart.py::Cart.pay"].distance == 1
    assert reached["cart.py::checkout"].distance == 2
    assert reached["page.py::show"].distance == 3
    assert reached["page.py::show"].weight < reached["cart.py::checkout"].weight
    assert reached["cart.py::Cart"].because.kind == "inherits"
    assert "money.py::total" not in reached


def test_nothing_breaks_when_nobody_uses_it(graph):
    assert graph.impact("page.py") == ()


def test_links_between_files_add_up(graph):
    links = graph.file_links()

    assert set(links["cart.py"]) == {"money.py"}
    assert links["cart.py"]["money.py"] > links["page.py"]["cart.py"] > 0
    assert links["money.py"] == {}


def test_files_are_found_by_the_end_of_their_path(folder, code):
    (folder / "src").mkdir()
    (folder / "src/app.py").write_text("")

    assert code.graph.find_files("app.py") == ("src/app.py",)
    assert code.graph.find_files("pp.py") == ()
