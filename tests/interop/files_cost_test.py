#!/usr/bin/env python3
"""Counts the system calls of `skua serve` for a file that is too large for its cache in memory: it stays open.

Usage: files_cost_test.py SKUA      exits with 77 (skipped) without strace, or a suitable file of the system
"""
import http.client
import os
import pathlib
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import time

from served import SKIP, Served, backends

REQUESTS = 100
# Opening, examining, closing, sending, and asking what is in memory.
COUNTED = ["openat2", "openat", "open", "close", "fstat", "newfstatat", "statx", "sendfile", "sendfile64", "preadv2"]


def settled_file() -> pathlib.Path | None:
    """Returns a program of 64 KiB to 1 MiB: a file of our own would be too young to stay open."""
    for path in sorted(pathlib.Path("/usr/bin").iterdir()):
        if path.is_file() and not path.is_symlink() and os.access(path, os.R_OK):
            stat = path.stat()
            if 70_000 < stat.st_size < 300_000 and max(stat.st_ctime, stat.st_mtime) < time.time() - 60:
                return path
    return None


def ask(url: str, file: pathlib.Path, content: bytes) -> set[str]:
    """Requests the file over one connection; returns its entity tags."""
    connection = http.client.HTTPConnection(url.removeprefix("http://").rstrip("/"), timeout=30)
    tags = set()
    for _ in range(REQUESTS):
        connection.request("GET", f"/{file.name}")
        response = connection.getresponse()
        body = response.read()
        assert response.status == 200 and body == content, f"{response.status}, {len(body)} bytes"
        tags.add(response.headers["ETag"])
    connection.close()
    return tags


def check(skua: str, backend: str, file: pathlib.Path, log: pathlib.Path):
    content = file.read_bytes()
    # A filter of system calls would be traced, too; the tested calls are the same without it.
    command = ["strace", "-f", "-qq", "-o", str(log), "-e", "trace=" + ",".join("?" + name for name in COUNTED), skua]
    served = Served(skua, file.parent, "--backend", backend, "--threads", "1", "--no-sandbox")
    served.command = (*command, *served.command[1:])
    served.environment = {**os.environ, "ASAN_OPTIONS": f"{os.environ.get('ASAN_OPTIONS', '')}:detect_leaks=0"}  # which does not work under strace
    before = time.monotonic()
    with served as url:
        tags = ask(url, file, content)
        seconds = time.monotonic() - before
        os.kill(int(log.read_text().split()[0]), signal.SIGTERM)  # strace itself ignores it
    assert len(tags) == 1 and not next(iter(tags)).startswith("W/"), tags
    lines = log.read_text(errors="replace").splitlines()
    first = next(i for i, line in enumerate(lines) if file.name in line)
    during = lines[first:[i for i, line in enumerate(lines) if "sendfile" in line][-1]]
    count = {name: sum(bool(re.match(rf"\d+ +{name}\(", line)) for line in during) for name in COUNTED}
    # A path is looked up once a second, and an open file is examined every 10 ms at most.
    looked_up, examined = seconds + 2, 2 * seconds + seconds / 0.01 + 4
    print(f"{backend}: {REQUESTS} requests in {seconds:.2f} s: {count}")
    assert count["openat2"] + count["openat"] + count["open"] <= looked_up, during
    assert count["close"] <= looked_up, during
    assert count["fstat"] + count["newfstatat"] + count["statx"] <= min(examined, REQUESTS + looked_up), during
    # Whether it is in memory is asked once a second, with two calls.
    assert count["preadv2"] <= 2 * looked_up, during
    # A piece goes out with each call; a small socket buffer takes the file in more than one.
    assert count["sendfile"] + count["sendfile64"] >= REQUESTS - 1, during


def main() -> int:
    skua = sys.argv[1]
    file = settled_file()
    if not shutil.which("strace") or file is None:
        print("skipped: no strace, or no suitable file in /usr/bin")
        return SKIP
    with tempfile.TemporaryDirectory() as folder:
        probe = subprocess.run(["strace", "-o", "/dev/null", "true"], capture_output=True, check=False)
        if probe.returncode != 0:
            print("skipped: strace may not trace here")
            return SKIP
        for backend in [*backends(skua), "poll"]:
            check(skua, backend, file, pathlib.Path(folder) / backend)
    return 0


if __name__ == "__main__":
    sys.exit(main())
