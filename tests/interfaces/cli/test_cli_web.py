"""`recollect web` as a person starts it, and the pages while other processes come and go."""

import http.client
import json
import signal
import subprocess
import sys
from urllib.parse import urlencode, urlsplit

import pytest

from recollect.interfaces.daemon_client.control import ensure, stop


@pytest.fixture
def start_web(home):
    """Starts the command, and returns the process, the address and the link that it prints."""
    started = []

    def start(*options):
        words = [sys.executable, "-P", "-m", "recollect", "web", "--json", *options]
        process = subprocess.Popen(words, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        started.append(process)
        printed = json.loads(process.stdout.readline())
        return process, printed["address"], printed["link"]

    yield start
    for process in started:
        process.kill()
        process.communicate()


def ask(address, method, path, body=None, **headers):
    parts = urlsplit(address)
    connection = http.client.HTTPConnection(parts.hostname, parts.port, timeout=60)
    try:
        connection.request(
            method, path, body, {name.replace("_", "-"): value for name, value in headers.items()}
        )
        answer = connection.getresponse()
        return answer.status, answer.headers, answer.read().decode()
    finally:
        connection.close()


def log_in(address, link):
    token = urlsplit(link).query.removeprefix("token=")
    status, headers, _ = ask(
        address, "POST", "/login", urlencode({"token": token}), Origin=address.rstrip("/"),
        Content_Type="application/x-www-form-urlencoded",
    )  # fmt: skip
    assert status == 200
    return headers["Set-Cookie"].partition(";")[0]


def test_web_serves_until_it_is_interrupted(start_web, remember):
    remember("Prices are in cents")
    process, address, link = start_web("--port", "0")

    cookie = log_in(address, link)
    assert "Prices are in cents" in ask(address, "GET", "/memories", Cookie=cookie)[2]
    process.send_signal(signal.SIGINT)

    assert process.wait(60) == 0
    assert "Traceback" not in process.stderr.read()


def test_a_second_web_makes_a_link_for_the_first(start_web):
    _, address, _ = start_web()

    second, same, link = start_web()

    assert second.wait(60) == 0
    assert same == address
    assert ask(address, "GET", "/", Cookie=log_in(address, link))[0] == 200


def test_pages_work_with_a_daemon_and_after_it_is_gone(start_web, remember, home):
    remember("The tests need a running Redis")
    ensure(home)
    _, address, link = start_web("--port", "0")
    cookie = log_in(address, link)

    with_daemon = ask(address, "GET", "/memories?q=why+do+tests+need+redis", Cookie=cookie)[2]
    stop(home)
    without = ask(address, "GET", "/memories?q=which+server+do+the+tests+need", Cookie=cookie)[2]

    assert "running Redis" in with_daemon
    assert "running Redis" in without


def test_an_encrypted_store_is_shown(start_web, run, remember, home, tmp_path):
    remember("Prices are in cents")
    run("encrypt", "--key-file", str(tmp_path / "key"))
    _, address, link = start_web("--port", "0")

    assert "Prices are in cents" in ask(address, "GET", "/memories", Cookie=log_in(address, link))[2]


def test_a_port_that_is_taken_is_named(start_web, run):
    _, address, _ = start_web("--port", "0")
    port = str(urlsplit(address).port)

    refused = run("web", "--port", port)

    assert refused.code == 1
    assert f"Port {port} is used by another program." in refused.err
