#!/usr/bin/env python3
"""Large transfers over HTTP/2 with HAProxy, which sends small window updates: as the client of `skua serve`, and as the server
for `skua put`.

Usage: haproxy_test.py SKUA [ROUNDS]      exits with 77 (skipped) without haproxy
"""
import pathlib
import sys
import tempfile
import threading
import urllib.request

from asked import Skua, equal
from served import SKIP, Served
from servers import Haproxy, found, peer

SIZE = 300_000_000
PIECE = 1 << 20
TEXT = """
frontend front
  bind 127.0.0.1:@front@
  default_backend skua
frontend h2
  bind 127.0.0.1:@h2@ proto h2
  default_backend sink
backend skua
  server skua %(skua)s proto h2
backend sink
  server sink 127.0.0.1:%(sink)d
"""


def swallow(connection):
    """Reads one request with a Content-Length, and answers with the number of bytes received."""
    with connection.makefile("rb") as stream:
        length = 0
        while (line := stream.readline().strip().lower()):
            if line.startswith(b"content-length:"):
                length = int(line.split(b":")[1])
        got, buffer = 0, memoryview(bytearray(PIECE))
        while got < length and (count := stream.readinto1(buffer[:min(PIECE, length - got)])):
            got += count
        text = b"%d" % got
        connection.sendall(b"HTTP/1.1 200 OK\r\nConnection: close\r\nContent-Length: %d\r\n\r\n%s" % (len(text), text))


def download(url: str):
    with urllib.request.build_opener(urllib.request.ProxyHandler({})).open(url, timeout=60) as answer:
        got, buffer = 0, memoryview(bytearray(PIECE))
        while count := answer.readinto(buffer):
            got += count
    equal(got, SIZE, "downloaded")


def upload(skua: Skua, url: str, file: pathlib.Path):
    equal(skua("put", "--data", f"@{file}", "--http2", url).content, b"%d" % SIZE, "uploaded")


def run(program: str, rounds: int):
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        site = folder / "site"
        site.mkdir()
        large = site / "large.bin"
        with large.open("wb") as file:
            file.truncate(SIZE)  # sparse, so it takes no disk space
        with Served(program, site) as url, peer(swallow) as sink, \
                Haproxy(folder / "haproxy", TEXT % {"skua": url.removeprefix("http://"), "sink": sink}) as proxy:
            for number in range(rounds):
                failures = []

                def attempt(work, *arguments):
                    try:
                        work(*arguments)
                    except Exception as error:  # may be raised in a thread; reported below
                        failures.append(error)
                down = threading.Thread(target=attempt, args=(download, proxy.url("front") + "/large.bin"))
                down.start()
                attempt(upload, Skua(program), proxy.url("h2") + "/large.bin", large)
                down.join()
                assert not failures, f"round {number + 1} of {rounds}: {failures}"
    print(f"{rounds} rounds of {SIZE} bytes each way: ok", flush=True)


if not found("haproxy"):
    print("haproxy is not installed")
    sys.exit(SKIP)
run(sys.argv[1], int(sys.argv[2]) if len(sys.argv) > 2 else 20)
