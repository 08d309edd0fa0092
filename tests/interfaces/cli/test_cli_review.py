"""The review inbox, by keys in a terminal and by options for programs."""

import os
import pty
import select
import subprocess
import sys
import termios

import pytest

import recollect.model as m
from recollect.engine import Engine


@pytest.fixture
def ask(home, remember):
    """Puts a question on the list; its id."""

    def ask(kind, *texts):
        ids = tuple(remember(text) for text in texts)
        with Engine.open() as engine:
            review = m.Review(
                m.new_id(), engine.settings.user, engine.project.id, kind, ids, "a reason", m.utc_now()
            )
            assert engine.store.reviews.ask(review)
        return review.id

    return ask


def open_questions(run):
    return [each["id"] for each in run("review", "--json").json["questions"]]


def test_json_lists_what_waits(run, ask):
    review = ask("stale", "Tests run on port 6380")

    told = run("review", "--json").json

    (question,) = told["questions"]
    assert told["total"] == 1
    assert (question["id"], question["kind"]) == (review, "stale")
    assert question["memories"][0]["content"] == "Tests run on port 6380"
    assert (question["accept"], question["reject"]) == ("it is out of date", "it is still right")


def test_without_a_terminal_the_questions_are_listed(run, ask):
    review = ask("merge", "Carts are kept in Redis", "Redis holds what is in the baskets")

    result = run("review")

    assert result.out.startswith("1 pair of memories may say the same.\n")
    assert review[-6:] in result.out and "Redis holds what is in the baskets" in result.out


def test_nothing_waits(run):
    assert run("review").out == "Nothing to review.\n"
    assert run("review", "--json").json == {"questions": [], "total": 0}


def test_a_program_accepts_and_rejects_by_id(run, ask):
    first, second = ask("stale", "Tests run on port 6380"), ask("stale", "Carts are kept a day")

    told = run("review", "--accept", first, "--reject", second[-6:], "--json").json

    assert [(each["review"], each["decision"]) for each in told["decided"]] == [
        (first, "accepted"),
        (second, "rejected"),
    ]
    assert told["left"] == 0
    assert [each["content"] for each in run("list", "--json").json["memories"]] == ["Carts are kept a day"]


def test_an_answer_is_undone_and_the_question_open_again(run, ask):
    review = ask("seed", "Branches are named after tickets")
    change = run("review", "--reject", review, "--json").json["decided"][0]["change"]
    assert open_questions(run) == []

    run("undo", change)

    assert open_questions(run) == [review]


def test_all_of_one_kind_are_answered_at_once(run, ask):
    ask("seed", "Branches are named after tickets")
    ask("seed", "Commits say why")
    stale = ask("stale", "Tests run on port 6380")

    loose = run("review", "--accept", "all")
    done = run("review", "--kind", "seed", "--accept", "all", "--json")

    assert loose.code == 2
    assert len(done.json["decided"]) == 2
    assert open_questions(run) == [stale]


def test_a_program_gives_another_text(run, ask):
    review = ask("seed", "Branches are named after tickets")

    run("review", "--edit", review, "Branches are named after tickets, in lower case")

    assert [each["content"] for each in run("list", "--json").json["memories"]] == [
        "Branches are named after tickets, in lower case"
    ]


def test_one_name_that_is_no_question_decides_nothing(run, ask):
    review = ask("seed", "Branches are named after tickets")

    result = run("review", "--accept", review, "--reject", "zzzzzz")

    assert result.code == 1
    assert open_questions(run) == [review]
    assert run("review", "--kind", "colour").code == 1


class Terminal:
    """A person at a terminal: reads until something is shown, presses keys."""

    def __init__(self, *arguments, **variables):
        self._ours, theirs = pty.openpty()
        self._process = subprocess.Popen(
            [sys.executable, "-m", "recollect", *arguments],
            stdin=theirs,
            stdout=theirs,
            stderr=theirs,
            env={**os.environ, "TERM": "dumb", "NO_COLOR": "1", **variables},
            start_new_session=True,
        )
        os.close(theirs)
        self.shown = ""

    def read_until(self, text):
        seen = ""
        while text not in seen:
            ready, _, _ = select.select([self._ours], [], [], 60)
            assert ready, seen
            seen += os.read(self._ours, 65536).decode()
        self.shown += seen
        return seen

    def press(self, key):
        """When it waits for one: a key pressed earlier is thrown away."""
        while termios.tcgetattr(self._ours)[3] & termios.ICANON:
            select.select([], [], [], 0.01)
        os.write(self._ours, key.encode())

    def end(self):
        code = self._process.wait(60)
        os.close(self._ours)
        return code


def test_in_a_terminal_each_question_takes_one_key(run, ask, tmp_path):
    ask("seed", "Branches are named after tickets")
    ask("stale", "Tests run on port 6380")
    skipped = ask("stale", "Carts are kept a day")
    ask("seed", "Commits say why")
    editor = tmp_path / "editor.sh"
    editor.write_text('#!/bin/sh\nprintf "Commits say why and for whom" > "$1"\n')
    editor.chmod(0o755)
    terminal = Terminal("review", EDITOR=str(editor))

    first = terminal.read_until("[q] quit")
    terminal.press("x")  # means nothing
    terminal.read_until("[q] quit")
    terminal.press("a")
    terminal.read_until("[q] quit")
    terminal.press("a")
    terminal.read_until("[q] quit")
    terminal.press("s")
    terminal.read_until("[q] quit")
    terminal.press("e")
    end = terminal.read_until(" left.")

    assert terminal.end() == 0
    assert "2 conventions were found in your project; 2 memories may no longer be true." in first
    assert "1/4" in first and "Branches are named after tickets" in first
    assert "3 questions decided, 1 left." in end
    assert open_questions(run) == [skipped]
    assert {each["content"] for each in run("list", "--json").json["memories"]} == {
        "Branches are named after tickets",
        "Carts are kept a day",
        "Commits say why and for whom",
    }


def test_who_ends_early_is_asked_again_next_time(run, ask):
    first, second = ask("stale", "Tests run on port 6380"), ask("stale", "Carts are kept a day")
    terminal = Terminal("review")

    terminal.read_until("[q] quit")
    terminal.press("q")
    terminal.read_until("0 questions decided, 2 left.")

    assert terminal.end() == 0
    assert open_questions(run) == [first, second]


def test_a_memory_whose_code_has_changed_says_so_when_it_is_shown(run, remember, tmp_path):
    folder = tmp_path / "shop"
    (folder / "config.py").write_text("def parse_config(path):\n    return path\n")
    name = remember("`parse_config` in `config.py` ignores unknown keys")
    fresh = run("show", name)
    (folder / "config.py").unlink()

    stale = run("show", name)

    assert "stale" not in fresh.out
    assert "stale          config.py is gone" in stale.out
    assert run("show", name, "--json").json["stale"]["why"] == "config.py is gone"
    assert "1 memory whose code has changed" in run().out
