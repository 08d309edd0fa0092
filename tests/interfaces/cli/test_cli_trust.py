"""`recollect trust`: what a repository says is a proposal until a person trusts it."""

import subprocess

import pytest

from recollect.engine import Engine
from recollect.interfaces.anthropic_memory import AnthropicMemoryTool

RULE = "Never store an amount of money as a float"
OTHERS = "Always show the totals of the till in green"


@pytest.fixture
def project(home, tmp_path):
    root = tmp_path / "shop"
    (root / "AGENTS.md").write_text(f"# Rules\n\n- {RULE}\n")
    (root / "GEMINI.md").write_text(f"# Rules\n\n- {OTHERS}\n")
    return root


@pytest.fixture
def git(project):
    def run_git(*words, email="ada@example.com"):
        author = ["-c", "user.name=Ada", "-c", f"user.email={email}"]
        subprocess.run(["git", *author, *words], cwd=project, check=True, capture_output=True)

    run_git("init", "-q", "-b", "main")
    run_git("add", ".")
    run_git("commit", "-qm", "Add the shop")
    return run_git


def recalled(run, host="codex"):
    return run("recall", "how is an amount of money stored", "--host", host).out


def test_no_agent_sees_what_nobody_has_accepted(run, project, home):
    run("init")

    assert RULE not in recalled(run)
    with Engine.open(project, home, actor="agent:x") as agent:
        assert agent.search("amount of money").results == ()
        assert agent.list() == ()
        assert agent.questions() == ()
        assert AnthropicMemoryTool(agent)._files() == {}
        assert agent.remember(RULE).message == "Remembered."  # and not that it is known
    assert "negative, proposal" in run("search", "amount of money").out
    assert "negative, proposal" in run("list").out


def test_an_accepted_statement_is_seen(run, project):
    run("init")

    run("review", "--kind", "seed", "--accept", "all")

    assert RULE in recalled(run)
    assert "proposal" not in run("list").out


def test_a_trusted_repository_is_heard_and_no_longer_after_off(run, project):
    run("init")

    shown = run("trust")
    before = recalled(run)
    trusted = run("trust", "--yes")
    after = recalled(run)
    listed = run("trust", "--list", "--json").json["trusted"]
    run("trust", "--off")

    assert "AGENTS.md:3" in shown.out
    assert "Not trusted" in shown.out
    assert RULE not in before
    assert "Trusted. Agents see 2 proposals" in trusted.out
    assert f"! {RULE}" in after
    assert [(each["project"], each["place"]) for each in listed] == [("shop", str(project))]
    assert RULE not in recalled(run)
    assert run("trust", "--list").out == "You trust no repository by command.\n"


def test_trust_tells_programs_what_it_adds(run, project):
    run("init")

    asked = run("trust", "--json").json
    told = run("trust", "--yes", "--json").json
    off = run("trust", "--off", "--json").json

    assert (asked["trusted"], told["trusted"], off["trusted"]) == (False, True, False)
    assert {(each["content"], each["source"]) for each in told["proposals"]} == {
        (f"{RULE}.", "AGENTS.md:3"),
        (f"{OTHERS}.", "GEMINI.md:3"),
    }


def test_instructions_for_another_host_are_not_shown(run, project):
    run("init")
    run("trust", "--yes")

    def told(host):
        return run("recall", "in which colour are totals of the till shown", "--host", host).out

    assert OTHERS in told("gemini")
    assert OTHERS not in told("claude-code")
    run("review", "--kind", "seed", "--accept", "all")
    assert OTHERS in told("claude-code")


def test_a_copy_that_names_the_same_remote_is_not_trusted(run, project, git, tmp_path, monkeypatch):
    remote = "https://github.com/ada/shop.git"
    git("remote", "add", "origin", remote)
    run("init")
    run("trust", "--yes")
    other = tmp_path / "unpacked"
    subprocess.run(["git", "clone", "-q", str(project), str(other)], check=True)
    subprocess.run(["git", "remote", "set-url", "origin", remote], cwd=other, check=True)

    monkeypatch.chdir(other)

    assert RULE not in recalled(run)


@pytest.mark.parametrize(
    ("setting", "is_trusted"),
    [
        ('trusted_remotes = "github.com/ada"', True),
        ('trusted_remotes = "gitlab.com github.com/Ada/"', True),
        ('trusted_remotes = "github.com/ad"', False),
        ('trusted_remotes = "/"', False),
        ('trusted_authors = "ada@example.com"', True),
        ('trusted_authors = "Eve@example.com ADA@example.com"', True),
        ('trusted_authors = "eve@example.com"', False),
    ],
)
def test_your_own_repositories_are_trusted_by_a_setting(run, project, git, home, setting, is_trusted):
    git("remote", "add", "origin", "git@github.com:ada/shop.git")
    home.mkdir(exist_ok=True)
    (home / "config.toml").write_text(setting)

    told = run("init", "--json").json["seeds"]

    assert told["trusted"] is is_trusted
    assert (RULE in recalled(run)) is is_trusted


def test_a_commit_of_somebody_else_ends_the_trust_by_author(run, project, git, home):
    home.mkdir(exist_ok=True)
    (home / "config.toml").write_text('trusted_authors = "ada@example.com"')
    run("init")
    with Engine.open(project, home, actor="agent:x") as agent:
        assert agent.context.is_trusted

        git("commit", "-q", "--allow-empty", "-m", "Add orders", email="mallory@example.com")

        assert not agent.context.is_trusted


def test_the_environment_of_a_repository_trusts_nothing(recollect, project):
    done = recollect("list", RECOLLECT_TRUSTED_REMOTES="github.com")

    assert done.code == 1
    assert "is not read from the environment" in done.err
