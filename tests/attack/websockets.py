#!/usr/bin/env python3
# WebSockets that break the rules, flood, announce messages that never come, send compressed bombs, or read nothing, on
# HTTP/1.1 connections and HTTP/2 streams: each gets the right close code, the server's memory stays bounded, and another
# client is served throughout.
import functools
import socket
import struct
import threading
import time
import zlib

import h2
from harness import Server, arguments, check, for_each_backend

HANDSHAKE = (b"GET %s HTTP/1.1\r\nHost: a\r\nUpgrade: websocket\r\nConnection: Upgrade\r\nSec-WebSocket-Version: 13\r\n"
             b"Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n%s\r\n")
DEFLATE = b"Sec-WebSocket-Extensions: permessage-deflate\r\n"
TEXT, BINARY, CLOSE, PING = 1, 2, 8, 9
KEPT_KIB = 20 * 1024  # how much memory a server may keep after an attack
MASK = b"\0\0\0\0"  # a zero mask leaves payloads unchanged


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
        """Returns (opcode, payload) of the next frame, or None at the end."""
        start = self.take(2)
        if start is None:
            return None
        size = start[1] & 0x7F
        if size >= 126:
            size = int.from_bytes(self.take(2 if size == 126 else 8), "big")
        return start[0] & 0x0F, self.take(size)

    def close_code(self):
        """Skips to the Close frame and returns its code, or None if the connection ends without one."""
        while (got := self.next()) is not None:
            if got[0] == CLOSE:
                return int.from_bytes(got[1][:2], "big")
        return None

    def send(self, data):
        """Reports whether all of the data was sent."""
        try:
            self.sock.sendall(data)
            return True
        except (ConnectionResetError, BrokenPipeError):
            return False

    def end(self):
        self.sock.close()


class Witness(threading.Thread):
    """Another client, which requests an echo again and again."""

    def __init__(self, server):
        super().__init__(daemon=True)
        self.socket = Socket(server)
        self.slowest, self.looks, self.wrong = 0, 0, None
        self.is_over = threading.Event()

    def run(self):
        try:
            while not self.is_over.wait(0.01):
                self.look()
        except OSError as error:
            self.wrong = repr(error)

    def look(self):
        begin = time.monotonic()
        self.socket.send(frame(TEXT, b"still there?"))
        got = self.socket.next()
        if got != (TEXT, b"still there?"):
            raise OSError(f"instead of an echo {got!r}")
        self.slowest = max(self.slowest, time.monotonic() - begin)
        self.looks += 1


def refused(server, data, code, fields=b""):
    peer = Socket(server, fields=fields)
    peer.send(data)
    got = peer.close_code()
    check(got == code, f"{data[:20]!r} was closed with {got}, not {code}")
    peer.end()


TEXT_OF_ALL_LENGTHS = "aκ\u20ac\U0001f426z".encode()
NOT_UTF8 = (b"\xed\xa0\x80", b"\xc0\xaf", b"\xe0\x80\xaf", b"\xf4\x90\x80\x80", b"\x80", b"\xff", b"\xf0\x9f\x90")


def breaking(server, _):
    """Protocol errors, with the close code for each."""
    refused(server, struct.pack("!BBQ", 0x82, 0xFF, 1 << 63) + MASK, 1002)
    refused(server, struct.pack("!BBQ", 0x82, 0xFF, (1 << 63) - 1) + MASK, 1009)
    refused(server, header(BINARY, 17 << 20), 1009)
    refused(server, b"\x81\x05hello", 1002)  # not masked
    refused(server, frame(TEXT, b"x", compressed=True), 1002)  # not negotiated
    refused(server, frame(TEXT, b"rubbish", compressed=True), 1007, DEFLATE)
    refused(server, frame(3), 1002)
    refused(server, frame(0, b"x"), 1002)
    refused(server, frame(TEXT, b"x", final=False) + frame(TEXT, b"x"), 1002)
    refused(server, frame(PING, b"x" * 126), 1002)
    refused(server, frame(PING, final=False), 1002)
    refused(server, frame(CLOSE, b"x"), 1002)
    refused(server, frame(CLOSE, b"\x03\xed"), 1002)  # 1005
    refused(server, frame(CLOSE, b"\x03\xe8\xff"), 1007)


def text(server, _):
    """Valid and invalid UTF-8, fragmented at every byte."""
    echo = Socket(server)
    for cut in range(len(TEXT_OF_ALL_LENGTHS) + 1):
        echo.send(frame(TEXT, TEXT_OF_ALL_LENGTHS[:cut], final=False) + frame(0, TEXT_OF_ALL_LENGTHS[cut:]))
        check(echo.next() == (TEXT, TEXT_OF_ALL_LENGTHS), f"a text fragmented at {cut} came back changed")
    echo.end()
    for wrong in NOT_UTF8:
        data = TEXT_OF_ALL_LENGTHS + wrong
        for cut in range(len(data) + 1):
            refused(server, frame(TEXT, data[:cut], final=False) + frame(0, data[cut:]), 1007)


@functools.cache
def zeros():
    """A gigabyte of zeros, compressed."""
    coder = zlib.compressobj(1, zlib.DEFLATED, -15)
    piece = bytes(1 << 20)
    return b"".join(coder.compress(piece) for _ in range(1024)) + coder.flush(zlib.Z_SYNC_FLUSH)[:-4]


def bomb(server, _):
    refused(server, frame(BINARY, zeros(), compressed=True), 1009, DEFLATE)
    pieces = [zeros()[at:at + 1000] for at in range(0, 200_000, 1000)]
    refused(server, frame(BINARY, b"", False, True) + b"".join(frame(0, piece, False) for piece in pieces), 1009, DEFLATE)


def pings(server, options):
    """Pings with unread pongs: the server stops reading."""
    peer = Socket(server, receive_bytes=4096)
    peer.sock.settimeout(0.3)
    flood = frame(PING, b"x" * 125) * 1000
    try:
        for _ in range(options.floods):
            peer.send(flood)
        check(False, f"{options.floods} thousand pings were taken while no pong was read")
    except TimeoutError:
        peer.end()


def fragments(server, options):
    """Very many empty fragments; then small ones of a message that gets too long."""
    peer = Socket(server)
    peer.send(frame(TEXT, b"", final=False))
    flood = (frame(0, b"", final=False) + frame(PING)) * 5_000
    pongs = threading.Thread(target=lambda: [peer.next() for _ in range(options.floods // 10 * 5_000)])
    pongs.start()
    for _ in range(options.floods // 10):
        check(peer.send(flood), "empty fragments were rejected")
    pongs.join()
    peer.send(frame(0, b"end"))
    check(peer.next() == (TEXT, b"end"), "a message of many fragments was lost")
    peer.end()
    peer = Socket(server)
    peer.send(frame(BINARY, b"", final=False))
    flood = frame(0, b"x" * 10, final=False) * 10_000
    for _ in range(170):
        if not peer.send(flood):
            break
    check(peer.close_code() == 1009, "a message of small fragments was not rejected as too long")
    peer.end()


def promises(server, options):
    """Large messages that are announced but never sent."""
    peers = [Socket(server) for _ in range(options.peers)]
    for peer in peers:
        peer.send(header(BINARY, 16 << 20) + b"x" * 100)
    return [peer.end for peer in peers]


def publish(server, options):
    publisher = Socket(server, b"/publish")
    for _ in range(options.floods):
        publisher.send(frame(BINARY, b"p" * 20_000))
    publisher.send(frame(PING))
    check(publisher.next() == (10, b""), "the publisher is not served")
    publisher.end()


def for_ever_unread(server, options):
    """Subscribers that never read published messages."""
    peers = [Socket(server, b"/subscribe", receive_bytes=4096) for _ in range(options.peers)]
    publish(server, options)
    check(peers[0].close_code() == 1008, "a subscriber that reads nothing was not closed")
    return [peer.end for peer in peers]


def connect_to(stream, path):
    fields = (b":protocol", b"websocket"), (b"sec-websocket-version", b"13")
    return h2.request(stream, b"CONNECT", path, *fields, flags=h2.END_HEADERS)


def shut_windows(server, options):
    """Subscribers on HTTP/2 streams that flood pings and whose windows stay closed."""
    peers = []
    flood = frame(PING, b"x" * 125) * 120
    for _ in range(options.peers // 50):
        peer = h2.Peer(server.port, h2.setting(4, 0))
        peers.append(peer)
        for stream in range(1, 200, 2):
            check(peer.send(connect_to(stream, b"/subscribe") + h2.frame(h2.DATA, 0, stream, flood)), "refused")
    publish(server, options)
    return [peer.sock.close for peer in peers]


def streams_of_promises(server, options):
    """Messages that are announced but never sent, on all streams but one, which is still served."""
    peers = []
    for _ in range(options.peers // 50):
        peer = h2.Peer(server.port)
        peers.append(peer)
        for stream in range(1, 198, 2):
            check(peer.send(connect_to(stream, b"/ws") + h2.frame(h2.DATA, 0, stream, header(BINARY, 16 << 20) + b"x" * 100)),
                  "refused")
        peer.send(connect_to(199, b"/ws") + h2.frame(h2.DATA, 0, 199, frame(TEXT, b"hello")))
        while (got := peer.frame()) is not None and not (got[0] == h2.DATA and got[2] == 199):
            continue
        check(got is not None and got[3] == b"\x81\x05hello", f"instead of an echo {got!r}")
    return [peer.sock.close for peer in peers]


# Attack, server mode, and the growth allowed in MiB.
ATTACKS = ((breaking, "conformance", 16), (text, "conformance", 16), (bomb, "conformance", 48), (pings, "conformance", 16),
           (fragments, "conformance", 48), (promises, "conformance", 16), (for_ever_unread, "ws-echo", 64),
           (shut_windows, "ws-echo", 64), (streams_of_promises, "conformance", 16))
OVER_HTTP2 = (shut_windows, streams_of_promises)


def speaks_http2(server):
    """Reports whether the server was built with nghttp2."""
    with h2.Peer(server.port) as peer:
        got = peer.frame()
        return got is not None and got[0] == h2.SETTINGS


def kept_kib(server, before):
    """The memory in KiB that the server has not released 10 s after an attack."""
    until = time.monotonic() + 10
    while server.rss_kib() > before + KEPT_KIB and time.monotonic() < until:
        time.sleep(0.1)
    return server.rss_kib() - before


def attack(options, backend):
    zeros()
    for play, mode, most_mib in ATTACKS:
        with Server(options, backend, mode) as server:
            if play in OVER_HTTP2 and not speaks_http2(server):
                print(f"{backend}: {play.__name__}: skipped, no HTTP/2", flush=True)
                continue
            witness = Witness(server)
            witness.look()
            witness.start()
            before = server.rss_kib()
            begin = time.monotonic()
            left = play(server, options) or []
            seconds = time.monotonic() - begin
            growth = server.peak_kib() - before
            for leave in left:
                leave()
            witness.is_over.set()
            witness.join()
            name = f"{backend}: {play.__name__}"
            check(witness.wrong is None, f"{name}: another client got {witness.wrong}")
            witness.look()
            kept = kept_kib(server, before)
            print(f"{name}: {seconds:.1f} s, grew {growth / 1024:.1f} MiB, kept {kept / 1024:.1f} MiB, another client waited at most "
                  f"{witness.slowest * 1000:.0f} ms for {witness.looks} echoes", flush=True)
            check(growth < most_mib * 1024, f"{name}: grew by {growth} KiB")
            check(kept <= KEPT_KIB, f"{name}: {kept} KiB were not released")
            check(witness.slowest < 1, f"{name}: another client waited {witness.slowest:.1f} s")
            check(server.is_alive(), f"{name}: the server is gone")


OPTIONS = arguments(peers=200, floods=400)
if OPTIONS.long:
    OPTIONS.peers, OPTIONS.floods = 2000, 4000
for_each_backend(OPTIONS, attack)
