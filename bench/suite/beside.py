# SPDX-License-Identifier: MIT
"""Latencies of a healthy route of a gateway, while requests for other routes fail beside it.

The others get the same rate of requests in each phase. In the first one their server is well; that phase is the yardstick of the same round.
"""

import contextlib
import json
import pathlib
import select
import signal
import statistics
import subprocess
import sys

from . import loads, measure, report
from .failing import KINDS
from .process import AHEAD, USUAL, Failure, pinned

PROGRAM = pathlib.Path(__file__).with_name("failing.py")
PATIENCE_SECONDS = 10
WELL, ALL = "well", "all"
ROUTES = (WELL, *KINDS)
HEALTHY = "/plaintext"
RATE, CONNECTIONS = 2000, 32  # of the healthy route
# The other routes have as many generators as there are kinds. Their clients give up soon, so that those that hang come again.
OTHER_RATE, OTHER_CONNECTIONS, OTHER_TIMEOUT = 100, 8, 0.5


def phases(is_quick):
    """Returns the names of phases, and the routes that are asked for in each, one for each generator."""
    each = {} if is_quick else {kind: (kind,) * len(KINDS) for kind in KINDS}
    return {WELL: (WELL,) * len(KINDS), **each, ALL: KINDS}


@contextlib.contextmanager
def ended(process):
    """Ends a process by its id at the end."""
    try:
        yield process
    finally:
        process.terminate()
        try:
            process.wait(PATIENCE_SECONDS)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()
        if process.stdout:
            process.stdout.close()


@contextlib.contextmanager
def failing_servers(core):
    """Runs the servers of failing.py meanwhile; yields their ports by name."""
    process = subprocess.Popen([sys.executable, "-B", str(PROGRAM)], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, text=True,
                               preexec_fn=pinned(core, USUAL))
    with ended(process):
        if not select.select([process.stdout], [], [], PATIENCE_SECONDS)[0] or not (line := process.stdout.readline()):
            raise Failure(f"{PROGRAM.name} does not say its ports")
        yield json.loads(line)


@contextlib.contextmanager
def others(place, port, routes, seconds, core):
    """Requests `routes` meanwhile, one generator for each; fails unless all of them answered what they should have."""
    words = [place.program("skua"), "bench", "--json", "-q", "-t1", f"-c{OTHER_CONNECTIONS}", "--rate", str(OTHER_RATE), "--timeout", str(OTHER_TIMEOUT),
             "--backend", "epoll", f"-d{seconds}"]
    with contextlib.ExitStack() as stack:
        generators = [(route, stack.enter_context(ended(subprocess.Popen([*words, f"http://127.0.0.1:{port}/{route}"], stdin=subprocess.DEVNULL,
                                                                          stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True,
                                                                          preexec_fn=pinned(core, USUAL))))) for route in routes]
        yield
        for route, process in generators:
            process.send_signal(signal.SIGINT)  # it prints what it has counted so far
            try:
                text, _ = process.communicate(timeout=PATIENCE_SECONDS)
            except subprocess.TimeoutExpired as error:
                raise Failure(f"the requests for /{route} do not end") from error
            must_be(route, text)


def must_be(route, text):
    """Raises Failure if requests for a route that fails were answered well, or those for one that is well were not."""
    try:
        codes = json.loads(text[text.index("{"):])["status_codes"]
    except ValueError as error:
        raise Failure(f"the requests for /{route} were not counted: {text[-300:]}") from error
    good = sum(count for status, count in codes.items() if status.startswith("2"))
    if (route == WELL) != (good > 0):
        raise Failure(f"/{route} was answered with {codes}")


def run(server, place, seconds, core, is_quick):
    """Returns the p99 of each phase in microseconds, and the errors of the healthy route."""
    load = loads.Skua(CONNECTIONS, RATE, path=HEALTHY)
    found = {"p99_us": {}, "errors": loads.no_errors()}
    for phase, routes in phases(is_quick).items():
        with others(place, server.port, routes, seconds + PATIENCE_SECONDS, core):
            got = measure.run(server, load, place, seconds, core, policy=AHEAD)
        found["p99_us"][phase] = got["p99_us"]
        for kind, count in got["errors"].items():
            found["errors"][kind] += count
    return found


def row(name, runs):
    """Returns the row of one gateway: its p99 while all is well, and how many times as long it is in each other phase, each in the same round."""
    beside = {phase: report.spread([run["p99_us"][phase] / run["p99_us"][WELL] for run in runs]) for phase in runs[0]["p99_us"] if phase != WELL}
    return {"name": name, "p99_us": statistics.median(run["p99_us"][WELL] for run in runs), "beside": beside,
            "errors": {kind: sum(run["errors"][kind] for run in runs) for kind in runs[0]["errors"]}}
