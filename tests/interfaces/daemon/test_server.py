"""Who may talk to the daemon, and when it leaves."""

import json
import os
import select
import socket
import stat
import threading
from contextlib import suppress

import pytest
from hook_fields import fields

from recollect.interfaces.daemon.server import DaemonServer
from recollect.interfaces.daemon_client import control, protocol
from recollect.interfaces.daemon_client.caller import Caller, own_variables
from recollect.interfaces.daemon_client.log import NAME
from recollect.interfaces.daemon_client.start import take_lock
from recollect.store.sqlite.connection import connect


def test_only_its_user_can_reach_the_socket(serve, home):
    serve()

    assert stat.S_IMODE((home / protocol.SOCKET).stat().st_mode) == 0o600


def test_it_says_how_it_is(serve, home):
    serve()

    said = control.status(home)

    assert said["pid"] == os.getpid()
    assert said["version"] == protocol.__version__
    assert said["memory_mb"] > 0


def test_an_event_is_kept_before_it_is_acknowledged(serve, ask, folder, recorded):
    serve()
    body = json.dumps({"session_id": "s1", "cwd": str(folder), "prompt": "hello there"}).encode()

    ask("hook", *fields("claude-code", "UserPromptSubmit"), body=body)

    assert recorded() == ["hello there"]


def test_the_first_prompt_of_a_session_is_asked_to_wait_and_later_ones_are_not(serve, lock, home, folder):
    serve()
    body = json.dumps({"session_id": "s1", "cwd": str(folder), "prompt": "hello there"}).encode()

    def answer():
        with socket.socket(socket.AF_UNIX) as line:
            line.connect(str(home / protocol.SOCKET))
            line.sendall(
                protocol.request("hook", "", fields("claude-code", "UserPromptSubmit", seconds="0.5"), body)
            )
            return b"".join(iter(lambda: line.recv(1 << 16), b""))

    assert [answer().startswith(b"wait 1.500\n"), answer().startswith(b"wait")] == [True, False]


def test_what_a_hook_did_not_wait_for_was_not_said(serve, lock, ask, home, folder, memory, service):
    memory.remember("Releases go out on Tuesdays only", kind="convention")
    over, sent = threading.Event(), service.sent
    service.sent = lambda *given, **more: (sent(*given, **more), over.set())
    serve()
    body = json.dumps({"session_id": "s1", "cwd": str(folder), "source": "startup"}).encode()
    with socket.socket(socket.AF_UNIX) as gone:
        gone.connect(str(home / protocol.SOCKET))
        gone.shutdown(socket.SHUT_RD)
        gone.sendall(protocol.request("hook", "", fields("claude-code", "SessionStart"), body))
        assert over.wait(20)

    again = [ask("hook", *fields("claude-code", "SessionStart"), body=body) for _ in range(2)]

    assert b"Tuesdays" in again[0]
    assert again[1] == b""


@pytest.mark.parametrize("is_gone", [True, False], ids=["it has hung up", "it hangs up without reading"])
def test_a_late_text_for_a_hook_that_gave_up_comes_with_the_next_event(
    serve, lock, ask, home, folder, memory, service, lookups, postponed, is_gone
):
    known = "The payment webhook retries must be idempotent."
    memory.remember(known, kind="gotcha")
    over, sent = threading.Event(), service.sent
    service.sent = lambda *given, **more: (sent(*given, **more), over.set())
    serve()

    def event(name, seconds="20", **body):
        given = json.dumps({"session_id": "s1", "cwd": str(folder), **body}).encode()
        return fields("claude-code", name, seconds=seconds), given

    start, body = event("SessionStart", source="startup")
    ask("hook", *start, body=body)
    lookups.clear()
    prompt = "Make the payment webhook retries idempotent"
    service.handle(*_parsed(event("UserPromptSubmit", "0.1", prompt=prompt)))
    lookups.set()
    assert postponed.wait(60)

    tool = {"tool_name": "Bash", "tool_input": {"command": "ls"}}
    over.clear()
    with socket.socket(socket.AF_UNIX) as hook:
        hook.connect(str(home / protocol.SOCKET))
        if is_gone:
            hook.shutdown(socket.SHUT_RD)
        hook.sendall(protocol.request("hook", "", *event("PreToolUse", **tool)))
        if not is_gone:
            select.select([hook], [], [], 20)
            hook.close()
        assert over.wait(20)
    told = [ask("hook", *given, body=body) for given, body in (event("PreToolUse", **tool) for _ in range(2))]

    assert known.encode() in told[0]
    assert told[1] == b""


def _parsed(event):
    given, body = event
    return given, json.loads(body)


def test_told_to_stop_it_leaves_and_takes_its_socket_along(serve, ask, home):
    server, thread = serve()

    ask("stop")
    thread.join(20)
    server.close()

    assert not thread.is_alive()
    assert not (home / protocol.SOCKET).exists()


@pytest.fixture
def often(serve, monkeypatch):
    """The server looks often whether it is time to leave."""
    monkeypatch.setattr("recollect.interfaces.daemon.server.TICK", 0.01)


def test_it_leaves_when_nobody_has_come_for_long(serve, often):
    _, thread = serve(idle=0.01)

    thread.join(60)

    assert not thread.is_alive()


def test_it_leaves_when_the_settings_have_changed(serve, home, often):
    _, thread = serve()

    (home / "config.toml").write_text("daemon_idle = 60\n")
    thread.join(20)

    assert not thread.is_alive()


def test_it_leaves_after_it_has_served_a_newer_version(serve, home, monkeypatch):
    _, thread = serve()
    monkeypatch.setattr(protocol, "__version__", "999.0")

    said = control.status(home)
    thread.join(20)

    assert said is not None
    assert not thread.is_alive()


def test_it_leaves_when_a_newer_version_has_migrated_the_store(serve, ask, folder, home, recorded):
    _, thread = serve()
    body = json.dumps({"session_id": "s1", "cwd": str(folder), "prompt": "hello there"}).encode()
    ask("hook", *fields("claude-code", "UserPromptSubmit"), body=body)
    db = connect(home / "recollect.db", None)
    db.set_busy_timeout(20_000)  # the daemon writes down what it has told the session
    version = db.pragma("user_version")
    db.pragma("user_version", version + 1)

    with pytest.raises(protocol.NoAnswer):  # so that the hook keeps the event
        ask("hook", *fields("claude-code", "UserPromptSubmit"), body=body)
    thread.join(20)

    assert not thread.is_alive()
    db.pragma("user_version", version)
    db.close()
    assert recorded() == ["hello there"]


def test_it_stays_for_an_older_version(serve, home, monkeypatch):
    _, thread = serve()
    monkeypatch.setattr(protocol, "__version__", "0.0.1")
    control.status(home)

    assert control.status(home) is not None
    assert thread.is_alive()


@pytest.fixture
def mcp_session(home, folder):
    """Opens a session as `recollect mcp` does; returns its socket, and the daemon's answer."""
    opened = []

    def open_one(**variables):
        body = Caller(str(folder), {**own_variables(), **variables}, session="mcp-1").pack()
        line = socket.socket(fileno=protocol.open_session(str(home), "mcp", body, 20).detach())
        opened.append(line)
        line.settimeout(20)
        return line, line.recv(100)

    yield open_one
    for line in opened:
        line.close()


def test_it_stays_as_long_as_a_session_of_mcp_is_open(serve, mcp_session, often):
    server, thread = serve()
    line, answer = mcp_session()
    server._idle = 0.01
    server._stop_if_due()
    stayed = not server._stopping.is_set()

    line.close()
    thread.join(60)

    assert (answer, stayed, thread.is_alive()) == (b"ok 0\n", True, False)


def test_stopped_it_tells_the_sessions_of_mcp_how_much_it_has_taken(serve, mcp_session):
    server, thread = serve()
    line, _ = mcp_session()
    line.sendall(b'{"jsonrpc":"2.0","id":1,"method":"ping"}\n')
    answer = json.loads(line.recv(1000))

    server.stop()
    thread.join(20)
    server.close()

    assert answer["id"] == 1
    assert line.recv(100) == b"bye 1\n"
    assert line.recv(100) == b""


@pytest.mark.parametrize("version, why, stays", [("0.0.1", b"version", True), ("999.0", b"again", False)])
def test_a_session_of_mcp_of_another_version_is_refused(serve, mcp_session, monkeypatch, version, why, stays):
    _server, thread = serve()
    monkeypatch.setattr(protocol, "__version__", version)

    _, answer = mcp_session()
    if not stays:
        thread.join(20)

    assert answer == b"no %d\n%s" % (len(why), why)
    assert thread.is_alive() == stays


def test_a_session_of_mcp_with_other_settings_is_refused(serve, mcp_session):
    serve()

    assert mcp_session(RECOLLECT_CAPACITY="1")[1] == b"no 8\nsettings"
    assert mcp_session(RECOLLECT_NONSENSE="1")[1] != b"no 8\nsettings"  # it is no setting


def test_another_user_gets_no_session_of_mcp(serve, mcp_session, monkeypatch):
    server, _ = serve()
    monkeypatch.setattr(
        protocol, "peer_uid", lambda line: os.getuid() + 1 if isinstance(line, socket.socket) else None
    )

    with suppress(protocol.NoAnswer, ConnectionResetError):  # refused before all of the request was sent
        assert mcp_session()[1] == b"no 0\n"

    assert server.refused == 1


@pytest.mark.parametrize(
    "data",
    [
        b"",
        b"\n",
        b"GET / HTTP/1.1\r\nHost: localhost\r\n\r\n",
        b"hook\t1\t\t-5\n",
        b"hook\t1\t\t99999999999\n",
        b"status\t1\t\tx\n",
        b"\xff\xfe" * 9000,
        b"dance\t0\t\t0\n",
    ],
)
def test_what_is_no_request_of_ours_is_refused(serve, home, data):
    serve()

    with socket.socket(socket.AF_UNIX) as line:
        line.connect(str(home / protocol.SOCKET))
        line.settimeout(20)
        try:
            line.sendall(data)
            line.shutdown(socket.SHUT_WR)
            answer = line.recv(100)
        except OSError:
            answer = b""

    assert not answer.startswith(b"ok")
    assert control.status(home) is not None


@pytest.mark.parametrize("body", [b"", b"garbage", b"[]", b"7", b'{"a": ' * 10_000, b'{"session_id": 5}'])
def test_garbage_is_taken_and_forgotten(serve, ask, body):
    serve()

    assert ask("hook", *fields("claude-code", "UserPromptSubmit"), body=body) == b""


def test_another_user_is_refused_and_that_is_logged(serve, home, monkeypatch, caplog):
    serve()
    monkeypatch.setattr(
        protocol, "peer_uid", lambda line: os.getuid() + 1 if isinstance(line, socket.socket) else None
    )

    with caplog.at_level("WARNING", "recollect.interfaces.daemon.server"):
        said = control.status(home)

    assert said is None
    assert "refused" in caplog.text


def test_on_loopback_nobody_is_heard_without_the_token(serve, home):
    serve(port=True)
    port, token = (home / protocol.TOKEN).read_text().split()
    answers = {}
    for given in ("", "x" * 32, token):
        with socket.create_connection(("127.0.0.1", int(port)), 20) as line:
            line.sendall(protocol.request("status", given, (), b""))
            answers[given] = line.recv(2)

    assert answers == {"": b"no", "x" * 32: b"no", token: b"ok"}
    assert control.status(home)["pid"] == os.getpid()
    assert stat.S_IMODE((home / protocol.TOKEN).stat().st_mode) == 0o600


def test_a_web_page_has_no_token(serve, home):
    serve(port=True)
    port = int((home / protocol.TOKEN).read_text().split()[0])

    with socket.create_connection(("127.0.0.1", port), 20) as line:
        line.sendall(b"POST /status HTTP/1.1\r\nHost: evil.example\r\nOrigin: http://evil.example\r\n\r\n")
        line.shutdown(socket.SHUT_WR)
        assert line.recv(100) == b""


def test_a_home_deep_down_is_reached_all_the_same(tmp_path, service):
    home = tmp_path / ("deep" * 20) / ("deeper" * 15)
    home.mkdir(parents=True)
    server = DaemonServer(home, service, 0)
    thread = threading.Thread(target=server.run)
    thread.start()

    said = control.status(home)
    server.stop()
    thread.join(20)
    server.close()

    assert said["pid"] == os.getpid()
    assert not (home / protocol.SOCKET).exists()


def test_the_lock_is_one_process_s_alone(home):
    first = take_lock(str(home))

    assert control.is_running(home)
    assert take_lock(str(home)) is None
    os.close(first)
    assert not control.is_running(home)


def test_with_no_daemon_there_is_nothing_to_stop_or_to_see(home):
    assert control.status(home) is None
    assert control.stop(home) is False


def test_a_daemon_that_hangs_up_half_way_has_not_answered(home):
    with socket.socket(socket.AF_UNIX) as listener:
        listener.bind(str(home / protocol.SOCKET))
        listener.listen(1)
        listener.settimeout(20)

        def half() -> None:
            line, _ = listener.accept()
            with line:
                line.recv(65536)
                line.sendall(b'ok 100\n{"hookSpecific')

        answering = threading.Thread(target=half)
        answering.start()

        with pytest.raises(protocol.NoAnswer):
            protocol.ask(str(home), "status", (), b"", 20)
        answering.join(20)


def test_the_log_has_no_word_of_what_was_said(home):
    import logging

    from recollect.interfaces.daemon_client.log import write_log

    ours = logging.getLogger("recollect")
    before = list(ours.handlers), ours.level, ours.propagate
    write_log(home)
    try:
        try:
            raise ValueError("the secret plan")
        except ValueError:
            ours.exception("a session %s could not be processed", "the secret plan")
        ours.info("hook", extra={"fields": {"host": "codex"}})
    finally:
        for handler in set(ours.handlers) - set(before[0]):
            ours.removeHandler(handler)
            handler.close()
        ours.level, ours.propagate = before[1:]

    text = (home / NAME).read_text()
    first, second = map(json.loads, text.splitlines())
    assert "secret plan" not in text
    assert first["error"] == "ValueError" and first["where"]
    assert (second["what"], second["host"]) == ("hook", "codex")
    assert stat.S_IMODE((home / NAME).stat().st_mode) == 0o600
