"""Edges are resolved when someone asks for them, and are the same whoever asks for what and when."""

import random
import shutil
import sqlite3
from pathlib import Path

import pytest
from sources import edges, edges_anew, write

import recollect.code
from recollect.code.codebase import Codebase


@pytest.fixture
def open_lazily(folder, database):
    """Opens the same codebase as often as it is called, as other processes would."""
    opened = []

    def open_one():
        opened.append(Codebase(folder, database, None))
        return opened[-1]

    yield open_one
    for code in opened:
        code.close()


@pytest.fixture
def code(open_lazily):
    return open_lazily()


def test_a_refresh_resolves_no_edges(shop, code):
    code.refresh()

    assert code.graph.pending(code.graph.paths) == ["cart.py", "money.py", "page.py"]


def test_what_a_file_needs_is_found_without_resolving_others(shop, code, open_lazily):
    callees = {edge.target for edge in code.graph.callees("page.py::show")}
    dependencies = [edge.target for edge in code.graph.dependencies("page.py")]

    assert callees == {"cart.py::checkout"}
    assert dependencies == ["cart.py"]
    assert code.graph.pending(code.graph.paths) == ["cart.py", "money.py"]
    later = open_lazily().graph
    assert later.pending(later.paths) == ["cart.py", "money.py"]


@pytest.mark.parametrize(
    "ask",
    [
        lambda graph: graph.callers("money.py::total"),
        lambda graph: graph.dependents("money.py"),
        lambda graph: graph.impact("money.py"),
        lambda graph: graph.file_links()["cart.py"],
    ],
    ids=["callers", "dependents", "impact", "links"],
)
def test_who_needs_a_file_is_found_by_resolving_all(shop, code, open_lazily, ask):
    assert ask(code.graph)
    assert not code.graph.pending(code.graph.paths)
    later = open_lazily().graph
    assert not later.pending(later.paths)


def test_a_change_leaves_the_edges_that_it_does_not_affect(shop, code):
    code.graph.resolve()

    write(shop, page="import cart\n\n\ndef show():\n    cart.Cart()\n")
    code.refresh()

    assert code.graph.pending(code.graph.paths) == ["page.py"]
    assert "page.py::show" in {edge.source for edge in code.graph.callers("cart.py::Cart")}


def test_an_older_graph_still_answers_for_its_own_files(shop, code):
    code.refresh()
    before = code.graph

    write(shop, page="def show(): pass\n", cart="def pay(): pass\n")
    code.refresh()

    assert [edge.target for edge in before.callees("page.py::show")] == ["cart.py::checkout"]
    assert code.graph.callees("page.py::show") == ()


def test_edges_that_another_process_resolved_are_affected_by_a_change_here(folder, open_lazily, tmp_path):
    """What most receivers of a name are is known only to the process that had to find it out."""
    till = "class Till:\n    def ring(self): pass\n\nclass Bell:\n    def ring(self): pass\n"
    gives = "from till import Till, Bell\n\ndef open():\n    desk = Till()\n"
    write(folder, till=till, first=gives, second=gives, use="def use(desk):\n    desk.ring()\n")
    here, there = open_lazily(), open_lazily()
    here.graph.edges_of("first.py")
    there.graph.edges_of("use.py")

    write(folder, first=gives.replace("Till()", "Bell()"), second=gives.replace("Till()", "Bell()"))
    here.refresh()

    assert edges(here.graph) == edges(open_lazily().graph) == edges_anew(folder, tmp_path)


def test_edges_resolved_for_files_that_another_process_changed_are_not_stored(shop, open_lazily, tmp_path):
    here, there = open_lazily(), open_lazily()
    here.refresh()
    before = here.graph
    write(shop, cart="def checkout(): pass\n")
    there.refresh()

    callees = {edge.target for edge in before.callees("cart.py::checkout")}

    assert callees == {"cart.py::Cart", "cart.py::Cart.pay"}
    assert edges(open_lazily().graph) == edges_anew(shop, tmp_path)


def test_resolving_can_be_stopped(shop, code):
    code.refresh()

    assert not code.graph.resolve(stop=lambda: True)
    assert len(code.graph.pending(code.graph.paths)) == 3
    assert code.graph.resolve()


def test_progress_is_told_up_to_the_total(shop, code):
    told = []
    code.refresh()

    code.graph.resolve(progress=lambda done, total: told.append((done, total)))

    assert told == [(1, 3), (2, 3), (3, 3)]


def test_damage_is_noticed_when_edges_are_resolved_and_repaired_by_the_next_refresh(
    shop, code, database, tmp_path, caplog
):
    code.refresh()
    with sqlite3.connect(database) as connection:
        connection.execute("UPDATE parses SET rest = x'00'")
    connection.close()

    assert code.graph.callees("page.py::show") == ()
    assert "cannot be resolved now" in caplog.text
    assert code.refresh().parsed == 3
    assert edges(code.graph) == edges_anew(shop, tmp_path)


def test_edges_are_not_stored_before_the_files_that_they_follow_from(shop, code, open_lazily, tmp_path):
    code.graph.resolve()
    database = code._builder._database
    write(shop, cart="def checkout():\n    return 1\n")

    database._connection.execute(
        "CREATE TEMP TRIGGER full BEFORE INSERT ON files BEGIN SELECT raise(ABORT, 'full'); END"
    )
    code.refresh()
    expected = edges_anew(shop, tmp_path)

    assert edges(code.graph) == expected
    database._connection.execute("DROP TRIGGER full")
    assert edges(open_lazily().graph) == expected


def test_the_edges_of_this_package_do_not_depend_on_who_asks_for_what(folder, open_lazily, tmp_path):
    shutil.copytree(Path(recollect.code.__file__).parent, folder / "code")
    random_numbers = random.Random(19)
    for name in ("facts", "graph/graph", "languages/python/values"):
        code = open_lazily()
        for path in random_numbers.sample(code.graph.paths, 20):
            code.graph.edges_of(path)
        file = folder / "code" / f"{name}.py"
        text = file.read_text()
        file.write_text(text.replace("def __init__(self", "def made(self") + "\n\ndef added(): pass\n")
        code.refresh()
        code.graph.resolve(random_numbers.sample(code.graph.paths, 20))

    assert edges(open_lazily().graph) == edges_anew(folder, tmp_path)
