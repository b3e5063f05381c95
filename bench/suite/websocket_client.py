# SPDX-License-Identifier: MIT
"""A blocking WebSocket client without extensions, for tests."""

import base64
import hashlib
import os


def exactly(connection, count):
    """Returns the next `count` bytes."""
    data = bytearray()
    while len(data) < count:
        piece = connection.recv(count - len(data))
        if not piece:
            raise ConnectionError("the server closed the connection")
        data += piece
    return bytes(data)


def upgrade(connection, path):
    """Makes a connection a WebSocket without extensions, and reads nothing after the head."""
    key = base64.b64encode(os.urandom(16)).decode()
    connection.sendall(f"GET {path} HTTP/1.1\r\nHost: 127.0.0.1\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n"
                       f"Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: {key}\r\n\r\n".encode())
    head = b""
    while not head.endswith(b"\r\n\r\n"):
        head += exactly(connection, 1)  # bytes after the head belong to the frames
    accepted = base64.b64encode(hashlib.sha1(f"{key}258EAFA5-E914-47DA-95CA-C5AB0DC85B11".encode()).digest())
    if not head.startswith(b"HTTP/1.1 101 ") or accepted not in head or b"sec-websocket-extensions" in head.lower():
        raise ConnectionError(f"no WebSocket at {path}: {head!r}")


def frame(kind, body, mask):
    """Returns a message in one masked frame (RFC 6455 section 5.2)."""
    size = len(body)
    length = bytes([0x80 | size]) if size < 126 else b"\xfe" + size.to_bytes(2, "big") if size < 65536 else b"\xff" + size.to_bytes(8, "big")
    repeated = (mask * (size // 4 + 1))[:size]
    masked = (int.from_bytes(body, "big") ^ int.from_bytes(repeated, "big")).to_bytes(size, "big")
    return bytes([0x80 | kind]) + length + mask + masked


class WebSocket:
    TEXT, BINARY = 1, 2

    def __init__(self, connection, path):
        """Takes over a connection and performs the handshake."""
        self.socket = connection
        upgrade(connection, path)

    def send(self, kind, body):
        self.socket.sendall(frame(kind, body, os.urandom(4)))

    def receive(self):
        """Returns the kind and the content of the next message."""
        kind, body, is_last = 0, b"", False
        while not is_last:
            first, second = exactly(self.socket, 2)
            length = second & 0x7F
            if second & 0x80 or first & 0x70:
                raise ConnectionError("a frame of the server is masked or has reserved bits")
            if length >= 126:
                length = int.from_bytes(exactly(self.socket, 2 if length == 126 else 8), "big")
            content = exactly(self.socket, length)
            if first & 0x08:
                raise ConnectionError(f"an unexpected control frame: {first:#x} {content!r}")
            kind, body, is_last = kind or first & 0x0F, body + content, bool(first & 0x80)
        return kind, body

    def close(self):
        self.socket.close()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()
