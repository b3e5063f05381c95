# SPDX-License-Identifier: MIT
"""HTTP clients that share a core with our server: their commands, and the cost and result of a run."""

import json
import os
import pathlib
import subprocess

from suite import peers

from . import report
from .process import Failure, pinned

PEERS = {"go": "go-client", "hyper": "hyper-client"}
NAMES = ("skua-epoll", "skua-io_uring", "curl", *PEERS)
PATIENCE_SECONDS = 300


def command(name, binaries, cache):
    """Returns the command of the client called `name`, built into `cache` if it is a peer; the caller adds a URL and counts."""
    if name in PEERS:
        try:
            return peers.client_command(PEERS[name], cache)
        except peers.Unavailable as reason:
            raise Failure(str(reason)) from reason
    if name not in NAMES:
        raise Failure(f"{name} is not one of {', '.join(NAMES)}")
    kind, _, backend = name.partition("-")
    program = pathlib.Path(binaries) / ("skua-bench-curl" if kind == "curl" else "skua-bench-client")
    if not os.access(program, os.X_OK):
        raise Failure(f"{name}: {program} is not built")
    return [str(program), *(["--backend", backend] if backend else [])]


def run(words, core):
    """Runs a client; returns the JSON that it prints."""
    try:
        done = subprocess.run(words, capture_output=True, text=True, stdin=subprocess.DEVNULL, preexec_fn=pinned(core),
                              timeout=PATIENCE_SECONDS, check=False)
    except subprocess.TimeoutExpired as error:
        raise Failure(f"{words[0]} took longer than {PATIENCE_SECONDS} s") from error
    if done.returncode:
        raise Failure(f"{words[0]} failed: {(done.stdout + done.stderr).strip()[-300:]}")
    return json.loads(done.stdout)


def measured(name, words, server, path, size, connections, requests, core):
    """Performs one run; raises Failure unless all of the content was read."""
    before = server.cpu_seconds()
    told = ["--url", f"http://127.0.0.1:{server.port}{path}", "--connections", str(connections), "--requests", str(requests)]
    result = run([*words, *told], core)
    if result["requests"] != requests or result["bytes"] != requests * size:
        raise Failure(f"{name} read {result['bytes']} bytes in {result['requests']} responses instead of {requests} of {size}")
    result["client_cpu"] = result["user"] + result["system"]
    result["server_cpu"] = server.cpu_seconds() - before
    return result


def plain(one):
    return one["client_cpu"] / one["requests"]


def normalised(one):
    """The server does the same work for every client, so its CPU shows how fast the machine was."""
    return one["client_cpu"] / one["server_cpu"]


def row(name, own, base):
    """Returns the table row of a client."""
    def median(value):
        return report.spread([value(one) for one in own])["median"]

    return [name, report.show_ratio(report.spread(report.ratios(own, base, normalised))),
            report.show_ratio(report.spread(report.ratios(own, base, plain))),
            f"{median(plain) * report.US:.2f}",
            f"{median(lambda one: one['server_cpu'] / one['requests']) * report.US:.2f}",
            f"{median(lambda one: one['requests'] / one['seconds']):.0f}"]


HEADS = ["client", "ratio (min..max)", "plain ratio", "CPU us/req", "server us/req", "req/s"]
