# SPDX-License-Identifier: MIT
"""Checks the responses of a server before it is timed: no server may win by sending less."""

import socket

from .process import Failure

REQUEST = "GET {path} HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n"


def receive_answer(connection):
    """Returns the status line, fields (names in lower case), body and size of one response."""
    data = b""
    while b"\r\n\r\n" not in data:
        piece = connection.recv(65536)
        if not piece:
            raise Failure("the connection ended within a head")
        data += piece
    head, _, body = data.partition(b"\r\n\r\n")
    lines = head.decode("latin-1").split("\r\n")
    fields = {}
    for line in lines[1:]:
        name, _, value = line.partition(":")
        fields[name.lower()] = value.strip()
    if not fields.get("content-length", "").isdigit():
        raise Failure("the response has no Content-Length")
    while len(body) < int(fields["content-length"]):
        piece = connection.recv(65536)
        if not piece:
            raise Failure("the connection ended within a body")
        body += piece
    return lines[0], fields, body, len(head) + 4 + len(body)


def check(server, path, body):
    """Raises Failure on a wrong response; returns its size and warnings about missing fields."""
    try:
        with socket.create_connection(("127.0.0.1", server.port), 5) as connection:
            for _ in range(2):  # the second proves that the connection is persistent
                connection.sendall(REQUEST.format(path=path).encode())
                status, fields, got, size = receive_answer(connection)
    except OSError as error:
        raise Failure(f"{server.name}: {error}") from error
    except Failure as error:
        raise Failure(f"{server.name}: {error}") from error
    if not status.startswith("HTTP/1.1 200 "):
        raise Failure(f"{server.name} answers {status}")
    if got != body:
        raise Failure(f"{server.name} answers {got[:40]!r} instead of {body!r}")
    missing = [name for name in ("Date", "Server", "Content-Type") if name.lower() not in fields]
    return size, [f"{server.name} sends no {name}" for name in missing]
