"""`recollect init`: what it finds in a project, and that it may be repeated anywhere."""

import subprocess
from pathlib import Path

import pytest

RULES = "# Rules\n\n- Use tabs for indentation\n- Never push to main on a Friday\n"
CODE = "def parse_config(path):\n    return read(path)\n\n\ndef read(path):\n    return path\n"


@pytest.fixture
def project(home, tmp_path):
    """A small project to stand in."""
    root = tmp_path / "shop"
    (root / "src").mkdir()
    (root / "src" / "config.py").write_text(CODE)
    (root / "AGENTS.md").write_text(RULES)
    return root


def test_init_tells_what_it_found_and_how_long_it_took(run, project):
    said = run("init")

    steps = [line.split("  ")[0] for line in said.out.splitlines()]
    assert said.code == 0
    assert steps[0].startswith("Project shop (the folder itself")
    assert [step for step in steps if step in ("code", "map", "seeds")] == ["code", "map", "seeds"]
    assert "1 file (1 python); 2 symbols" in said.out
    assert said.out.splitlines()[-1] == (
        "Found 2 conventions in your project. Agents see them after you review them (`recollect review --kind seed`)"
        " or trust the repository (`recollect trust`)."
    )
    assert "AGENTS.md:4  Never push to main on a Friday." in said.out


def test_init_tells_programs_the_same(run, project):
    told = run("init", "--json").json

    assert (told["code"]["files"], told["code"]["symbols"]) == (1, 2)
    assert told["code"]["languages"] == {"python": 1}
    assert told["code"]["edges"] >= 1
    assert len(told["seeds"]["new"]) == told["seeds"]["waiting"] == told["memories"] == 2
    assert all(told[step]["seconds"] >= 0 for step in ("code", "map", "stale", "seeds"))


def test_a_second_init_adds_nothing(run, project):
    first = run("init", "--json").json
    again = run("init", "--json").json

    assert (again["seeds"]["new"], again["memories"]) == ([], first["memories"])
    assert again["code"]["parsed"] == 0


def test_what_was_found_can_be_reviewed(run, project):
    run("init")

    listed = run("review").out
    run("review", "--kind", "seed", "--reject", "all")

    assert "2 conventions were found in your project." in listed
    assert "found in AGENTS.md:3" in listed
    assert run("init", "--json").json["memories"] == 0


def test_what_was_found_is_confirmed_when_you_say_the_same(run, project):
    run("init")

    run("remember", "Never push to main on a Friday.")

    assert "Never push to main" not in run("review").out
    assert "(unconfirmed) ! Never push to main" not in run("recall", "push").out


def test_changes_say_that_recollect_found_the_conventions(run, project):
    run("init")

    assert {line.split()[3] for line in run("changes").out.splitlines()} == {"recollect"}


def test_seeds_can_be_left_out(run, project):
    told = run("init", "--no-seeds", "--json").json

    assert told["seeds"] is None
    assert told["memories"] == 0


def test_memories_about_code_that_changed_are_told(run, project, remember):
    about = remember("`parse_config` reads it all")
    run("init")
    (project / "src" / "config.py").write_text(CODE.replace("read(path)\n\n", "None\n\n"))

    told, said = run("init", "--json").json, run("init").out

    assert told["stale"]["memories"] == [about]
    assert "1 memory about code that has changed" in said


@pytest.mark.parametrize("kind", ["empty", "bare", "shallow"])
def test_init_works_anywhere(run, home, tmp_path, monkeypatch, kind):
    root = tmp_path / kind
    if kind == "empty":
        root.mkdir()
    else:
        made = tmp_path / "origin"
        identity = ["-c", "user.name=Ada", "-c", "user.email=ada@example.org", "-c", "commit.gpgsign=false"]
        git = ["git", "-C", str(made), *identity]
        subprocess.run(["git", "init", "-q", str(made)], check=True)
        (made / "a.py").write_text("def f():\n    pass\n")
        subprocess.run([*git, "add", "-A"], check=True)
        subprocess.run([*git, "commit", "-q", "-m", "First"], check=True)
        option = "--bare" if kind == "bare" else "--depth=1"
        subprocess.run(["git", "clone", "-q", option, f"file://{made}", str(root)], check=True)
    monkeypatch.chdir(root)

    told = run("init", "--json")

    assert told.code == 0, told
    assert told.json["code"]["files"] == (1 if kind == "shallow" else 0)
    assert told.json["seeds"]["new"] == []


def test_init_outside_of_any_code_needs_no_git(run, home):
    assert run("init").code == 0
    assert not (Path.cwd() / ".git").exists()


def test_what_is_left_out_is_in_the_plural_where_it_names_things(run, project):
    for name in ("package-lock.json", "yarn.lock"):
        (project / name).write_text("{}\n")
    (project / "notes.txt").write_text("One\n")

    skipped = next(line for line in run("init").out.splitlines() if "skipped:" in line)

    assert "2 lock files" in skipped
    assert "not code" in skipped
