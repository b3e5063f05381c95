"""Python's `websockets` library, as a client that checks echoes, and as an echo server.

Usage: PYTHONPATH=... websocket_peer.py client URL [CERTIFICATE] | serve
"""
import asyncio
import os
import signal
import ssl
import sys

from websockets.asyncio.client import connect
from websockets.asyncio.server import serve
from websockets.exceptions import ConnectionClosed
from websockets.extensions.permessage_deflate import ClientPerMessageDeflateFactory

LIMIT = 17 << 20


def messages():
    text = "all work and no play " * 50_000
    yield from ("hello", "Grüße, 世界 🐦", "\0")
    for size in (0, 1, 125, 126, 65535, 65536, 1 << 20):
        yield text[:size]
        yield os.urandom(size)


async def check(url: str, certificate: str | None, compression) -> None:
    context = ssl.create_default_context(cafile=certificate) if certificate else None
    options = {"extensions": [compression]} if compression else {}
    async with connect(url, compression=None, max_size=LIMIT, ssl=context, proxy=None, **options) as socket:
        field = socket.response.headers.get("Sec-WebSocket-Extensions", "")
        assert ("permessage-deflate" in field) == bool(compression), f"the extensions are {field!r}"
        for message in messages():
            third = max(1, len(message) // 3)
            for pieces in ([message], [message[:third], message[third:2 * third], message[2 * third:]]):
                await socket.send(pieces[0] if len(pieces) == 1 else iter(pieces))
                answer = await socket.recv()
                assert answer == message, f"{len(answer)} of {len(message)} came back, in {len(pieces)} frames"
        for payload in (b"", b"beat", b"x" * 125):
            await (await socket.ping(payload))  # waits for the pong with the same payload
        # Many messages in flight: echoes come back in order.
        for number in range(200):
            await socket.send(f"message {number}")
        for number in range(200):
            assert await socket.recv() == f"message {number}"
        await socket.close(4321, "enough ✓")
    assert socket.close_code == 4321, f"closed with {socket.close_code}"


async def client(url: str, certificate: str | None = None) -> None:
    small = ClientPerMessageDeflateFactory(server_max_window_bits=9, client_max_window_bits=9)
    forgetful = ClientPerMessageDeflateFactory(server_no_context_takeover=True, client_no_context_takeover=True)
    for compression in (None, ClientPerMessageDeflateFactory(client_max_window_bits=True), small, forgetful):
        await check(url, certificate, compression)


async def echo(socket) -> None:
    try:
        async for message in socket:
            await socket.send(message)
    except ConnectionClosed:
        pass
    print("closed", socket.close_code, flush=True)


async def listen() -> None:
    ended = asyncio.get_running_loop().create_future()
    asyncio.get_running_loop().add_signal_handler(signal.SIGTERM, ended.set_result, None)
    async with serve(echo, "127.0.0.1", 0, max_size=LIMIT) as server:
        print(f"listening on http://127.0.0.1:{server.sockets[0].getsockname()[1]}", flush=True)
        await ended


if __name__ == "__main__":
    asyncio.run(listen() if sys.argv[1] == "serve" else client(*sys.argv[2:]))
