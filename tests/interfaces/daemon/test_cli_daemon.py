"""`recollect daemon`, as a person types it."""

import json

import pytest

from recollect.__main__ import main
from recollect.interfaces.daemon_client.log import NAME


@pytest.fixture
def run(home, capsys):
    def run(*arguments):
        code = main(["daemon", *arguments])
        return code, capsys.readouterr().out

    return run


def test_without_a_daemon_it_says_so(run):
    assert run("status") == (0, "The daemon is not running. The next hook starts it.\n")
    assert run("stop") == (0, "The daemon was not running.\n")
    assert json.loads(run("status", "--json")[1]) == {"running": False}
    assert run("logs") == (0, "")


def test_one_that_hangs_is_told_from_none(run, lock):
    assert run("status") == (0, "The daemon is running but does not answer.\n")


def test_it_tells_how_the_daemon_is(run, serve):
    serve()

    code, out = run("status")

    assert code == 0
    assert out.startswith("Process ")
    assert "0 events in 0 open sessions." in out


def test_the_last_lines_of_the_log_are_shown(run, home):
    lines = [{"at": f"t{number}", "what": "hook", "level": "info", "ms": number} for number in range(50)]
    (home / NAME).write_text("".join(json.dumps(line) + "\n" for line in lines))

    assert run("logs", "-n", "2") == (0, "t48 hook ms=48\nt49 hook ms=49\n")
    assert json.loads(run("logs", "--json")[1])["lines"] == lines[-20:]
