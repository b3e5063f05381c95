#!/usr/bin/env python3
"""The Autobahn test suite against skua-bench-server and, if built, the client beside it.

Usage: autobahn_test.py SKUA_BENCH_SERVER [--all]      without --all, the fast part of the suite on one back end; exits
                                                      with 77 (skipped) without the suite; see autobahn.py
"""
import pathlib
import sys

import autobahn
from served import SKIP


def main(arguments: list[str]) -> int:
    server = pathlib.Path(arguments[0]).resolve()
    client = server.with_name("skua-autobahn-client")
    everything = "--all" in arguments
    runs = [[str(server)] if everything else ["--fast", "--backend", "epoll", str(server)],
            ["--wss", "--cases", "1.*,2.*,5.*,7.*", "--backend", "epoll", str(server)]]
    if client.exists():
        runs += [["--client", f"{client} {backend}"] for backend in ("epoll", "io_uring")] if everything \
            else [["--fast", "--client", f"{client} epoll"]]
    codes = [autobahn.main(run) for run in runs]
    return SKIP if SKIP in codes else max(codes)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
