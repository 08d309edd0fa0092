"""*Work*: tasks, files that are edited together, failures and what fixed them, and how well tools work."""

from datetime import timedelta

import pytest

import recollect.model as m


@pytest.fixture
def engine(plain_engine):
    plain_engine.context.register_project()
    return plain_engine


def work(engine, clock):
    owner = m.Owner(engine.context.user_id, engine.context.project_id)
    episodes = engine.store.episodes
    task = m.Task("t1", "s1", "Fix the <cart>", clock())
    episodes.start(owner, task, "fix cart")
    calls = [("Edit", True), ("Bash", False), ("Edit", True), ("Bash", True)] * 3
    executions = [
        m.ToolExecution(
            f"k{number}", clock() + timedelta(seconds=number), "s1", tool, {"n": number}, ok, "t1"
        )
        for number, (tool, ok) in enumerate(calls)
    ]
    touches = [
        m.FileTouch(
            f"f{number}{path}",
            clock() + timedelta(seconds=number),
            "s1",
            path,
            m.FileOperation.EDIT,
            task="t1",
        )
        for number in range(3)
        for path in ("cart.py", "test_cart.py")
    ]
    episodes.add(owner, executions, touches)
    data = {
        "failure": {"head": "pytest", "lines": [["boom", []]]},
        "error": "ModuleNotFoundError: redis",
        "command": "pytest",
        "files": [],
        "commands": ["docker compose up redis"],
        "instead": "",
    }
    episodes.add_sighting(owner, m.PatternSighting(m.ERROR_FIX, "a fix", data, "k", clock()))


def test_work_shows_tasks_tools_pairs_and_fixes_with_their_numbers(engine, clock, reader):
    work(engine, clock)

    text = reader.text("/work")

    assert "Fix the <cart> active" in text
    assert "Bash 6 50%" in text
    assert f"{clock():%Y-%m-%d} 9 3 75%" in text
    assert "cart.py test_cart.py" in text
    assert "ModuleNotFoundError: redis fixed by docker compose up redis" in text


def test_the_chart_has_a_bar_for_each_day_and_a_text_for_those_who_cannot_see_it(engine, clock, reader):
    work(engine, clock)

    html = reader.get("/work?days=7")

    assert html.count('<rect class="ok"') == 1
    assert f"<title>{clock():%Y-%m-%d}: 9 + 3</title>" in html
    assert "The table has the numbers." in html


def test_tasks_can_be_reduced_to_a_status(engine, clock, reader):
    work(engine, clock)

    assert "Fix the <cart>" in reader.text("/work?status=active")
    assert "Fix the <cart>" not in reader.text("/work?status=failed")
    assert "Fix the <cart>" in reader.text("/work?status=nonsense&days=x")


def test_without_work_the_page_says_what_will_be_here(engine, reader):
    assert "No work is recorded yet." in reader.text("/work")
    assert "Choose a project." in reader.text("/work?p=all")
