#!/usr/bin/env python3
"""WebSocket libraries of Node, Python and Go against skua: as clients of its server, and as servers for `skua ws`.

Usage: websocket_test.py SKUA_BENCH_SERVER | URL     expects `skua` beside the server; skips libraries that cannot be
                                                     installed; exits with 77 (skipped) without any
"""
import os
import pathlib
import subprocess
import sys
import tempfile

import installed
from served import SKIP, TIMEOUT, Program, certificate

HERE = pathlib.Path(__file__).parent


class Peer:
    """A WebSocket library, run as `client URL` or `serve`."""

    def __init__(self, name: str, command: list[str], environment: dict[str, str] | None = None):
        self.name, self.command, self.environment = name, command, environment

    def check(self, url: str, authority: str | None):
        command = [*self.command, "client", url, *([authority] if authority else [])]
        done = subprocess.run(command, env=self.environment, capture_output=True, text=True, timeout=2 * TIMEOUT)
        assert done.returncode == 0, f"{self.name} against {url}: {done.stdout[-2000:]}{done.stderr[-2000:]}"

    def server(self) -> Program:
        return Program(*self.command, "serve", environment=self.environment)


def peers(cache: pathlib.Path) -> list[Peer]:
    found = []
    if environment := installed.node(cache, "ws@8"):
        found.append(Peer("node", ["node", str(HERE / "websocket_peer.mjs")], environment))
    if environment := installed.python(cache, "websockets==15.*"):
        found.append(Peer("python", [sys.executable, "-B", str(HERE / "websocket_peer.py")], environment))
    if program := installed.go(cache, HERE / "websocket_peer.go", "github.com/coder/websocket@v1.8.15"):
        found.append(Peer("go", [program]))
    return found


def clients(found: list[Peer], server: str):
    """Runs every library against our server, on every back end, in clear text and over TLS."""
    if "://" in server:
        for peer in found:
            peer.check(server, None)
            print(f"{peer.name} against {server}: ok", flush=True)
        return
    with tempfile.TemporaryDirectory() as name:
        pair = certificate(pathlib.Path(name))
        for backend in ("epoll", "io_uring", "poll"):
            for flags in [[], ["--tls-cert", pair[0], "--tls-key", pair[1]]] if pair else [[]]:
                with Program(server, "conformance", "--port", "0", "--threads", "1", "--backend", backend, *flags) as url:
                    for peer in found:
                        peer.check(url.replace("http", "ws", 1) + "/ws", pair[0] if flags else None)
                        print(f"{peer.name} against {backend}{', TLS' if flags else ''}: ok", flush=True)


def lines(skua: str, peer: Peer, flags: list[str]):
    """Echoes three lines, one after the other; at the end of the input the peer sees close code 1000."""
    server = peer.server()
    with server as url:
        client = subprocess.Popen([skua, "ws", url.replace("http", "ws", 1) + "/", *flags], stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                                  text=True, encoding="utf-8")
        try:
            for line in ("first\n", "Grüße, 世界\n", "x" * 100_000 + "\n"):
                client.stdin.write(line)
                client.stdin.flush()
                back = client.stdout.readline()
                assert back == line, f"skua ws says {back[:80]!r} to {line[:80]!r}"
            client.stdin.close()
            assert client.stdout.read() == ""
            assert client.wait(TIMEOUT) == 0, f"skua ws ended with {client.returncode}"
        finally:
            client.kill()
            client.wait(TIMEOUT)
        said = server.process.stdout.readline()
        assert said == "closed 1000\n", f"{peer.name} says {said!r}"
    print(f"skua ws {' '.join([*flags, 'against'])} {peer.name}: ok", flush=True)


def main(arguments: list[str]) -> int:
    server = arguments[0] if "://" in arguments[0] else str(pathlib.Path(arguments[0]).resolve())
    found = peers(pathlib.Path("build/tools").resolve() if "://" in server else installed.cache_of(server))
    if not found:
        print("skipped: no peer could be installed")
        return SKIP
    clients(found, server)
    skua = str(pathlib.Path(server).with_name("skua"))
    if not os.access(skua, os.X_OK) or b"Usage: skua ws" not in subprocess.run(
            [skua, "ws", "--help"], capture_output=True, timeout=TIMEOUT).stdout:
        print("skua ws: skipped, not built")
        return 0
    for peer in found:
        for flags in ([], ["--compress"]):
            lines(skua, peer, flags)
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
