"""Another user of the machine, for real: a process that gives up being us, and then tries."""

import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path

import pytest
from hook_fields import fields

from recollect.engine import Engine
from recollect.interfaces.daemon_client import protocol
from recollect.interfaces.daemon_client.spool import HookSpool

pytestmark = pytest.mark.skipif(
    sys.platform == "win32" or os.getuid() != 0, reason="only root can become another user"
)

NOBODY = 65534
# Imports first: a stranger could not read our interpreter either. Then prints what came of each try.
STRANGER = f"""
import json, os, socket, sys
from pathlib import Path
os.setgroups([]); os.setgid({NOBODY}); os.setuid({NOBODY})

def connect(path, data):
    with socket.socket(socket.AF_UNIX) as line:
        line.settimeout(20)
        line.connect(path)
        line.sendall(data)
        return line.recv(1000).decode()

tries = {{
    "list": lambda path, data: sorted(os.listdir(path)),
    "read": lambda path, data: len(Path(path).read_bytes()),
    "write": lambda path, data: Path(path).write_bytes(b""),
    "connect": connect,
}}
came = []
for what, path, data in json.load(sys.stdin):
    try:
        came.append(tries[what](path, data.encode()))
    except OSError as error:
        came.append(type(error).__name__)
json.dump(came, sys.stdout)
"""


@pytest.fixture
def tmp_path():
    """Not pytest's own, which keeps strangers out before we could: only what we do ourselves may."""
    with tempfile.TemporaryDirectory(prefix="recollect-strangers-") as name:
        Path(name).chmod(0o755)
        yield Path(name)


@pytest.fixture
def home(tmp_path, monkeypatch):
    """Made by us at its first use, as for everybody."""
    for name in [name for name in os.environ if name.startswith("RECOLLECT_")]:
        monkeypatch.delenv(name)
    monkeypatch.setenv("RECOLLECT_HOME", str(tmp_path / "home"))
    return tmp_path / "home"


def stranger(*tries):
    """What came of `tries`, each a deed, a path and what is sent there."""
    done = subprocess.run(
        [sys.executable, "-c", STRANGER],
        input=json.dumps(tries).encode(),
        capture_output=True,
        timeout=60,
        check=True,
    )
    return json.loads(done.stdout)


def remember(folder, home, embedder):
    with Engine.open(folder, home, embedder=embedder) as engine:
        engine.remember("Releases go out on Tuesdays only", kind="convention")
    HookSpool(home).append(
        fields("claude-code", "UserPromptSubmit"), b'{"session_id": "s1", "prompt": "Ship it"}'
    )


@pytest.fixture(autouse=True)
def careless():
    """A user whose files anybody may read and write, unless we see to it."""
    before = os.umask(0o000)
    yield
    os.umask(before)


def test_a_stranger_gets_into_nothing_of_ours(home, folder, embedder, serve):
    remember(folder, home, embedder)
    serve()
    ours = [path for path in home.rglob("*") if path.is_file()]

    listed = stranger(*[("list", str(path), "") for path in (home, home / "spool", home / "spool" / "hooks")])
    read = stranger(*[("read", str(path), "") for path in ours])
    written = stranger(*[("write", str(path), "") for path in ours])
    connected = stranger(("connect", str(home / protocol.SOCKET), ""))

    assert {"recollect.db", "s1.jsonl"} <= {path.name for path in ours}
    assert {*listed, *read, *written, *connected} == {"PermissionError"}


def test_in_a_home_that_was_opened_to_all_files_and_socket_are_still_closed(home, folder, embedder, serve):
    remember(folder, home, embedder)
    serve()
    for place in (home, *(path for path in home.rglob("*") if path.is_dir())):
        place.chmod(0o755)
    ours = [path for path in home.rglob("*") if path.is_file()]

    read = stranger(*[("read", str(path), "") for path in ours])
    connected = stranger(("connect", str(home / protocol.SOCKET), ""))

    assert dict(zip([path.name for path in ours], read, strict=True)) == {
        path.name: "PermissionError" for path in ours
    }
    assert connected == ["PermissionError"]


def test_a_stranger_who_reaches_the_socket_is_refused_and_that_is_logged(
    home, folder, embedder, serve, caplog, recorded
):
    remember(folder, home, embedder)
    server, _ = serve()
    home.chmod(0o755)
    (home / protocol.SOCKET).chmod(0o666)
    body = json.dumps({"session_id": "s1", "cwd": str(folder), "prompt": "I am you"}).encode()
    asked = [
        protocol.request("status", "", (), b""),
        protocol.request("stop", "", (), b""),
        protocol.request("hook", "", fields("claude-code", "UserPromptSubmit"), body),
    ]

    with caplog.at_level("WARNING", "recollect.interfaces.daemon.server"):
        answers = stranger(*[("connect", str(home / protocol.SOCKET), each.decode()) for each in asked])

    assert {*answers} <= {
        "no 0\n",
        "BrokenPipeError",
        "ConnectionResetError",
    }  # nobody waits for what they say
    assert (server.refused, server.requests) == (3, 0)
    refused = [record.fields for record in caplog.records if record.levelname == "WARNING"]
    assert refused == [{"why": "another user", "uid": NOBODY}] * 3
    assert recorded() == []
