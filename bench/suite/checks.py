# SPDX-License-Identifier: MIT
"""Checks what a server sends before it is timed: no server may win by sending less."""

import hashlib
import random
import re
import socket
import subprocess
import tempfile

from .place import JSON_FIELDS, find
from .process import Failure

GET = "GET {path} HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n"


def receive_answer(connection):
    """Returns the status line, fields (names in lower case), content and size of one response."""
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
    if "chunked" in fields.get("transfer-encoding", ""):
        body, size = receive_chunks(connection, body)
        return lines[0], fields, body, len(head) + 4 + size
    if not fields.get("content-length", "").isdigit():
        raise Failure("the response has no Content-Length")
    pieces = [body]
    missing = int(fields["content-length"]) - len(body)
    while missing > 0:
        piece = connection.recv(min(missing, 1 << 20))
        if not piece:
            raise Failure("the connection ended within the content")
        pieces.append(piece)
        missing -= len(piece)
    body = b"".join(pieces)
    return lines[0], fields, body, len(head) + 4 + len(body)


def receive_chunks(connection, data):
    """Returns the content of chunks without extensions or trailers, and their size on the wire."""
    content, at = [], 0
    while True:
        while b"\r\n" not in data[at:]:
            piece = connection.recv(65536)
            if not piece:
                raise Failure("the connection ended within a chunk")
            data += piece
        line = data.index(b"\r\n", at)
        size = int(data[at:line], 16)
        while len(data) < line + 2 + size + 2:
            piece = connection.recv(65536)
            if not piece:
                raise Failure("the connection ended within a chunk")
            data += piece
        content.append(data[line + 2:line + 2 + size])
        at = line + 2 + size + 2
        if size == 0:
            return b"".join(content), at


def connect(server):
    return socket.create_connection(("127.0.0.1", server.port), 10)


def request_of(load, path):
    """Returns the bytes of the request that `load` sends."""
    body = b"b" * load.body_bytes
    lines = [f"{'POST' if body else 'GET'} {path} HTTP/1.1", "Host: 127.0.0.1", *load.fields]
    if body:
        lines += [f"Content-Length: {len(body)}", "Content-Type: application/octet-stream"]
    head = "\r\n".join(lines) + "\r\n"
    while load.head_bytes > len(head) + 2:  # in fields of 8000 bytes, as load.lua does
        missing = load.head_bytes - len(head) - 2
        head += "X-Padding: " + "p" * ((8000 if missing > 9000 else missing) - 13) + "\r\n"
    return head.encode() + b"\r\n" + body


def plain(server, load, expected):
    """Raises Failure unless the request of `load` is answered with 200 and `expected`, twice on one connection; returns the response's fields."""
    path = f"/r{load.routes - 1}/items/42" if load.routes else load.path
    closes = any(field.lower() == "connection: close" for field in load.fields)
    fields = {}
    for _ in range(2 if closes else 1):
        with connect(server) as connection:
            for _ in range(1 if closes else 2):
                connection.sendall(request_of(load, path))
                status, fields, got, _ = receive_answer(connection)
                if not re.match(r"HTTP/1\.[01] 200\b", status):
                    raise Failure(f"answers {status}")
                if got != expected:
                    raise Failure(f"answers {got[:40]!r} ({len(got)} bytes) instead of {expected[:40]!r} ({len(expected)} bytes)")
            if closes:
                must_end(connection)
    if load.path == "/json":
        wrong = [name for name, value in JSON_FIELDS.items() if fields.get(name.lower()) != value]
        if wrong:
            raise Failure(f"sends no or another {', '.join(wrong)}")
    return fields


def must_end(connection):
    connection.settimeout(2)
    try:
        if connection.recv(1):
            raise Failure("sends more than it was asked for")
    except TimeoutError as error:
        raise Failure("does not close the connection") from error


def by_curl(server, load, expected, version):
    """The check of `plain`, over TLS or HTTP/2."""
    how = {"1.1": "--http1.1", "2": "--http2" if load.scheme == "https" else "--http2-prior-knowledge"}[version]
    url = f"{load.scheme}://127.0.0.1:{server.port}{load.path}"
    with tempfile.NamedTemporaryFile("r", encoding="latin-1") as head:
        command = [find("curl", "curl"), "-sSkf", "-D", head.name, "-w", "%{stderr}%{http_version}", how, url]
        ran = subprocess.run(command, capture_output=True, timeout=30, check=False)
        lines = head.read().splitlines()
    said = ran.stderr.decode(errors="replace").strip()
    if ran.returncode or not said.endswith(version):
        raise Failure(f"does not answer {url} over HTTP/{version}: {said[-200:]}")
    if ran.stdout != expected:
        raise Failure(f"sends {len(ran.stdout)} bytes ({hashlib.sha256(ran.stdout).hexdigest()[:8]}) instead of {len(expected)} for {load.path}")
    return {name.strip().lower(): value.strip() for name, _, value in (line.partition(":") for line in lines[1:])}


def missing_fields(fields):
    """Returns the names of usual fields that a response lacks."""
    return [name for name in ("Date", "Server", "Content-Type") if name.lower() not in fields]


def receive(connection, size):
    """Returns the next `size` bytes, or what comes before the end."""
    data = b""
    while len(data) < size:
        piece = connection.recv(size - len(data))
        if not piece:
            break
        data += piece
    return data


def echo(server):
    """Raises Failure unless bytes come back unchanged, in the same connection, and the end after them."""
    message = random.Random(1).randbytes(100_000)
    with connect(server) as connection:
        for size in (1, 13, 1024, len(message)):
            connection.sendall(message[:size])
            if receive(connection, size) != message[:size]:
                raise Failure(f"does not echo {size} bytes")
        connection.shutdown(socket.SHUT_WR)
        if connection.recv(1):
            raise Failure("sends more than it was sent")
