"""A repository names programs in every way that git knows; no command runs one of them."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

import recollect as recollect_package
from hostile_repository import build
from recollect.context.git import Repository

COMMANDS = [
    ("init",),
    ("init", "--subproject"),
    ("map",),
    ("graph", "relevant", "the total is wrong"),
    ("recall", "the total is wrong"),
    ("remember", "Totals are counted once.", "--file", "shop.py"),
    ("search", "totals"),
    ("doctor",),
    ("review",),
]


@pytest.fixture
def ran(tmp_path) -> Path:
    return tmp_path / "ran"


@pytest.fixture
def hostile(tmp_path, ran) -> Path:
    return build(tmp_path / "repo", ran)


def recollect(folder, *words, **variables):
    return subprocess.run(
        [sys.executable, "-m", "recollect", *words],
        cwd=folder,
        env={**os.environ, **variables},
        capture_output=True,
        text=True,
        timeout=120,
    )


def programs_run(ran):
    return [file.read_text() for file in ran.iterdir()]


def test_the_repository_would_run_programs_with_plain_git(hostile, ran):
    subprocess.run(["git", "log", "--name-status"], cwd=hostile, capture_output=True)

    assert programs_run(ran)


@pytest.mark.parametrize("within", [".", "fixtures/bare"])
def test_no_command_runs_a_program_of_the_repository(home, hostile, ran, within):
    for words in COMMANDS:
        done = recollect(hostile / within, *words)

        assert done.returncode < 2, done.stderr  # it was understood
        assert "Traceback" not in done.stderr
        assert programs_run(ran) == [], words


def test_history_is_read_as_far_as_it_is_there(hostile):
    repository = Repository.containing(hostile)

    log = repository.output("log", "-n2", "--format=%s", repository.head())

    assert log.decode().splitlines() == [
        "Fix the total because the till counted 4 times",
        "Fix the total because the till counted 3 times",
    ]
    assert repository.branches().keys() == {"main", "merged"}
    assert repository.merged_branches() == {"main", "merged"}


def test_variables_of_the_environment_lead_to_no_other_repository(home, hostile, tmp_path, ran):
    other = tmp_path / "other"
    other.mkdir()
    subprocess.run(["git", "init", "-q", "-b", "elsewhere", str(other)], check=True)

    done = recollect(hostile, "doctor", GIT_DIR=str(other / ".git"), GIT_WORK_TREE=str(other))

    assert str(other) not in done.stdout
    assert programs_run(ran) == []


@pytest.mark.parametrize(
    "head",
    ["ref: refs/heads/../../../../etc/hostname", "ref: /etc/hostname", "ref: refs/heads/a.lock", "x" * 9000],
)
def test_a_head_that_leads_elsewhere_is_no_branch(hostile, head):
    (hostile / ".git" / "HEAD").write_text(head)

    repository = Repository.containing(hostile)

    assert (repository.branch, repository.head()) == (None, None)


def test_a_pipe_in_place_of_a_file_is_not_waited_for(hostile):
    (hostile / ".git" / "packed-refs").unlink(missing_ok=True)
    os.mkfifo(hostile / ".git" / "packed-refs")

    assert Repository.containing(hostile).branches().keys() == {"main", "merged"}


def test_only_one_module_runs_git():
    source = Path(recollect_package.__file__).parent
    modules = [
        file
        for file in source.rglob("*.py")
        if '"git"' in (text := file.read_text()) and "subprocess" in text
    ]

    assert [file.relative_to(source).as_posix() for file in modules] == ["context/git.py"]
