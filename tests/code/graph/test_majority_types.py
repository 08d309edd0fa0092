"""What a receiver of some name mostly is may be something else after a change in one file."""

import contextlib
from functools import partial

import apsw
import pytest
from sources import ResolvedBuilder, edges, edges_anew, write

TILL = "class Till:\n    def ring(self): pass\n\nclass Bell:\n    def ring(self): pass\n"
GIVES = "from till import Till, Bell\n\ndef open(customer):\n    desk = Till()\n    desk.ring()\n"


@pytest.fixture
def project(folder):
    """`use` knows nothing of a `desk` but what others call so."""
    write(
        folder,
        till=TILL,
        make="from till import Till, Bell\n\ndef make():\n    return Till()\n",
        first=GIVES,
        second="from make import make\n\ndesk = make()\n",
        use="def use(desk):\n    desk.ring()\n",
        apart="def apart(): pass\n",
    )
    return folder


CHANGES = {
    "a file gives the name something else": {"first": GIVES.replace("Till()", "Bell()")},
    "a file does not give it any more": {"first": GIVES.replace("desk = Till()", "desk = customer")},
    "it is given what another name was given": {
        "first": GIVES.replace("desk = Till()", "one = Bell()\n    desk = one")
    },
    "what is imported is something else": {"first": GIVES.replace("Till, Bell", "Bell as Till")},
    "a function gives back something else": {
        "make": "from till import Till, Bell\n\ndef make():\n    return Bell()\n"
    },
    "the class is called otherwise": {"till": TILL.replace("Till", "Desk")},
    "the class stands elsewhere in its file": {"till": "class Counter: pass\n\n" + TILL},
    "another file comes": {"third": "from till import Bell\n\ndesk = Bell()\n"},
    "a file goes": {"first": None},
    "the class goes": {"till": None},
}


@pytest.mark.parametrize("change", CHANGES.values(), ids=CHANGES)
def test_an_election_that_turns_is_followed(project, tmp_path, change):
    builder = ResolvedBuilder(project, tmp_path / "kept.db", None)
    builder.refresh()

    for name, text in change.items():
        if text is None:
            (project / f"{name}.py").unlink()
        else:
            write(project, **{name: text})
    builder.refresh()

    assert edges(builder.graph) == edges_anew(project, tmp_path)


def test_who_comes_later_does_not_believe_an_election_that_turned_meanwhile(project, tmp_path):
    builder = ResolvedBuilder(project, tmp_path / "kept.db", None)
    builder.refresh()
    write(project, first=GIVES.replace("desk = Till()", "desk = customer"))
    builder.refresh()

    later = ResolvedBuilder(project, tmp_path / "kept.db", None)
    write(project, use="def use(desk):\n    desk.ring()\n    return desk\n")
    later.refresh()

    assert edges(later.graph) == edges_anew(project, tmp_path)


def test_who_comes_later_knows_how_an_election_turned_in_files_that_did_not_change(project, tmp_path):
    write(project, first="from make import make\n\ndesk = make()\n")
    builder = ResolvedBuilder(project, tmp_path / "kept.db", None)
    builder.refresh()
    write(project, make="from till import Till, Bell\n\ndef make():\n    return Bell()\n")
    builder.refresh()

    later = ResolvedBuilder(project, tmp_path / "kept.db", None)
    write(project, other="def other(desk):\n    desk.ring()\n")
    later.refresh()

    assert edges(later.graph) == edges_anew(project, tmp_path)


def test_an_election_that_turned_in_a_refresh_that_was_stopped_is_followed_by_the_next(project, tmp_path):
    write(project, first="from make import make\n\ndesk = make()\n")
    builder = ResolvedBuilder(project, tmp_path / "kept.db", None)
    builder.refresh()
    write(project, make="from till import Till, Bell\n\ndef make():\n    return Bell()\n")

    for patience in range(20):  # wherever it is stopped
        builder.refresh(stop=partial(next, iter([False] * patience), True))

    assert edges(builder.graph) == edges_anew(project, tmp_path)


def test_an_election_that_turns_later_is_followed_where_it_did_not_turn_at_first(project, tmp_path):
    builder = ResolvedBuilder(project, tmp_path / "kept.db", None)
    builder.refresh()
    write(project, first=GIVES + "\ndesk = Till()\n")
    builder.refresh()

    later = ResolvedBuilder(project, tmp_path / "kept.db", None)
    write(project, first=GIVES.replace("Till()", "Bell()"))
    later.refresh()

    assert edges(later.graph) == edges_anew(project, tmp_path)


def test_an_election_that_was_held_for_one_new_file_is_known_to_who_comes_later(project, tmp_path):
    (project / "use.py").unlink()
    builder = ResolvedBuilder(project, tmp_path / "kept.db", None)
    builder.refresh()
    write(project, use="def use(desk):\n    desk.ring()\n")
    builder.refresh()

    later = ResolvedBuilder(project, tmp_path / "kept.db", None)
    write(project, first=GIVES.replace("Till()", "Bell()"))
    later.refresh()

    assert edges(later.graph) == edges_anew(project, tmp_path)


def test_what_could_not_be_written_is_written_with_the_next_change(project, tmp_path):
    builder = ResolvedBuilder(project, tmp_path / "kept.db", None)
    builder.refresh()
    write(project, till="class Counter: pass\n\n" + TILL, fresh="def fresh(): pass\n")
    with contextlib.closing(apsw.Connection(str(tmp_path / "kept.db"))) as other:
        other.execute("CREATE TRIGGER full BEFORE DELETE ON files BEGIN SELECT raise(ABORT, 'full'); END")
        builder.refresh()
        other.execute("DROP TRIGGER full")

    write(project, apart="def apart(): return 1\n")
    builder.refresh()
    later = ResolvedBuilder(project, tmp_path / "kept.db", None)

    assert edges(later.graph) == edges(builder.graph)


HORN = TILL + "\nclass Horn:\n    def ring(self): pass\n"
ELECTED = {
    "loses a method": (HORN, HORN.replace("ring", "sing", 1)),
    "gets a method": (HORN.replace("ring", "sing", 1), HORN),
    "has another base": (
        HORN.replace("class Till:\n    def ring(self): pass", "class Till(Horn): pass"),
        HORN.replace("class Till:\n    def ring(self): pass", "class Till(Bell): pass"),
    ),
}


@pytest.mark.parametrize(("before", "after"), ELECTED.values(), ids=ELECTED)
def test_who_takes_a_receiver_for_a_class_hears_that_the_class(project, tmp_path, before, after):
    write(project, till=before)
    builder = ResolvedBuilder(project, tmp_path / "kept.db", None)
    builder.refresh()

    write(project, till=after)
    builder.refresh()

    assert edges(builder.graph) == edges_anew(project, tmp_path)


def test_an_election_is_held_again_where_everything_was_imported_and_is_not_any_more(project, tmp_path):
    make = "from till import *\n\ndef make():\n    return Till()\n"
    write(project, first="from make import make\n\ndesk = make()\n", make=make)
    builder = ResolvedBuilder(project, tmp_path / "kept.db", None)
    builder.refresh()

    write(project, make=make.replace("from till import *", "import till"))
    builder.refresh()

    assert edges(builder.graph) == edges_anew(project, tmp_path)


def test_a_class_that_went_and_comes_back_is_elected_again(project, tmp_path):
    builder = ResolvedBuilder(project, tmp_path / "kept.db", None)
    builder.refresh()
    before = edges(builder.graph)
    (project / "till.py").unlink()
    builder.refresh()

    write(project, till=TILL)
    builder.refresh()

    assert edges(builder.graph) == before
