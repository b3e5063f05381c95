# SPDX-License-Identifier: MIT
"""HTTP clients against a server of ours on their core: what they are, what a run of one cost, and what it read."""

import json
import os
import pathlib
import subprocess

from . import report
from .process import Failure, pinned

NAMES = ("skua-epoll", "skua-io_uring", "curl", "go")
PATIENCE_SECONDS = 300


def command(name, binaries, build_go):
    """How the client called `name` is started; a URL and counts are added."""
    if name == "go":
        program = build_go()
        if not program:
            raise Failure("go: there is no Go")
        return [program]
    if name not in NAMES:
        raise Failure(f"{name} is none of {', '.join(NAMES)}")
    kind, _, backend = name.partition("-")
    program = pathlib.Path(binaries) / ("skua-bench-curl" if kind == "curl" else "skua-bench-client")
    if not os.access(program, os.X_OK):
        raise Failure(f"{name}: {program} is not built")
    return [str(program), *(["--backend", backend] if backend else [])]


def run(words, core):
    """What a client prints at its end."""
    try:
        done = subprocess.run(words, capture_output=True, text=True, stdin=subprocess.DEVNULL, preexec_fn=pinned(core),
                              timeout=PATIENCE_SECONDS, check=False)
    except subprocess.TimeoutExpired as error:
        raise Failure(f"{words[0]} took longer than {PATIENCE_SECONDS} s") from error
    if done.returncode:
        raise Failure(f"{words[0]} failed: {(done.stdout + done.stderr).strip()[-300:]}")
    return json.loads(done.stdout)


def measured(name, words, server, path, size, connections, requests, core):
    """One run; raises Failure unless all of the content was read."""
    before = server.cpu_seconds()
    told = ["--url", f"http://127.0.0.1:{server.port}{path}", "--connections", str(connections), "--requests", str(requests)]
    result = run([*words, *told], core)
    if result["requests"] != requests or result["bytes"] != requests * size:
        raise Failure(f"{name} read {result['bytes']} bytes in {result['requests']} answers instead of {requests} of {size}")
    result["client_cpu"] = result["user"] + result["system"]
    result["server_cpu"] = server.cpu_seconds() - before
    return result


def plain(one):
    return one["client_cpu"] / one["requests"]


def normalised(one):
    """The server does the same for each request, whoever asks: its CPU says how fast the machine was."""
    return one["client_cpu"] / one["server_cpu"]


def row(name, own, base):
    """A client's line of the table."""
    def median(value):
        return report.spread([value(one) for one in own])["median"]

    return [name, report.show_ratio(report.spread(report.ratios(own, base, normalised))),
            report.show_ratio(report.spread(report.ratios(own, base, plain))),
            f"{median(plain) * report.US:.2f}",
            f"{median(lambda one: one['server_cpu'] / one['requests']) * report.US:.2f}",
            f"{median(lambda one: one['requests'] / one['seconds']):.0f}"]


HEADS = ["client", "ratio (min..max)", "plain ratio", "CPU us/req", "server us/req", "req/s"]
