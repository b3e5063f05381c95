# SPDX-License-Identifier: MIT
"""Servers that fail, each in its own way, and one that doesn't, in one process. Prints their ports as a line of JSON; ends on SIGTERM."""

import asyncio
import json
import random
import socket
import struct

TRICKLE_SECONDS = 0.02  # between two bytes
GARBAGE = random.Random(1).randbytes(200)


async def head(reader):
    """Reports whether a whole head has arrived."""
    try:
        await reader.readuntil(b"\r\n\r\n")
        return True
    except (asyncio.IncompleteReadError, asyncio.LimitOverrunError):
        return False


async def well(reader, writer):
    while await head(reader):
        writer.write(b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok")


async def hang(reader, _):
    """Reads, and never answers."""
    while await reader.read(65536):
        pass


async def reset(reader, writer):
    await head(reader)
    writer.get_extra_info("socket").setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
    writer.transport.abort()


async def trickle(reader, writer):
    """Sends its response byte by byte, for as long as the peer stays."""
    await head(reader)
    writer.write(b"HTTP/1.1 200 OK\r\nContent-Length: 1000000\r\n\r\n")
    while not reader.at_eof():
        writer.write(b".")
        await writer.drain()
        await asyncio.sleep(TRICKLE_SECONDS)


async def garbage(reader, writer):
    await head(reader)
    writer.write(GARBAGE)


FAILING = (hang, reset, trickle, garbage)
KINDS = ("refuse", *(one.__name__ for one in FAILING))


def tolerant(serve):
    """Returns a callback of a server; it closes the connection at the end, and survives peers that leave."""
    async def connected(reader, writer):
        try:
            await serve(reader, writer)
        except ConnectionError:
            pass
        finally:
            writer.close()
    return connected


async def main():
    ports, servers = {}, []
    refusing = socket.socket()  # bound, so that nobody else gets the port, but not listening
    refusing.bind(("127.0.0.1", 0))
    ports["refuse"] = refusing.getsockname()[1]
    for serve in (well, *FAILING):
        server = await asyncio.start_server(tolerant(serve), "127.0.0.1", 0, backlog=1024)
        servers.append(server)
        ports[serve.__name__] = server.sockets[0].getsockname()[1]
    print(json.dumps(ports), flush=True)
    await asyncio.gather(*(server.serve_forever() for server in servers))


if __name__ == "__main__":
    asyncio.run(main())
