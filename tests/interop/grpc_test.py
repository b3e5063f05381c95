#!/usr/bin/env python3
"""gRPC through a reverse proxy: grpcio's client, skua's proxy, Go's server.

Usage: grpc_test.py SKUA      expects `skua-passing-proxy` beside it; exits with 77 (skipped) if it, Go, or one of the
                              libraries is missing
"""
import pathlib
import signal
import subprocess
import sys
import urllib.parse

import installed
from served import SKIP, TIMEOUT, Program

HERE = pathlib.Path(__file__).resolve().parent
MODULE = "google.golang.org/grpc@v1.85.0"
PACKAGE = "grpcio==1.85.*"


def address(url: str) -> str:
    return urllib.parse.urlsplit(url).netloc


def check(url: str, environment: dict[str, str]):
    command = [sys.executable, "-B", str(HERE / "grpc_client.py"), address(url)]
    done = subprocess.run(command, env=environment, capture_output=True, text=True, timeout=5 * TIMEOUT)
    assert done.returncode == 0, done.stdout[-2000:] + done.stderr[-4000:]


def main(skua: str) -> int:
    proxy = pathlib.Path(skua).resolve().with_name("skua-passing-proxy")
    if not proxy.exists():
        print(f"skipped: {proxy.name} is not built")
        return SKIP
    cache = installed.cache_of(skua)
    server = installed.go(cache, HERE / "grpc_peer.go", MODULE)
    environment = installed.python(cache, PACKAGE)
    if not server or not environment:
        print("skipped: the gRPC libraries of Go or Python are not installed")
        return SKIP
    signal.alarm(6 * TIMEOUT)  # the server may not say what is waited for
    upstream = Program(server)
    with upstream as url:
        for name, command in (("directly", None), ("through the proxy", [str(proxy), url, "http2"])):
            if command is None:
                check(url, environment)
            else:
                with Program(*command) as front:
                    check(front, environment)
            ends = [upstream.process.stdout.readline().strip() for _ in range(2)]
            # The side that notices first that the time is over ends the call.
            assert ends[0] in ("deadline", "cancelled") and ends[1] == "cancelled", ends
            print(f"{name}: ok", flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1]))
