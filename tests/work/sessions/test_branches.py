"""What a session learns on a branch is known there, and everywhere once the branch has landed."""

import subprocess

import pytest

import recollect.model as m
from recollect.engine import Engine
from recollect.work.delivery.delivery import DeliveryRequest, Moment
from recollect.work.delivery.told import Told
from recollect.work.transcripts.event import Event

FIX = "`pytest` failed"
RULE = "Run the linter before you commit."


@pytest.fixture
def repository(tmp_path):
    folder = tmp_path / "shop"
    folder.mkdir()
    git(folder, "init", "-b", "main")
    git(folder, "commit", "--allow-empty", "-m", "First")
    return folder


def git(folder, *words):
    named = ["git", "-c", "user.name=t", "-c", "user.email=t@t", *words]
    subprocess.run(named, cwd=folder, check=True, capture_output=True)


@pytest.fixture
def learn(home, embedder, repository):
    """Learns from a session whose events say on which branch they happened."""

    def learn(*branches, session="s1", ends=True):
        events = []

        def add(author, text, branch, **more):
            number = len(events)
            event = Event(session, number, author, text, branch=branch or "", **more)
            events.append((f"{session}-{number}", event))

        def run(command, output, branch, failed):
            call = f"c{len(events)}"
            add("assistant", "", branch, tool="Bash", call=call, input={"command": command})
            add("tool", output, branch, tool="Bash", call=call, failed=failed)

        add("user", "From now on, run the linter before you commit.", branches[0])
        for number, branch in enumerate(branches):
            module = f"httpx{number}"
            run("pytest", f"E   ModuleNotFoundError: No module named '{module}'", branch, failed=True)
            run(f"pip install {module}", "installed", branch, failed=False)
            run("pytest", "3 passed", branch, failed=False)
        with Engine.open(repository, home, embedder=embedder) as engine:
            engine.sessions.set_preset("aggressive" if ends else "conservative")
            engine.sessions.start(session, branch=branches[0])
            engine.sessions.record(session, events)
            engine.sessions.end(session) if ends else engine.sessions.checkpoint(session)

    return learn


@pytest.fixture
def known(home, embedder, repository):
    """What is known with a branch checked out."""

    def known(branch):
        git(repository, "checkout", branch)
        with Engine.open(repository, home, embedder=embedder) as engine:
            return sorted(memory.content[:15] for memory in engine.list() if memory.kind == "error_pattern")

    return known


def test_what_is_learnt_on_a_branch_is_seen_elsewhere_only_once_it_has_landed(learn, known, repository):
    git(repository, "checkout", "-b", "feature")
    git(repository, "commit", "--allow-empty", "-m", "More")
    learn("feature")

    before = known("feature"), known("main")
    git(repository, "merge", "feature")

    assert before == ([FIX], [])
    assert known("main") == [FIX]


def test_a_session_that_changes_the_branch_leaves_to_each_what_belongs_to_it(learn, known, repository):
    for name in ("one", "two"):
        git(repository, "checkout", "-b", name, "main")
        git(repository, "commit", "--allow-empty", "-m", name)
    learn("one", "two", "main")

    assert [len(known(name)) for name in ("one", "two", "main")] == [2, 2, 1]


@pytest.mark.parametrize("branch", ["main", "HEAD", None])
def test_what_is_learnt_on_the_default_branch_or_on_none_is_seen_everywhere(branch, learn, known, repository):
    learn(branch)
    git(repository, "checkout", "-b", "feature")

    assert known("feature") == [FIX]


def test_a_rule_of_the_user_holds_on_all_branches(learn, home, embedder, repository):
    git(repository, "checkout", "-b", "feature")
    learn("feature")

    with Engine.open(repository, home, embedder=embedder) as engine:
        stored = {memory.content: memory for memory in engine.list(state="all")}

    assert stored[RULE].branch is None
    assert [each.branch for each in stored.values() if each.kind == "error_pattern"] == ["feature"]
    assert stored[RULE].state is m.State.ACTIVE


def test_an_agent_hears_of_a_running_session_only_what_belongs_to_its_branch(
    learn, home, embedder, repository
):
    for name in ("one", "two"):
        git(repository, "checkout", "-b", name, "main")
        git(repository, "commit", "--allow-empty", "-m", name)
    learn("one", "main", ends=False)
    heard = {}

    for name in ("one", "two"):
        git(repository, "checkout", name)
        with Engine.open(repository, home, embedder=embedder) as engine:
            request = DeliveryRequest(Moment.PROMPT, "Why does pytest not find httpx here?", session=name)
            text = engine.delivery.compose(request, Told(has_started=True)).text
            heard[name] = ["httpx0" in text, "httpx1" in text]

    assert heard == {"one": [True, True], "two": [False, True]}
