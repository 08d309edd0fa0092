import socket

from recollect.interfaces.mcp.http import TOKEN


def test_the_token_is_printed_on_request(run, home):
    printed = run("mcp", "--token").out.strip()

    assert printed == (home / TOKEN).read_text()
    assert run("mcp", "--token", "--json").json == {"token": printed}


def test_a_port_that_is_taken_is_told(run):
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        port = str(taken.getsockname()[1])

        told = run("mcp", "--http", port)

    assert told.code == 1
    assert f"Port {port} is used by another program." in told.err
