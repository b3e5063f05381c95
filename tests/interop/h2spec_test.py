#!/usr/bin/env python3
"""Every case of h2spec (generic, http2, hpack; strict) against skua-bench-server, in clear text and over TLS.

Usage: h2spec_test.py SKUA_BENCH_SERVER     h2spec is installed from the Go module proxy, beside the server;
                                            exits with 77 (skipped) without h2spec
"""
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
import urllib.parse

from served import SKIP, Program, certificate

MODULE = "github.com/summerwind/h2spec/cmd/h2spec@latest"


def h2spec(folder: pathlib.Path) -> str | None:
    """Returns the program's path; installs it if necessary."""
    found = shutil.which("h2spec", path=f"{folder}{os.pathsep}{os.environ['PATH']}")
    if found or not shutil.which("go"):
        return found
    command = ["go", "install", MODULE]
    try:
        done = subprocess.run(command, env={**os.environ, "GOBIN": str(folder)}, capture_output=True, text=True, timeout=180)
        if done.returncode:
            print(f"{' '.join(command)}: {done.stderr[-500:]}")
    except subprocess.TimeoutExpired:
        print(f"{' '.join(command)}: took too long")
    return shutil.which("h2spec", path=str(folder))


def passes(program: str, url: str) -> bool:
    parts = urllib.parse.urlsplit(url)
    tls = ["-t", "-k"] if parts.scheme == "https" else []
    command = [program, "--strict", "-o", "3", "-h", parts.hostname, "-p", str(parts.port), *tls]
    done = subprocess.run(command, capture_output=True, text=True, timeout=250)
    counts = re.search(r"(\d+) tests, (\d+) passed, (\d+) skipped, (\d+) failed", done.stdout)
    print(url, counts[0] if counts else done.stdout[-2000:], flush=True)
    if not counts or done.returncode or int(counts[4]):
        print(done.stdout[done.stdout.find("Failures"):])
        return False
    return int(counts[2]) >= 140 and counts[3] in ("0", "1")


def main(arguments: list[str]) -> int:
    server = pathlib.Path(arguments[0]).resolve()
    program = h2spec(server.parent.parent / "tools")
    if not program:
        print("skipped: h2spec is not installed, and could not be")
        return SKIP
    good = True
    with tempfile.TemporaryDirectory() as name:
        pair = certificate(pathlib.Path(name))
        kinds = [()] + ([("--tls-cert", pair[0], "--tls-key", pair[1])] if pair else [])
        for flags in kinds:
            with Program(str(server), "conformance", *flags) as url:
                good = passes(program, url) and good
    return 0 if good else 1


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
