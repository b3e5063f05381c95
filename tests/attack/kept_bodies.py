#!/usr/bin/env python3
# Unfinished uploads to handlers that take whole bodies: a hundred on one HTTP/2 connection, then on two
# hundred HTTP/1 connections. Memory stays bounded, another client is served, and the memory is released
# once they are gone.
import select
import time

import h2
from harness import GET, Server, arguments, ask, check, for_each_backend

MOST_KIB = 128 * 1024
KEPT_KIB = 20 * 1024
BODY = 9_400_000
PIECE = b"0" * 16_000
CONNECTION = 0


class Streams:
    """Requests on one connection that send content as flow control allows."""

    def __init__(self, port, count):
        self.peer = h2.Peer(port, timeout=20)
        self.windows = {CONNECTION: 65_535}
        self.sent = {}
        for stream in range(1, 2 * count, 2):
            self.peer.send(h2.request(stream, b"POST", b"/", flags=h2.END_HEADERS))
            self.windows[stream], self.sent[stream] = 65_535, 0

    def has_frame(self):
        data = self.peer.data
        whole = len(data) >= 9 and len(data) >= 9 + int.from_bytes(data[:3], "big")
        return whole or bool(select.select([self.peer.sock], [], [], 0)[0])

    def read(self):
        while self.has_frame():
            got = self.peer.frame()
            check(got is not None, "the connection ended")
            kind, flags, stream, payload = got
            if kind == h2.WINDOW_UPDATE and stream in self.windows:
                self.windows[stream] += int.from_bytes(payload, "big")
            elif kind == h2.SETTINGS and not flags & h2.ACK:
                self.peer.send(h2.frame(h2.SETTINGS, h2.ACK, 0))
            elif kind == h2.RST_STREAM:
                self.windows.pop(stream, None)

    def send(self, seconds):
        """Sends until time is up or blocked for a second; returns the content bytes sent."""
        until, last = time.monotonic() + seconds, time.monotonic()
        while time.monotonic() < until and time.monotonic() - last < 1:
            self.read()
            for stream in list(self.sent):
                size = min(len(PIECE), self.windows.get(stream, 0), self.windows[CONNECTION], BODY - self.sent[stream])
                if size <= 0:
                    continue
                self.peer.send(h2.frame(h2.DATA, 0, stream, PIECE[:size]))
                self.windows[stream] -= size
                self.windows[CONNECTION] -= size
                self.sent[stream] += size
                last = time.monotonic()
            select.select([self.peer.sock], [], [], 0.01)
        return sum(self.sent.values())


def served(server, backend, what):
    answer, seconds = ask(server, GET)
    check(answer and answer[0] == 200, f"{backend}, {what}: another client got {answer}")
    small = b"POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 5\r\n\r\nsmall"
    check(ask(server, small)[0][2] == b"small", f"{backend}, {what}: a small upload was not served")
    return seconds * 1000


def one_connection(server):
    streams = Streams(server.port, 100)
    return [streams.peer.sock], streams.send(20)


def many_connections(server):
    head = b"POST / HTTP/1.1\r\nHost: a\r\nContent-Length: %d\r\n\r\n" % BODY
    sockets, left = [], {}
    for _ in range(200):
        sock = server.connect(20)
        sock.sendall(head)
        sock.setblocking(False)
        sockets.append(sock)
        left[sock] = BODY - 100_000
    sent, until, last = 0, time.monotonic() + 30, time.monotonic()
    while left and time.monotonic() < until and time.monotonic() - last < 1:
        for sock in select.select([], list(left), [], 0.1)[1]:
            try:
                count = sock.send(PIECE * 4)
            except OSError:  # the server refused it
                del left[sock]
                continue
            sent, last = sent + count, time.monotonic()
            left[sock] -= count
            if left[sock] <= 0:
                del left[sock]
    return sockets, sent


def attack(options, backend):
    with Server(options, backend, "conformance") as server:
        served(server, backend, "before")
        start = server.rss_kib()
        attacks = [("100 requests on one connection", one_connection)] if h2.is_spoken_at(server.port) else []
        for what, begin in [*attacks, ("200 connections", many_connections)]:
            sockets, sent = begin(server)
            milliseconds = served(server, backend, what)
            peak = server.peak_kib()
            for sock in sockets:
                sock.close()
            until = time.monotonic() + 10
            while server.rss_kib() > start + KEPT_KIB and time.monotonic() < until:
                time.sleep(0.1)
            kept = server.rss_kib() - start
            print(f"{backend}, {what}: {sent >> 20} MiB sent, at most {peak / 1024:.1f} MiB of memory, {kept / 1024:.1f} MiB "
                  f"more than before afterwards, another client served in {milliseconds:.1f} ms", flush=True)
            check(peak < MOST_KIB, f"{backend}, {what}: it took {peak} KiB")
            check(kept <= KEPT_KIB, f"{backend}, {what}: {kept} KiB were not released")
            check(server.is_alive(), f"{backend}, {what}: the server is gone")


OPTIONS = arguments()
for_each_backend(OPTIONS, attack, at_once=True)
