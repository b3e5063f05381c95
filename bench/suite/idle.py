# SPDX-License-Identifier: MIT
"""What an idle connection costs a server: memory of its own."""

import select
import socket
import ssl
import struct
import time

from . import checks
from .process import Failure
from .websocket_client import WebSocket

WARM = 1000  # connections that are opened before and stay, so that one-time allocations and buffers of the thread do not count
OPENING_SECONDS = 60  # for all connections; the slowest server that keeps them needs ten
IP_BIND_ADDRESS_NO_PORT = 24  # linux/in.h; in Python since 3.12

PREFACE = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"
DATA, HEADERS, SETTINGS, GOAWAY = 0, 1, 4, 7
ACK = END_STREAM = 1
END_HEADERS = 4


def frame(kind, flags, stream, payload=b""):
    return struct.pack("!I", len(payload))[1:] + struct.pack("!BBI", kind, flags, stream) + payload


def http(connection, path):
    connection.sendall(checks.GET.format(path=path).encode())
    status, _, _, _ = checks.receive_answer(connection)
    if " 200 " not in status + " ":
        raise Failure(f"answers {status}")


def http2(connection, path):
    """Completes one exchange over HTTP/2 (RFC 9113 section 3.4): a request for /, with indexed fields only and a literal :authority."""
    scheme = b"\x87" if isinstance(connection, ssl.SSLSocket) else b"\x86"
    fields = b"\x82" + scheme + b"\x84" + b"\x01\x09localhost"  # RFC 7541 appendix A: 2, 6 or 7, 4, name 1
    connection.sendall(PREFACE + frame(SETTINGS, 0, 0) + frame(HEADERS, END_STREAM | END_HEADERS, 1, fields))
    while True:
        head = checks.receive(connection, 9)
        if len(head) < 9:
            raise Failure("the connection ended within a frame")
        size, kind, flags = int.from_bytes(head[:3], "big"), head[3], head[4]
        checks.receive(connection, size)
        if kind == SETTINGS and not flags & ACK:
            connection.sendall(frame(SETTINGS, ACK, 0))
        if kind == GOAWAY:
            raise Failure("answers with GOAWAY")
        if kind in (DATA, HEADERS) and flags & END_STREAM:
            return


def websocket(connection, path):
    client = WebSocket(connection, path)
    client.send(WebSocket.BINARY, b"hello")
    if (back := client.receive()) != (WebSocket.BINARY, b"hello"):
        raise Failure(f"wrong echo: {back!r}")


def echo(connection, path):
    connection.sendall(b"hello")
    back = checks.receive(connection, 5)
    if back != b"hello":
        raise Failure(f"wrong echo: {back!r}")


def nothing(connection, path):
    """Sends nothing, and expects nothing."""


def connect(server, number, tls):
    connection = socket.socket()
    # Closing resets the connection, so the port is free for the next server.
    connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
    # One address has ports for only 28,000 connections; connect() picks the port.
    connection.setsockopt(socket.IPPROTO_IP, IP_BIND_ADDRESS_NO_PORT, 1)
    # The request follows the end of the handshake at once; else it waits until that is acknowledged.
    connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    connection.settimeout(10)
    connection.bind((f"127.0.0.{2 + number // 20000}", 0))
    connection.connect(("127.0.0.1", server.port))
    return tls.wrap_socket(connection, server_hostname="localhost") if tls else connection


def client_context(protocol):
    context = ssl._create_unverified_context()
    context.set_alpn_protocols(["h2" if protocol is http2 else "http/1.1"])
    return context


def open_idle(server, opened, count, protocol, path, is_secure):
    """Opens connections that have had one exchange each, until there are `count`."""
    tls = client_context(protocol) if is_secure and protocol is not nothing else None
    end = time.monotonic() + OPENING_SECONDS
    while len(opened) < count:
        if time.monotonic() > end:
            raise OSError(f"the rest takes more than {OPENING_SECONDS} s")
        opened.append(connect(server, len(opened), tls))
        protocol(opened[-1], path)


def count_closed(opened):
    """Returns how many connections the server has closed, or sent something on."""
    poller = select.poll()
    for connection in opened:
        poller.register(connection, select.POLLIN)
    return len(poller.poll(0))


def settled(server):
    """Returns the server's own memory once it has stopped changing."""
    last = -1
    for _ in range(20):
        now = server.anonymous_kib()
        if now == last:
            break
        last = now
        time.sleep(0.1)
    return last


def measure(server, count, protocol, path="/", is_secure=False):
    """Returns bytes per idle connection."""
    opened = []
    try:
        open_idle(server, opened, WARM, protocol, path, is_secure)
        before = settled(server)
        open_idle(server, opened, WARM + count, protocol, path, is_secure)
        after = settled(server)
        if closed := count_closed(opened):
            raise Failure(f"closed {closed} of {len(opened)} connections meanwhile, which cost nothing")
    except OSError as error:
        raise Failure(f"{len(opened)} of {WARM + count} connections are open: {error}") from error
    finally:
        for connection in opened:
            connection.close()
    return {"bytes": (after - before) * 1024 / count, "connections": count}
