"""The PostgreSQL server that tests and benches start."""

import os
import select
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

START = """
import sys
from bench.local_postgres import LocalPostgres

server = LocalPostgres()
server.create()
server.start()
print(server.folder, server._process.pid, flush=True)
sys.stdin.read()
"""


@pytest.mark.skipif(
    sys.platform != "linux", reason="needs Linux: elsewhere no process is told of its parent's end"
)
def test_a_server_ends_with_the_process_that_started_it_even_if_that_is_killed():
    with subprocess.Popen(
        [sys.executable, "-c", START],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
        cwd=Path(__file__).parents[2],
    ) as starter:
        folder, pid = starter.stdout.readline().split()
        server = os.pidfd_open(int(pid))

        starter.kill()

        ended, _, _ = select.select([server], [], [], 60)
    os.close(server)
    shutil.rmtree(folder, ignore_errors=True)
    assert ended
