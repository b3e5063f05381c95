# SPDX-License-Identifier: MIT
"""Loads of a server that arrive in the same portions each time, however fast either side is.

A load is a function of a program and a number of operations. A server's instructions depend on how much is ready
whenever it looks: so a load waits for each response, and what has to arrive together is sent while the program is stopped.
"""

import contextlib
import pathlib
import socket
import ssl
import sys
import time

sys.path.append(str(pathlib.Path(__file__).resolve().parent.parent.parent / "tests/attack"))

import h2  # noqa: E402

from . import checks, websocket_client  # noqa: E402
from .process import Failure  # noqa: E402
from .program import held, settle  # noqa: E402

# Larger than any response, so that the server never waits for room.
RECEIVE_BUFFER_BYTES = 4 * 1024 * 1024


def connect(program):
    """Returns a connection that the program has accepted."""
    connection = socket.socket()
    connection.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, RECEIVE_BUFFER_BYTES)
    connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    connection.settimeout(60)
    connection.connect(("127.0.0.1", program.port))
    settle(program.process)
    return connection


@contextlib.contextmanager
def closing_at_once(program):
    """Yields a list; the connections in it end together."""
    opened = []
    try:
        yield opened
        with held(program.process):
            while opened:
                opened.pop().close()
    finally:
        for each in opened:
            each.close()


def exchange_http(connection, request):
    """Returns the size of the response, which must be a success."""
    connection.sendall(request)
    status, _, _, size = checks.receive_answer(connection)
    if not status.startswith("HTTP/1.1 200 "):
        raise Failure(f"the server answers {status}")
    return size


def exchange_all(program, senders, data, receivers, size):
    """Sends `data` on each of `senders`, all at once, then receives `size` bytes on each of `receivers`."""
    with held(program.process) if len(senders) > 1 else contextlib.nullcontext():
        for each in senders:
            each.sendall(data)
    for each in receivers:
        websocket_client.exactly(each, size)


def keep_alive(request, connections=1, pipelined=1, pause=0, is_tls=False):
    """Returns the load of persistent connections that each send `pipelined` requests and read the responses.

    `pause` is in seconds. Each connection sends one more request first, which shows how large a response is.
    """
    def load(program, count):
        with closing_at_once(program) as opened:
            for _ in range(connections):
                connection = connect(program)
                if is_tls:
                    connection = ssl._create_unverified_context().wrap_socket(connection)
                opened.append(connection)
                size = exchange_http(connection, request)
            for _ in range(count // (connections * pipelined)):
                time.sleep(pause)
                exchange_all(program, opened, request * pipelined, opened, size * pipelined)
    return load


def connection_each(request):
    """Returns the load of a connection for each request. The server sees connect, request and close apart."""
    def load(program, count):
        for _ in range(count):
            with connect(program) as connection:
                exchange_http(connection, request)
                settle(program.process)
            settle(program.process)
    return load


def upload(pieces):
    """Returns the load of one connection that sends requests in pieces, each when the last has been handled."""
    def load(program, count):
        with connect(program) as connection:
            for _ in range(count):
                for piece in pieces[:-1]:
                    connection.sendall(piece)
                    settle(program.process)
                exchange_http(connection, pieces[-1])
    return load


def echo(size, connections=1):
    """Returns the load of TCP connections whose messages come back."""
    def load(program, count):
        with closing_at_once(program) as opened:
            opened += [connect(program) for _ in range(connections)]
            for _ in range(count // connections):
                exchange_all(program, opened, b"s" * size, opened, size)
    return load


def upgraded(program, path):
    """Returns a new WebSocket without extensions."""
    connection = connect(program)
    websocket_client.upgrade(connection, path)
    return connection


def frame_size(size):
    """Returns the size of an unmasked frame with `size` bytes of payload, at most 65 535: RFC 6455 section 5.2."""
    return size + (2 if size < 126 else 4)


def masked(payload):
    """Returns a binary message in one frame, with a mask that changes every byte."""
    return websocket_client.frame(websocket_client.WebSocket.BINARY, payload, b"\x11\x22\x33\x44")


def websocket_echo(size):
    message = masked(b"w" * size)

    def load(program, count):
        with upgraded(program, "/ws") as connection:
            for _ in range(count):
                exchange_all(program, [connection], message, [connection], frame_size(size))
    return load


def publish(size, subscribers):
    """Returns the load of a WebSocket whose messages go to `subscribers` others."""
    message = masked(b"p" * size)

    def load(program, count):
        with closing_at_once(program) as opened:
            opened += [upgraded(program, "/subscribe") for _ in range(subscribers)]
            opened.append(upgraded(program, "/publish"))
            for _ in range(count):
                exchange_all(program, opened[-1:], message, opened[:-1], frame_size(size))
    return load


def http2_head(path, is_first):
    """Returns a field block as browsers send it: what has been sent before is an index (RFC 7541 section 6)."""
    authority, requested = (b"\x41" + h2.text(b"127.0.0.1"), b"\x44" + h2.text(path)) if is_first else (b"\xbf", b"\xbe")
    return b"\x82\x86" + authority + requested


def read_streams(peer, count):
    """Reads responses to the ends of `count` streams."""
    while count > 0:
        got = peer.frame()
        if got is None or got[0] in (h2.RST_STREAM, h2.GOAWAY):
            raise Failure(f"the server ended a stream or the connection: {got}")
        if got[0] == h2.HEADERS and (got[1] & h2.END_STREAM or b"\x88" not in got[3][:4]):
            raise Failure(f"a response without content, or not 200: {got}")
        if got[0] == h2.DATA and got[1] & h2.END_STREAM:
            count -= 1


def http2(path, streams=1, pause=0):
    """Returns the load of an HTTP/2 connection without TLS that sends `streams` requests at once."""
    most = (1 << 31) - 1

    def load(program, count):
        with h2.Peer(program.port, h2.setting(4, most), timeout=60) as peer:
            peer.send(h2.frame(h2.SETTINGS, h2.ACK, 0) + h2.frame(h2.WINDOW_UPDATE, 0, 0, (most - 65535).to_bytes(4, "big")))
            peer.send(h2.frame(h2.HEADERS, h2.END_STREAM | h2.END_HEADERS, 1, http2_head(path, True)))
            read_streams(peer, 1)
            head = http2_head(path, False)
            for first in range(3, 3 + 2 * count, 2 * streams):
                time.sleep(pause)
                peer.send(b"".join(h2.frame(h2.HEADERS, h2.END_STREAM | h2.END_HEADERS, stream, head)
                                   for stream in range(first, first + 2 * streams, 2)))
                read_streams(peer, streams)
    return load
