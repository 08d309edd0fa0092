"""A running daemon runs `remember` and commands that only read: the same bytes, without loading anything in the client."""

import contextlib
import errno
import fcntl
import json
import os
import pty
import re
import signal
import socket
import struct
import subprocess
import sys
import termios
import threading
from pathlib import Path

import pytest

from recollect.interfaces.cli.forward import REPEATABLE, is_repeatable, pack_output, unpack_output
from recollect.interfaces.daemon_client import control, protocol

PROGRAM = [sys.executable, "-m", "recollect"]
# Of a search, how old a memory is, and how often it was stated.
TIMES = re.compile(r'"took_ms": [\d.]+|(now|\d+ min) +|\d+ times now')
CART = """def total(prices):
    return add_tax(sum(prices))


def add_tax(price):
    return price * 1.19
"""


@pytest.fixture
def daemon(home):
    home.mkdir(exist_ok=True)
    assert control.ensure(home)
    return lambda: control.status(home)["commands"]


@pytest.fixture
def shop(remember, run):
    """Memories, sessions and code to ask about."""
    for path, text in {".git/HEAD": "ref: refs/heads/main\n", "shop/cart.py": CART}.items():
        Path(path).parent.mkdir()
        Path(path).write_text(text)
    ids = [
        remember(
            "Tests need a running Redis, “redis-server” in a terminal", "--kind", "gotcha", "--tag", "testing"
        ),
        remember("The cart rounds prices up", "--kind", "decision", "--file", "shop/cart.py"),
        remember("Use pnpm, not npm"),
    ]
    assert run("graph", "symbol", "total").code == 0
    assert run("map").code == 0
    assert run("task", "start", "Mend the cart").code == 0
    return ids


def complete(ask):
    """Ask until a search was not cut off: on a busy machine it may be, whoever searches."""
    answers = (ask() for _ in range(20))
    return next(answer for answer in answers if "cut off" not in str(answer))


def both(recollect, home, *arguments, alone=None, **variables):
    """What a command answers through the daemon, and in its own process or by `alone`; only times may differ."""
    answers = [
        complete(lambda: recollect(*arguments, **variables)),
        complete(lambda: (alone or recollect)(*arguments, "--home", str(home), **variables)),
    ]
    return [(each.code, *(TIMES.sub("", text) for text in (each.out, each.err))) for each in answers]


COMMANDS = [
    ["remember", "Use pnpm, not npm"],
    ["remember", "Use pnpm", "--kind", "nonsense"],
    ["remember", " "],
    ["search", "why do the tests fail"],
    ["search", "tests", "--json"],
    ["search", "redis", "--explain", "--limit", "1"],
    ["search", "prices", "--file", "shop/cart.py", "--no-color"],
    ["search", "zebra", "--kind", "decision"],
    ["search", "export the prices"],
    ["search", "tests", "--as-of", "30d"],
    ["search", ""],
    ["recall", "mend the cart", "--files", "shop/cart.py"],
    ["recall", "--host", "claude-code", "--json"],
    ["--json", "recall", "tests"],
    ["recall", "tests", "--budget", "0"],
    ["list"],
    ["list", "--json", "--tag", "testing"],
    ["show", "ID"],
    ["show", "the"],
    ["show", "nothing"],
    ["show", "nothing", "--json"],
    ["similar", "ID"],
    ["links", "ID"],
    ["conflicts", "--json"],
    ["gaps"],
    ["describe"],
    ["describe", "--json"],
    ["describe", "ID", "--when", "the suite hangs"],
    ["describe", "ID", "--when", "the suite hangs", "--created-by", "agent:x", "--json"],
    ["describe", "nothing", "--when", "the suite hangs"],
    ["graph", "callers", "add_tax"],
    ["graph", "file", "shop/cart.py", "--json"],
    ["graph", "impact", "cart.py"],
    ["graph", "callers", "nobody"],
    ["map"],
    ["session", "list"],
    ["session", "show", "nothing"],
    ["task", "list"],
    ["history", "file", "shop/cart.py"],
    ["history", "output", "5f0c1e9ab2d4"],
    ["changes"],
    ["audit", "--limit", "3"],
    ["list", "--project", "shop"],
    ["list", "--project", "nowhere"],
    ["list", "--project=shop", "--json"],
    ["list", "--kind", "nonsense"],
    ["show"],
    ["search", "--colour", "blue", "x"],
    ["search", "--strict is ignored"],
]


def test_the_daemon_prints_what_the_command_prints_itself(shop, daemon, recollect, run, home):
    different = [
        (words, answers)
        for words in ([shop[0] if word == "ID" else word for word in words] for words in COMMANDS)
        if (answers := both(recollect, home, *words, alone=run))[0] != answers[1]
    ]

    assert different == []
    assert daemon() >= len(COMMANDS) - 5  # wrong usage is left to the command itself


def test_what_the_daemon_remembers_is_what_the_command_would(shop, daemon, recollect, home, monkeypatch):
    monkeypatch.chdir("shop")
    options = ["--file", "cart.py", "--tag", "tax", "--kind", "gotcha", "--importance", "0.9", "--json"]

    ids = [
        json.loads(recollect("remember", text, *options, *more).out)["id"]
        for text, more in (
            ("Prices of gifts hold no tax", []),
            ("Prices of stamps hold no tax", ["--home", str(home)]),
        )
    ]
    there, here = (json.loads(recollect("show", id, "--json").out)["memory"] for id in ids)

    same = ("file_paths", "tags", "kind", "importance", "scope", "created_by", "visibility", "project_id")
    assert [there[name] for name in same] == [here[name] for name in same]
    assert there["file_paths"] == ["shop/cart.py"]
    assert daemon() == 3


def test_paths_are_relative_to_where_the_command_is_typed(shop, daemon, recollect, home, monkeypatch):
    monkeypatch.chdir("shop")

    first, second = both(recollect, home, "graph", "file", "cart.py", "--json")

    assert first == second
    assert '"shop/cart.py"' in first[1]
    assert daemon() == 1


def test_every_command_of_the_table_is_answered_by_the_daemon():
    tried = {words[0] for words in COMMANDS}

    assert set(REPEATABLE) <= tried


@pytest.mark.parametrize("words", [["list"], ["search", "tests"], ["audit"], ["recall", "tests"]])
def test_on_a_terminal_it_is_as_wide_and_as_coloured(shop, daemon, home, words):
    first, second = (
        complete(lambda more=more: _on_terminal(words + more)) for more in ([], ["--home", str(home)])
    )

    assert first == second
    assert b"\x1b[" in first or words[0] == "recall"
    assert daemon() >= 1


def _on_terminal(words, columns=50):
    ours, theirs = pty.openpty()
    fcntl.ioctl(theirs, termios.TIOCSWINSZ, struct.pack("HHHH", 24, columns, 0, 0))
    with subprocess.Popen([*PROGRAM, *words], stdin=theirs, stdout=theirs, stderr=theirs) as process:
        os.close(theirs)
        data = b""
        try:
            while part := os.read(ours, 65536):
                data += part
        except OSError as error:
            assert error.errno == errno.EIO
        os.close(ours)
    assert process.returncode == 0
    return data


@pytest.mark.parametrize("words", [["list"], ["remember", "Run Redis in a container"]], ids=lambda it: it[0])
def test_the_client_imports_neither_the_command_line_nor_the_engine(shop, daemon, words):
    done = subprocess.run([sys.executable, "-X", "importtime", *PROGRAM[1:], *words], capture_output=True)

    names = {line.rpartition(b"|")[2].strip().decode() for line in done.stderr.splitlines()}
    assert done.returncode == 0
    assert daemon() == 1
    assert not names & {
        "click",
        "json",
        "typing",
        "socket",
        "recollect.engine",
        "recollect.config",
        "recollect.model",
    }


@pytest.mark.parametrize(
    "variables",
    [
        {"RECOLLECT_CAPACITY": "7"},
        {"RECOLLECT_KEY_FILE": "/nowhere"},
        {"TZ": "Asia/Tokyo"},
        {"PYTHONIOENCODING": "latin-1"},
    ],
)
def test_a_command_with_other_settings_runs_in_its_own_process(shop, daemon, recollect, variables):
    recollect("list", **variables)

    assert daemon() == 0


def test_colours_can_be_turned_off_by_a_variable(shop, daemon, recollect, home):
    first, second = both(recollect, home, "list", NO_COLOR="1")

    assert first == second
    assert daemon() == 1


def test_what_is_written_is_found_by_the_next_question(daemon, remember, recollect):
    remember("The office closes at six")
    before = recollect("search", "zebra crossing")
    remember("The zebra crossing is painted twice a year")

    after = recollect("search", "zebra crossing")
    recollect("search", "office hours of the library")
    gaps = recollect("gaps")

    assert "No memories found" in before.err
    assert "painted twice" in after.out
    assert "office hours of the library" in gaps.out


def test_a_reader_that_has_gone_is_no_error_to_report(shop, daemon):
    reading, writing = os.pipe()
    os.close(reading)

    done = subprocess.run([*PROGRAM, "list"], stdout=writing, stderr=subprocess.PIPE, timeout=60)
    os.close(writing)

    assert (done.returncode, done.stderr) == (1, b"")
    assert daemon() == 1


@pytest.fixture
def pretended(home):
    """A daemon that does with a connection what it is told to."""
    home.mkdir(exist_ok=True)
    threads = []

    def start(act):
        listener = socket.socket(socket.AF_UNIX)
        listener.bind(str(home / protocol.SOCKET))
        listener.listen(1)
        listener.settimeout(60)

        def serve():
            with listener:
                line, _ = listener.accept()
                with line, contextlib.suppress(OSError):  # a client on a busy machine may have gone again
                    line.settimeout(60)
                    line.recv(65536)
                    act(line)

        threads.append(threading.Thread(target=serve))
        threads[-1].start()

    yield start
    for thread in threads:
        thread.join(60)


@pytest.mark.parametrize(
    "said",
    [b"", b"no 0\n", b"+", b"+0 100\n1 5\nhello", b"+nonsense"],
    ids=["nothing", "no", "died", "cut off", "nonsense"],
)
def test_without_a_whole_answer_the_command_runs_in_its_own_process(shop, pretended, recollect, said):
    pretended(lambda line: line.sendall(said))

    done = recollect("list")

    assert done.code == 0
    assert "Use pnpm, not npm" in done.out


def test_a_statement_is_not_lost_with_the_daemon_that_had_begun_to_store_it(shop, pretended, recollect):
    pretended(lambda line: line.sendall(b"+"))

    done = recollect("remember", "Invoices are sent on Mondays")

    assert done.out.startswith("Remembered")
    assert recollect("list").out.count("Invoices are sent") == 1


def test_a_daemon_that_does_not_begin_is_not_waited_for(shop, pretended, recollect):
    pretended(lambda line: line.recv(1))  # until the client has gone

    assert "Use pnpm, not npm" in recollect("list").out


@contextlib.contextmanager
def interrupts():
    """Let a new process be interrupted, also if the tests run in the background of a shell, where they are not."""
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, before)


def test_an_interrupt_ends_the_command(shop, pretended):
    begun = threading.Event()

    def hang(line):
        line.sendall(b"+")
        begun.set()
        line.recv(1)

    pretended(hang)
    with (
        interrupts(),
        subprocess.Popen([*PROGRAM, "list"], stdout=subprocess.PIPE, stderr=subprocess.PIPE) as process,
    ):
        assert begun.wait(60)
        process.send_signal(signal.SIGINT)
        out, err = process.communicate(timeout=60)

    assert (process.returncode, out, err) == (130, b"", b"")


@pytest.mark.parametrize(
    "line, expected",
    [
        ("search redis", True),
        ("--json --project x search redis", True),
        ("graph callers x", True),
        ("session search x", True),
        ("links redis", True),
        ("links export", False),
        ("session end x", False),
        ("session", True),
        ("remember x", True),
        ("remember -", False),
        ("forget x", False),
        ("recall x --write=y", False),
        ("search -", False),
        ("search --help", False),
        ("list --home x", False),
        ("--version", False),
        ("", False),
        ("--nonsense list", False),
    ],
)
def test_only_commands_that_may_run_twice_are_left_to_the_daemon(line, expected):
    assert is_repeatable(line.split()) is expected


def test_an_output_is_unpacked_as_it_was_packed():
    parts = [(1, b"one\ntwo"), (2, b""), (1, b"\n3 4\n")]

    assert unpack_output(pack_output(3, parts)) == (3, parts)
