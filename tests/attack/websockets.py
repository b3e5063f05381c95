#!/usr/bin/env python3
# WebSockets that break the rules, flood, announce what they do not send, or send what becomes large: each gets the
# right close code in time, the server's memory stays bounded, and another client is served throughout.
import socket
import struct
import time
import zlib

from harness import Server, arguments, check, for_each_backend

HANDSHAKE = (b"GET %s HTTP/1.1\r\nHost: a\r\nUpgrade: websocket\r\nConnection: Upgrade\r\nSec-WebSocket-Version: 13\r\n"
             b"Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n%s\r\n")
DEFLATE = b"Sec-WebSocket-Extensions: permessage-deflate\r\n"
TEXT, BINARY, CLOSE, PING = 1, 2, 8, 9
MASK = b"\0\0\0\0"  # so that nothing has to be masked here


def frame(opcode, payload=b"", final=True, compressed=False):
    return header(opcode, len(payload), final, compressed) + payload


def header(opcode, size, final=True, compressed=False):
    first = opcode | (0x80 if final else 0) | (0x40 if compressed else 0)
    if size < 126:
        return struct.pack("!BB", first, 0x80 | size) + MASK
    if size < 65536:
        return struct.pack("!BBH", first, 0xFE, size) + MASK
    return struct.pack("!BBQ", first, 0xFF, size) + MASK


class Socket:
    def __init__(self, server, path=b"/ws", fields=b"", receive_bytes=None):
        self.sock = socket.socket()
        if receive_bytes:
            self.sock.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, receive_bytes)
        self.sock.settimeout(20)
        self.sock.connect(("127.0.0.1", server.port))
        self.sock.sendall(HANDSHAKE % (path, fields))
        self.data = b""
        while b"\r\n\r\n" not in self.data:
            piece = self.sock.recv(4096)
            check(piece, "the handshake was not answered")
            self.data += piece
        head, self.data = self.data.split(b"\r\n\r\n", 1)
        check(head.startswith(b"HTTP/1.1 101 "), f"no WebSocket: {head!r}")

    def take(self, count):
        while len(self.data) < count:
            piece = self.sock.recv(65536)
            if not piece:
                return None
            self.data += piece
        taken, self.data = self.data[:count], self.data[count:]
        return taken

    def next(self):
        """(opcode, payload) of the next frame; None at the end."""
        start = self.take(2)
        if start is None:
            return None
        size = start[1] & 0x7F
        if size >= 126:
            size = int.from_bytes(self.take(2 if size == 126 else 8), "big")
        return start[0] & 0x0F, self.take(size)

    def close_code(self):
        """Of the close that comes after whatever else is said; None where the connection ends without one."""
        while (got := self.next()) is not None:
            if got[0] == CLOSE:
                return int.from_bytes(got[1][:2], "big")
        return None

    def send(self, data):
        """Whether all of it was taken."""
        try:
            self.sock.sendall(data)
            return True
        except (ConnectionResetError, BrokenPipeError):
            return False

    def end(self):
        self.sock.close()


class Witness:
    """Another client, who asks for an echo now and then."""

    def __init__(self, server):
        self.socket = Socket(server)
        self.slowest = 0

    def look(self):
        begin = time.monotonic()
        self.socket.send(frame(TEXT, b"still there?"))
        check(self.socket.next() == (TEXT, b"still there?"), "another client got no echo")
        self.slowest = max(self.slowest, time.monotonic() - begin)


def refused(server, data, code, fields=b""):
    peer = Socket(server, fields=fields)
    peer.send(data)
    got = peer.close_code()
    check(got == code, f"{data[:20]!r} was closed with {got}, not {code}")
    peer.end()


def breaking(server, _):
    """What a peer says wrong, with the code that it gets."""
    refused(server, struct.pack("!BBQ", 0x82, 0xFF, 1 << 63) + MASK, 1002)
    refused(server, struct.pack("!BBQ", 0x82, 0xFF, (1 << 63) - 1) + MASK, 1009)
    refused(server, header(BINARY, 17 << 20), 1009)
    refused(server, b"\x81\x05hello", 1002)  # not masked
    refused(server, frame(TEXT, b"x", compressed=True), 1002)  # nobody agreed on that
    refused(server, frame(TEXT, b"rubbish", compressed=True), 1007, DEFLATE)
    refused(server, frame(3), 1002)
    refused(server, frame(0, b"x"), 1002)
    refused(server, frame(CLOSE, b"x"), 1002)
    refused(server, frame(CLOSE, b"\x03\xed"), 1002)  # 1005
    text = "κόσμε".encode() + b"\xed\xa0\x80" + b"edited"
    for cut in range(1, len(text)):
        refused(server, frame(TEXT, text[:cut], final=False) + frame(0, text[cut:]), 1007)


def bomb(server, _):
    """A gigabyte of zeros, in a megabyte."""
    coder = zlib.compressobj(9, zlib.DEFLATED, -15)
    piece = bytes(1 << 20)
    data = b"".join(coder.compress(piece) for _ in range(1024)) + coder.flush(zlib.Z_SYNC_FLUSH)
    refused(server, frame(BINARY, data[:-4], compressed=True), 1009, DEFLATE)


def pings(server, options):
    """Pings whose answers nobody reads: the server stops reading."""
    peer = Socket(server, receive_bytes=4096)
    peer.sock.settimeout(0.2)
    flood = frame(PING, b"x" * 125) * 1000
    try:
        for _ in range(options.floods):
            if not peer.send(flood):
                break
    except TimeoutError:
        pass
    peer.end()


def fragments(server, options):
    """Fragments without end and without content."""
    peer = Socket(server)
    peer.send(frame(TEXT, b"", final=False))
    flood = frame(0, b"", final=False) * 10_000
    for _ in range(options.floods // 10):
        check(peer.send(flood), "empty fragments were refused")
    peer.send(frame(0, b"end"))
    check(peer.next() == (TEXT, b"end"), "a message of many fragments got lost")
    peer.end()


def promises(server, options):
    """Large messages that are announced and do not come."""
    peers = [Socket(server) for _ in range(options.peers)]
    for peer in peers:
        peer.send(header(BINARY, 16 << 20) + b"x" * 100)
    return peers


def for_ever_unread(server, options):
    """Subscribers who never read what is published."""
    peers = [Socket(server, b"/subscribe", receive_bytes=4096) for _ in range(options.peers)]
    publisher = Socket(server, b"/publish")
    for _ in range(options.floods):
        publisher.send(frame(BINARY, b"p" * 8192))
    publisher.send(frame(PING))
    check(publisher.next() == (10, b""), "the publisher is not served")
    publisher.end()
    return peers


ATTACKS = ((breaking, "conformance", 16), (bomb, "conformance", 48), (pings, "conformance", 16), (fragments, "conformance", 16),
           (promises, "conformance", 16), (for_ever_unread, "ws-echo", 64))


def attack(options, backend):
    for play, mode, most_mib in ATTACKS:
        with Server(options, backend, mode) as server:
            witness = Witness(server)
            witness.look()
            before = server.rss_kib()
            begin = time.monotonic()
            left = play(server, options) or []
            witness.look()
            seconds = time.monotonic() - begin
            growth = server.peak_kib() - before
            for peer in left:
                peer.end()
            witness.look()
            print(f"{backend}: {play.__name__}: {seconds:.1f} s, grew {growth / 1024:.1f} MiB, another client waited at most "
                  f"{witness.slowest * 1000:.0f} ms", flush=True)
            check(growth < most_mib * 1024, f"{backend}: {play.__name__}: grew by {growth} KiB")
            check(witness.slowest < 1, f"{backend}: {play.__name__}: another client waited {witness.slowest:.1f} s")
            check(server.is_alive(), f"{backend}: {play.__name__}: the server is gone")


OPTIONS = arguments(peers=200, floods=400)
if OPTIONS.long:
    OPTIONS.peers, OPTIONS.floods = 2000, 4000
for_each_backend(OPTIONS, attack)
