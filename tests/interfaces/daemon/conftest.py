"""A daemon in this process, with real stores and a socket of its own; and how hooks talk to it."""

import json
import os
import threading
import time

import pytest
from hook_fields import fields

from recollect.config import load_settings
from recollect.engine import Engine
from recollect.interfaces.daemon import hook_service, hook_session
from recollect.interfaces.daemon import server as daemon_server
from recollect.interfaces.daemon.hook_service import HookService
from recollect.interfaces.daemon.server import DaemonServer
from recollect.interfaces.daemon_client import protocol
from recollect.interfaces.daemon_client.spool import HookSpool
from recollect.interfaces.engine_pool import EngineOpener, EnginePool


@pytest.fixture
def silence(clock):
    """How long nobody has come, as far as the daemon knows."""
    return lambda: clock().timestamp()


@pytest.fixture
def patient(monkeypatch):
    """Sessions and prompts wait for each other as long as it takes on a busy machine."""
    for name in ("RULES_SECONDS", "ENDING_SECONDS", "RECORD_SECONDS"):
        monkeypatch.setattr(hook_service, name, 20.0)
    monkeypatch.setattr(hook_session, "PROMPT_SECONDS", 60.0)


@pytest.fixture
def service(home, embedder, silence, patient):
    opener = EngineOpener(lambda: load_settings(home), lambda settings: embedder)
    made = HookService(EnginePool(opener), HookSpool(home), silence)
    yield made
    made.close()


@pytest.fixture
def memory(home, folder, embedder):
    """The user's own engine, beside the daemon."""
    with Engine.open(folder, home, embedder=embedder) as opened:
        yield opened


@pytest.fixture
def hook(service, folder):
    """What a host would print for an event: the text for its model, or nothing."""

    def call(event, session="s1", host="claude-code", name=None, seconds="20", received=True, **body):
        given = fields(host, event, name, seconds=seconds)
        told = service.handle(given, {"session_id": session, "cwd": str(folder), **body})
        service.sent(given[2], received=received)
        if not told or host == "opencode":
            return told.decode()
        said = json.loads(told)
        if "hookSpecificOutput" in said:
            assert said["hookSpecificOutput"]["hookEventName"] == event
            return said["hookSpecificOutput"]["additionalContext"]
        return said.get("additional_context", "")

    return call


@pytest.fixture
def lookups(service, monkeypatch):
    """Lookups for events wait until this is set. Recording an event that was not answered may take its time."""
    gate, find, is_recorded = threading.Event(), service._find, service._is_recorded
    gate.set()
    monkeypatch.setattr(service, "_find", lambda *given: gate.wait(60) and find(*given))
    monkeypatch.setattr(
        service, "_is_recorded", lambda recording, until: is_recorded(recording, time.monotonic() + 60)
    )
    return gate


@pytest.fixture
def postponed(service, monkeypatch):
    """Is set when a text that was found too late waits for the next event."""
    is_there, came_late = threading.Event(), service._came_late
    monkeypatch.setattr(service, "_came_late", lambda *given: (came_late(*given), is_there.set()))
    return is_there


@pytest.fixture
def recorded(memory):
    """What is kept of a session, in order."""

    def of(session="s1"):
        return [
            event.text or event.input.get("command", "") for event in memory.sessions.recorded.events(session)
        ]

    return of


@pytest.fixture
def serve(home, service, monkeypatch):
    """Starts a server in this process; it is told to leave at the end. It does nothing that nobody asks for."""
    monkeypatch.setattr(daemon_server, "TICK", 3600.0)
    running = []

    def start(**options):
        (home / protocol.LOCK).touch(0o600)  # without its lock it leaves at once
        server = DaemonServer(home, service, options.pop("idle", 0), **options)
        thread = threading.Thread(target=server.run)
        thread.start()
        running.append((server, thread))
        return server, thread

    yield start
    for server, thread in running:
        if thread.is_alive():
            server.stop()
        thread.join(30)
        server.close()


@pytest.fixture
def ask(home):
    def ask(want, *given, body=b"", seconds=20.0):
        return protocol.ask(str(home), want, given, body, seconds)

    return ask


@pytest.fixture
def lock(home):
    """No daemon can start: someone holds its lock."""
    from recollect.interfaces.daemon_client.start import take_lock

    file = take_lock(str(home))
    yield file
    os.close(file)
