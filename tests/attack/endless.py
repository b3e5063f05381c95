#!/usr/bin/env python3
# Messages that never end: each is rejected with the right status once it exceeds its limit, and the
# server's memory stays bounded.
import time

from harness import Reader, Server, arguments, ask, check, for_each_backend

POST = b"POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n"

# Name: (start, repeated piece, maximum number of pieces, status)
ENDLESS = {
    "a header line": (b"GET / HTTP/1.1\r\nHost: a\r\nX: ", b"a" * 1000, 100, 431),
    "header lines": (b"GET / HTTP/1.1\r\nHost: a\r\n", b"X: a\r\n" * 10, 100, 431),
    "long header lines": (b"GET / HTTP/1.1\r\nHost: a\r\n", b"X: " + b"a" * 5000 + b"\r\n", 100, 431),
    "a target": (b"GET /", b"a" * 1000, 100, 414),
    "a method": (b"", b"A" * 100, 100, 501),
    "a chunked body": (POST, b"2000\r\n" + b"a" * 0x2000 + b"\r\n", 40_000, 413),
    "tiny chunks": (POST, b"1\r\na\r\n" * 2000, 20_000, 413),
    "chunk extensions": (POST, b"1;" + b"a" * 100 + b"\r\na\r\n", 1000, 400),
    "one extension": (POST + b"1;a=\"", b"a" * 100, 1000, 400),
    "zeros of a chunk size": (POST, b"0" * 100, 100, 400),
    "trailers": (POST + b"1\r\na\r\n0\r\n", b"X: a\r\n" * 10, 1000, 431),
    "a trailer line": (POST + b"0\r\nX: ", b"a" * 1000, 1000, 431),
}


def send_endlessly(server, first, again, pieces):
    with server.connect(20) as sock:
        sent = 0
        try:
            sock.sendall(first)
            for _ in range(pieces):
                sock.sendall(again)
                sent += len(again)
        except OSError:
            pass  # the server has closed, but its response can still be read
        try:
            return Reader(sock).answer(), sent
        except OSError as error:
            return error, sent


def drip(server, seconds):
    """A chunked body, sent byte by byte: slow progress is still progress."""
    with server.connect(20) as sock:
        sock.sendall(POST)
        end = time.monotonic() + seconds
        count = 0
        while time.monotonic() < end:
            for byte in b"1\r\na\r\n":
                sock.sendall(bytes((byte,)))
            count += 1
            time.sleep(0.01)
        sock.sendall(b"0\r\n\r\n")
        return Reader(sock).answer(), count


def attack(options, backend):
    with Server(options, backend, mode="conformance") as server:
        ask(server)
        before = server.rss_kib()
        for what, (first, again, pieces, status) in ENDLESS.items():
            answer, sent = send_endlessly(server, first, again, pieces)
            check(isinstance(answer, tuple), f"{backend}: {what}: {answer!r} after {sent} bytes")
            check(answer[0] == status, f"{backend}: {what}: {answer[0]}, not {status}")
            check(b"connection: close" in answer[1].lower(), f"{backend}: {what}: no close")
        answer, count = drip(server, options.seconds)
        check(answer and answer[0] == 200 and len(answer[2]) == count,
              f"{backend}: a body in drips: {answer!r}")
        growth = server.rss_kib() - before
        print(f"{backend}: {len(ENDLESS)} endless messages rejected, grew {growth} KiB", flush=True)
        # Limits::body_bytes is 10 MiB, and a string that grows briefly holds twice that.
        check(growth < 32 * 1024, f"{backend}: the server grew by {growth} KiB")


OPTIONS = arguments(seconds=1.0)
for_each_backend(OPTIONS, attack)
