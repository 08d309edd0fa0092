"""The pages when the store is encrypted, when the daemon is killed, and with one memory."""

import json
import os
import signal
import subprocess
import sys
from http.cookiejar import CookieJar
from urllib.parse import urlencode, urlsplit
from urllib.request import HTTPCookieProcessor, Request, build_opener

import pytest

from recollect.engine import Engine
from web_site import Reader


def test_an_encrypted_store_is_shown_searched_and_changed(home, folder, clock, embedder, tmp_path):
    with Engine.open(folder, home, embedder=embedder, clock=clock) as engine:
        name = engine.remember("Prices are in cents").id
        engine.care.encrypt(tmp_path / "key")
    with Engine.open(folder, home, embedder=embedder, clock=clock) as engine:
        reader = Reader(engine)

        assert "Prices are in cents" in reader.text("/memories?q=prices")
        assert "Pinned" in reader.post(f"/memories/{name}/pin", on="1", next=f"/memories/{name}")
        assert "not encrypted" not in reader.text("/settings")
        assert engine.get(name).pinned


def test_one_memory_is_counted_as_one(plain_engine, reader):
    plain_engine.remember("Prices are in cents")

    assert "1 memory " in reader.text("/memories")
    assert "1 memory found" in reader.text("/memories?q=prices")


@pytest.fixture
def web(home, folder):
    """`recollect web` as a process of its own, and a browser without a screen that used its link."""
    command = [sys.executable, "-m", "recollect", "web", "--json", "--no-open", "--port", "0"]
    process = subprocess.Popen(command, cwd=folder, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    link = json.loads(process.stdout.readline())["link"]
    assert "Press Ctrl-C" in process.stderr.readline()
    address = link.partition("/login")[0]
    opener = build_opener(HTTPCookieProcessor(CookieJar()))

    def read(path, data=None):
        body = urlencode(data).encode() if data else None
        with opener.open(Request(address + path, body, {"Origin": address}), timeout=30) as answer:
            return answer.read().decode()

    read("/login", {"token": urlsplit(link).query.removeprefix("token=")})
    yield read
    process.send_signal(signal.SIGINT)
    process.communicate(timeout=20)
    assert process.returncode == 0


def test_the_daemon_is_killed_in_between_and_nothing_is_lost(home, folder, web):
    with Engine.open(folder, home) as engine:
        engine.remember("Prices are in cents")
    run = [sys.executable, "-m", "recollect", "daemon"]
    subprocess.run([*run, "start"], cwd=folder, check=True, capture_output=True)
    assert "Prices are in cents" in web("/memories?q=where+are+prices+kept")
    status = subprocess.run(
        [*run, "status", "--json"], cwd=folder, check=True, capture_output=True, text=True
    )
    os.kill(json.loads(status.stdout)["pid"], signal.SIGKILL)

    assert "Prices are in cents" in web("/memories?q=where+are+prices+kept")
    assert "Prices are in cents" in web("/")
