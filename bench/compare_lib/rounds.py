# SPDX-License-Identifier: MIT
"""Rounds of a load that prints a count, against servers on the same core; for bench/secure and bench/websocket."""

import re
import resource
import statistics
import subprocess
import sys
import tempfile

from .process import Failure, pinned


def run(server, load, core, seconds):
    """Performs one run; returns the count of requests and the CPU seconds of both sides.

    `load(seconds)` returns a command, whose {port} is filled in, and a pattern for the count in its output.
    """
    command, counted = load(seconds)
    command = [word.format(port=server.port) for word in command]
    with tempfile.TemporaryFile() as output:
        server_before = server.cpu_seconds()
        before = resource.getrusage(resource.RUSAGE_CHILDREN)
        code = subprocess.run(command, stdout=output, stderr=output, stdin=subprocess.DEVNULL, preexec_fn=pinned(core),
                              timeout=seconds + 30, check=False).returncode
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
        server_cpu = server.cpu_seconds() - server_before
        output.seek(0)
        text = output.read().decode(errors="replace")
    found = re.search(counted, text)
    if code or not found or int(found[1]) == 0:
        raise Failure(f"{command[0]} failed against {server.name}: {text.strip()[-300:]}")
    load_cpu = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    return {"requests": int(found[1]), "server_cpu": server_cpu, "load_cpu": load_cpu}


def start(names, make, core):
    """Starts and returns the available servers; prints why others are left out."""
    running = []
    for name in names:
        server = None
        try:
            server = make(name)
            server.start(core)
            running.append(server)
        except Failure as failure:
            print(f"left out: {failure}", file=sys.stderr)
            if server is not None:
                server.stop()
    return running


def measure(running, load, options):
    """Returns the runs of each server, interleaved, in a different order each round; None marks a failed run."""
    runs = {server.name: [] for server in running}
    for number in range(options.rounds):
        turn = number % len(running)
        for server in running[turn:] + running[:turn]:
            try:
                runs[server.name].append(run(server, load, options.core, options.duration))
            except Failure as failure:
                print(f"failed: {failure}", file=sys.stderr)
                runs[server.name].append(None)
    return runs


HEADS = ["server", "CPU us each", "ratio", "plain ratio", "both sides", "runs"]


def rows(runs, base):
    """Yields for each server, as HEADS: its CPU per request, median ratios to the base, and the number of runs.

    The ratios are of its CPU divided by the load's, of its CPU, and of both sides' CPU. Only the last counts for large messages: the kernel does much of
    its work on whichever side happens to run.
    """

    def ratio(pairs, cost):
        return f"{statistics.median(cost(a) / cost(b) for a, b in pairs):.2f}" if pairs else "-"

    def normalised(one):
        return one["server_cpu"] / one["load_cpu"]

    def plain(one):
        return one["server_cpu"] / one["requests"]

    def both(one):
        return (one["server_cpu"] + one["load_cpu"]) / one["requests"]

    for name, own in runs.items():
        good = [one for one in own if one]
        if not good:
            continue
        pairs = [(one, other) for one, other in zip(own, runs.get(base, [])) if one and other]
        cpu = statistics.median(plain(one) * 1e6 for one in good)
        yield [name, f"{cpu:.2f}", ratio(pairs, normalised), ratio(pairs, plain), ratio(pairs, both), str(len(good))]
