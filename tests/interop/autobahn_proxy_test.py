#!/usr/bin/env python3
"""The Autobahn test suite against skua-bench-server behind a reverse proxy, over HTTP/1.1 and over HTTP/2 (RFC 8441).

Usage: autobahn_proxy_test.py SKUA_BENCH_SERVER [--all]      expects `skua-passing-proxy` beside it; without --all, the
                                                            fast part of the suite; exits with 77 (skipped) without it
"""
import pathlib
import sys

import autobahn
from installed import cache_of
from served import SKIP, Program

# Frames and their fragments, pings, text, the end, and some long messages: what a tunnel could break.
CASES = "1.*,2.*,5.*,6.1.*,7.*,9.1.1,9.1.2,9.2.1,9.5.1,12.1.1,12.1.5,13.1.1"


def main(arguments: list[str]) -> int:
    server = pathlib.Path(arguments[0]).resolve()
    proxy = server.with_name("skua-passing-proxy")
    if not proxy.exists():
        print(f"skipped: {proxy.name} is not built")
        return SKIP
    codes = []
    cases = [] if "--all" in arguments else ["--cases", CASES]
    with Program(str(server), "conformance", "--port", "0", "--threads", "1") as upstream:
        for version in ("http1", "http2"):
            with Program(str(proxy), upstream, version) as front:
                reports = cache_of(server).parent / "autobahn" / f"proxy-{version}"
                url = front.replace("http", "ws", 1) + "/ws"
                codes.append(autobahn.main(["--reports", str(reports), "--tools", str(cache_of(server)), *cases, url]))
    return SKIP if SKIP in codes else max(codes)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
