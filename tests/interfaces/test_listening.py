"""The servers answer at once: no part of an answer waits in the kernel for the receipt of the one before."""

import asyncio
import socket

import pytest

from recollect.interfaces import loopback
from recollect.interfaces.team.server import Listening, listen


@pytest.mark.parametrize(
    "listener_of", [lambda: loopback.listen(0), lambda: listen(Listening(port=0))], ids=["local", "team"]
)
def test_what_is_written_to_a_connection_is_sent_at_once(listener_of):
    async def connect():
        accepted = asyncio.get_running_loop().create_future()
        server = await asyncio.start_server(lambda _, writer: accepted.set_result(writer), sock=listener)
        async with server:
            _, client = await asyncio.open_connection(*listener.getsockname())
            writer = await accepted
            sent_at_once = writer.get_extra_info("socket").getsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY)
            for end in (client, writer):
                end.close()
                await end.wait_closed()
        return sent_at_once

    listener = listener_of()

    assert asyncio.run(connect())
