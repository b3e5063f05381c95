#!/usr/bin/env python3
"""The Autobahn test suite against a WebSocket server or client: every case must be OK or INFORMATIONAL.

Usage: autobahn.py [--fast | --cases 1.*,2.*] [--backend NAME]... [--wss] SERVER     SERVER: skua-bench-server, or a URL
       autobahn.py [--fast | --cases 1.*,2.*] --client PROGRAM                       PROGRAM is run with ws://127.0.0.1:PORT

Writes HTML reports to build/PRESET/autobahn (--reports names another folder). The suite is a Python 2 program, installed from
PyPI into a cache beside the server's folder. Exits with 77 (skipped) without Python 2.7 or the suite.
"""
import argparse
import collections
import glob
import json
import os
import pathlib
import re
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable

from installed import cache_of, provide
from served import SKIP, TIMEOUT, Program, certificate

# 25.10.1 has the same cases, but its wheel claims Python 3 while its code is Python 2.
SUITE = "autobahntestsuite==0.8.2"
GOOD = ("OK", "INFORMATIONAL")
SECONDS = 3000  # for all cases, on one back end
CASE_SECONDS = 240  # for one: the suite needs most of it for the slowest, 1000 compressed messages of 128 KiB
MOST_EXPLAINED = 40
# The fast run's share of the long parts: a few cases of limits (9.*) and compression (12.*, 13.*).
FAST = ["9.1.1", "9.1.2", "9.2.1", "9.2.2", "9.3.1", "9.4.1", "9.5.1", "9.6.1", "9.7.1", "9.8.1",
        *(f"12.{kind}.{size}" for kind in range(1, 6) for size in (1, 5)), *(f"13.{kind}.{size}" for kind in range(1, 8) for size in (1, 5))]
SELECTIONS = {"fast": ([*(f"{part}.*" for part in (1, 2, 3, 4, 5, 6, 7, 10)), *FAST]), "all": ["*"]}


def python2() -> str | None:
    """Finds a Python 2.7 with pip, in the PATH or in pyenv."""
    root = os.environ.get("PYENV_ROOT", os.path.expanduser("~/.pyenv"))
    candidates = [shutil.which(name) for name in ("python2.7", "pypy", "pypy2")] + glob.glob(f"{root}/versions/2.7*/bin/python2.7")
    for candidate in filter(None, candidates):
        done = subprocess.run([candidate, "-m", "pip", "--version"], capture_output=True, timeout=TIMEOUT)
        if done.returncode == 0:
            return candidate
    return None


class Suite:
    """`wstest`, installed; `start` runs it with a specification."""

    def __init__(self, python: str, folder: pathlib.Path):
        self.python = python
        self.environment = {**os.environ, "PYTHONUSERBASE": str(folder), "PYTHONWARNINGS": "ignore"}
        self.environment.pop("PYTHONPATH", None)

    @staticmethod
    def installed(cache: pathlib.Path):
        python = python2()
        if not python:
            return print("the Autobahn test suite needs Python 2.7 with pip, which is not installed")
        folder = cache / "autobahn"
        # As --user packages outside of the home: Python 2 cannot create virtual environments.
        command = [python, "-m", "pip", "install", "-q", "--user", "--ignore-installed", "--no-warn-script-location", SUITE]
        return Suite(python, folder) if provide(folder, command, PYTHONUSERBASE="{}", PYTHONWARNINGS="ignore") else None

    def start(self, mode: str, specification: dict, folder: pathlib.Path) -> subprocess.Popen:
        path = folder / "specification.json"
        path.write_text(json.dumps({"exclude-cases": [], "exclude-agent-cases": {}, "outdir": str(folder), **specification}))
        command = [self.python, "-B", "-u", "-m", "autobahntestsuite.wstest", "-m", mode, "-s", str(path), "-u", "0"]
        return subprocess.Popen(command, cwd=folder, env=self.environment, stdout=subprocess.PIPE, stderr=subprocess.STDOUT)


class Progress:
    """Parses the suite's output: the number of cases, and each case as it begins."""

    def __init__(self, title: str):
        self.title, self.total, self.begun, self.tail = title, 0, 0, collections.deque(maxlen=15)
        self.started = self.shown = time.monotonic()

    def take(self, line: str):
        self.tail.append(line.rstrip())
        if found := re.search(r"will run (\d+) test cases|test suite \((\d+) cases|(\d+) cases", line):
            self.total = self.total or int(next(filter(None, found.groups())))
        if found := re.search(r"Running test case ID ([\d.]+)", line):
            self.begun += 1
            now = time.monotonic()
            if now - self.shown >= 10:
                self.shown = now
                print(f"{self.title}: case {found[1]}, {self.begun} of {self.total}, {now - self.started:.0f} s", flush=True)


def follow(process: subprocess.Popen, progress: Progress, ends: Callable[[], bool]):
    """Reads until the suite ends or `ends()` is true; gives up after CASE_SECONDS of silence."""
    os.set_blocking(process.stdout.fileno(), False)
    started = heard = time.monotonic()
    rest = b""
    while True:
        piece = process.stdout.read()
        now = time.monotonic()
        if piece:
            heard = now
            *lines, rest = (rest + piece).split(b"\n")
            for line in lines:
                progress.take(line.decode(errors="replace"))
        elif piece == b"" or ends():
            return
        elif now - heard > CASE_SECONDS or now - started > SECONDS:
            print(f"{progress.title}: gave up, nothing happened for {now - heard:.0f} s of {now - started:.0f} s")
            return
        else:
            time.sleep(0.05)


def judge(title: str, folder: pathlib.Path, progress: Progress) -> bool:
    """Prints the counts of a report, and the cases that are not what they should be."""
    index = folder / "index.json"
    agents = json.loads(index.read_text()) if index.exists() else {}
    if len(agents) != 1:
        print(f"{title}: no report; the suite said last:", *progress.tail, sep="\n  ")
        return False
    cases = next(iter(agents.values()))
    bad = {name: case for name, case in cases.items() if case["behavior"] not in GOOD or case["behaviorClose"] not in GOOD}
    parts = collections.defaultdict(collections.Counter)
    for name, case in cases.items():
        for part in (int(name.split(".")[0]), 0):
            parts[part]["cases"] += 1
            parts[part][case["behavior"]] += 1
            parts[part]["bad"] += name in bad
    behaviours = sorted(set(parts[0]) - {"cases", "bad"}, key=lambda name: (name != "OK", name))
    print(f"\n{title}: {len(cases)} cases, {len(bad)} bad, {time.monotonic() - progress.started:.0f} s; report: {index.with_suffix('.html')}")
    print("| part | cases | " + " | ".join(behaviours) + " | bad |")
    for part in sorted(parts, key=lambda part: part or 99):
        counts = [str(parts[part][name]) for name in ("cases", *behaviours, "bad")]
        print(f"| {str(part) + '.*' if part else 'all':5}| " + " | ".join(counts) + " |")
    for name in sorted(bad, key=lambda name: [int(number) for number in name.split(".")])[:MOST_EXPLAINED]:
        explain(name, json.loads((folder / bad[name]["reportfile"]).read_text()))
    if len(bad) > MOST_EXPLAINED:
        print(f"  and {len(bad) - MOST_EXPLAINED} more")
    if progress.total and len(cases) != progress.total:
        print(f"{title}: {progress.total - len(cases)} cases of {progress.total} were not run")
    return not bad and len(cases) == (progress.total or len(cases)) and bool(cases)


def explain(name: str, case: dict):
    def plain(text) -> str:
        return " ".join(re.sub(r"<[^>]*>", " ", str(text)).split())[:300]
    print(f"  {name}: {case['behavior']}, close {case['behaviorClose']} (code {case['remoteCloseCode']}): {plain(case['description'])}")
    print(f"      expected: {plain(case['expectation'])}\n      got: {plain(case['result'])} {plain(case['resultClose'])}")


def empty(folder: pathlib.Path) -> pathlib.Path:
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    return folder.resolve()


def server_passes(suite: Suite, title: str, url: str, cases: list[str], folder: pathlib.Path) -> bool:
    progress = Progress(title)
    process = suite.start("fuzzingclient", {"servers": [{"agent": "skua", "url": url}], "cases": cases}, empty(folder))
    try:
        follow(process, progress, lambda: False)
    finally:
        process.kill()
        process.wait(TIMEOUT)
    return judge(title, folder, progress)


def client_passes(suite: Suite, program: str, cases: list[str], folder: pathlib.Path) -> bool:
    with socket.socket() as probe:  # the suite does not report a port that it picks itself
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    progress = Progress("client")
    suite_process = suite.start("fuzzingserver", {"url": f"ws://127.0.0.1:{port}", "cases": cases}, empty(folder))
    client = None
    try:
        for _ in range(TIMEOUT * 20):
            with socket.socket() as probe:
                if probe.connect_ex(("127.0.0.1", port)) == 0 or suite_process.poll() is not None:
                    break
            time.sleep(0.05)
        client = subprocess.Popen([*program.split(), f"ws://127.0.0.1:{port}"])
        follow(suite_process, progress, lambda: client.poll() is not None)
        code = client.poll()
        if code != 0:
            print(f"client: {program} " + ("is still running" if code is None else f"ended with {code}"))
    finally:
        for process in filter(None, (client, suite_process)):
            process.kill()
            process.wait(TIMEOUT)
    return judge("client", folder, progress) and code == 0


def servers_pass(suite: Suite, options: argparse.Namespace, cases: list[str], reports: pathlib.Path) -> bool:
    if "://" in options.server:
        return server_passes(suite, "server", options.server, cases, reports / "server")
    good, began = True, 0
    with tempfile.TemporaryDirectory() as name:
        pair = certificate(pathlib.Path(name)) if options.wss else None
        if options.wss and not pair:
            print("wss: skipped, openssl is not installed")
            return True
        flags = ["--tls-cert", pair[0], "--tls-key", pair[1]] if pair else []
        for backend in options.backend or ["epoll", "io_uring", "poll"]:
            server = Program(options.server, "conformance", "--port", "0", "--threads", "1", "--backend", backend, *flags)
            try:
                url = server.__enter__()
            except RuntimeError as error:  # containers often forbid io_uring
                print(f"{backend}: skipped: {error}")
                continue
            began += 1
            try:
                title = f"{'wss' if pair else 'ws'} {backend}"
                good = server_passes(suite, title, url.replace("http", "ws", 1) + "/ws", cases, reports / title.replace(" ", "-")) and good
            finally:
                server.process.send_signal(signal.SIGTERM)
                code = server.process.wait(TIMEOUT)
            if code:
                good = bool(print(f"{backend}: the server ended with {code}"))
    return good and began > 0


def main(arguments: list[str]) -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("server", nargs="?", help="skua-bench-server, or the ws:// URL of a server that echoes")
    parser.add_argument("--client", metavar="PROGRAM", help="a program that runs all cases against the URL it is given")
    parser.add_argument("--cases", type=lambda text: text.split(","), help="such as 1.*,7.3.2; default: all")
    parser.add_argument("--fast", action="store_true", help="run all cases, but only a few of 9.*, 12.* and 13.*")
    parser.add_argument("--backend", action="append", help="the server's back end; may be repeated; default: epoll, io_uring and poll")
    parser.add_argument("--wss", action="store_true", help="over TLS")
    parser.add_argument("--reports", type=pathlib.Path)
    parser.add_argument("--tools", type=pathlib.Path, default=pathlib.Path("build/tools"), help="the cache, if SERVER is a URL")
    options = parser.parse_args(arguments)
    if not (options.server or options.client):
        parser.error("a server or a client is needed")
    program = options.client.split()[0] if options.client else options.server
    cache = cache_of(program) if "://" not in program else options.tools.resolve()
    suite = Suite.installed(cache)
    if not suite:
        print("skipped: the Autobahn test suite is not installed")
        return SKIP
    cases = options.cases or SELECTIONS["fast" if options.fast else "all"]
    reports = (options.reports or cache.parent / "autobahn").resolve()
    good = client_passes(suite, options.client, cases, reports / "client") if options.client else servers_pass(suite, options, cases, reports)
    return 0 if good else 1


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
