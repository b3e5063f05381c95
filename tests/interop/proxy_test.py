#!/usr/bin/env python3
"""`skua serve --proxy` in front of servers of other languages: Node and Go.

Usage: proxy_test.py SKUA      exits with 77 (skipped) without both
"""
import json
import pathlib
import shutil
import socket
import subprocess
import sys
import tempfile
import urllib.parse

from served import SKIP, TIMEOUT, Program, Served

HERE = pathlib.Path(__file__).resolve().parent
LARGE = bytes(range(256)) * 4096 * 4  # 4 MiB


def exchange(url: str, request: bytes) -> tuple[str, bytes]:
    """Sends a request, and returns the head and everything after it."""
    place = urllib.parse.urlsplit(url)
    with socket.create_connection((place.hostname, place.port), TIMEOUT) as connection:
        connection.sendall(request)
        with connection.makefile("rb") as received:
            head, _, rest = received.read().partition(b"\r\n\r\n")
    return head.decode(), rest


def unchunked(data: bytes) -> tuple[bytes, str]:
    """Returns the content and the trailers."""
    content = b""
    while True:
        line, _, data = data.partition(b"\r\n")
        size = int(line, 16)
        if size == 0:
            return content, data.decode().strip()
        content, data = content + data[:size], data[size + 2:]


def check(skua: str, upstream: str):
    with tempfile.TemporaryDirectory() as folder, Served(skua, pathlib.Path(folder), "--proxy", f"/api={upstream}", "--allow-host", "site.example") as url:
        fields = "Host: site.example\r\nX-Forwarded-For: 6.6.6.6\r\nConnection: close\r\n"
        head, rest = exchange(url, f"GET /api/a%20b?c=d HTTP/1.1\r\n{fields}\r\n".encode())
        assert head.startswith("HTTP/1.1 200 "), head
        seen = json.loads(rest)
        assert seen["url"] == "/api/a%20b?c=d", seen
        assert seen["headers"]["host"] == "site.example", seen
        assert seen["headers"]["x-forwarded-for"] == "127.0.0.1", seen
        for more in ([], ["-H", "Transfer-Encoding: chunked"]):
            curl = ["curl", "-s", "--raw", "-D", "-", "--data-binary", "@-", "-H", "Expect:", *more, f"{url}/api/echo"]
            received = subprocess.run(curl, input=LARGE, capture_output=True, timeout=TIMEOUT, check=True).stdout
            head, _, rest = received.partition(b"\r\n\r\n")
            assert head.startswith(b"HTTP/1.1 200 "), head
            content, trailers = unchunked(rest)
            assert content == LARGE, len(content)
            assert trailers.lower() == f"x-size: {len(LARGE)}", trailers


def go(folder: str) -> list[str]:
    program = f"{folder}/peer"
    subprocess.run(["go", "build", "-o", program, str(HERE / "proxy_peer.go")], timeout=TIMEOUT, check=True)
    return [program]


def node(_) -> list[str]:
    return ["node", str(HERE / "proxy_peer.mjs")]


def main(skua: str) -> int:
    peers = [peer for peer in (node, go) if shutil.which(peer.__name__)]
    if not peers or not shutil.which("curl"):
        print("skipped: Node and Go, or curl, are not installed")
        return SKIP
    for peer in peers:
        with tempfile.TemporaryDirectory() as folder, Program(*peer(folder)) as upstream:
            check(skua, upstream)
        print(f"{peer.__name__}: passed")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1]))
