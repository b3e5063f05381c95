# SPDX-License-Identifier: MIT
"""One run of a load against a server, and interleaved rounds of them."""

import re
import resource
import subprocess
import tempfile

from .place import find
from .process import BATCH, Failure, pinned

PATIENCE_SECONDS = 20  # beyond the duration of a load
COUNTED_SECONDS = 0.3  # of a run whose system calls are counted


def execute(words, environment, core, seconds, policy=BATCH):
    """Runs a generator to its end; returns its code, its output and its CPU seconds."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    with tempfile.TemporaryFile() as output:
        try:
            code = subprocess.run(words, stdout=output, stderr=output, stdin=subprocess.DEVNULL, env=environment, check=False,
                                  preexec_fn=pinned(core, policy), timeout=seconds + PATIENCE_SECONDS).returncode
        except subprocess.TimeoutExpired as error:
            raise Failure(f"{words[0]} took longer than {seconds + PATIENCE_SECONDS} s") from error
        except OSError as error:
            raise Failure(f"{words[0]}: {error.strerror}") from error
        output.seek(0)
        text = output.read().decode(errors="replace")
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return code, text, after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def run(server, load, place, seconds, core, upstreams=(), policy=BATCH):
    """Loads `server`; returns what the generator counted, with the CPU seconds of both sides, and of the servers behind it, and the server's memory."""
    before, before_upstream = server.cpu_seconds(), sum(one.cpu_seconds() for one in upstreams)
    words = load.command(place, server.port, seconds)
    code, text, load_cpu = execute(words, load.environment(), core, seconds, policy)
    server_cpu = server.cpu_seconds() - before
    more = {"upstream_cpu": sum(one.cpu_seconds() for one in upstreams) - before_upstream} if upstreams else {}
    if not server.is_alive():
        raise Failure(f"{server.name} ended under load: {server.said()}")
    try:
        result = load.parse(text)
    except (ValueError, KeyError) as error:
        raise Failure(f"{words[0]} failed against {server.name}: {text.strip()[-300:]}") from error
    if result["requests"] == 0:
        raise Failure(f"{server.name} did not answer any request")
    if code and not any(result["errors"].values()):
        raise Failure(f"{words[0]} ended with code {code} against {server.name}: {text.strip()[-300:]}")
    return {"load_cpu": load_cpu, **result, "server_cpu": server_cpu, **more, "rss_kib": server.resident_kib()}


def system_calls(server, load, place, core, seconds=COUNTED_SECONDS):
    """Returns system calls per request, from a run of its own that also warms the server up; None if perf cannot count."""
    try:
        perf = find("perf", "linux-perf")
    except Failure:
        return None
    with tempfile.NamedTemporaryFile("r") as counted:
        wrapped = [perf, "stat", "-x,", "-o", counted.name, "-e", "raw_syscalls:sys_enter", "-p", ",".join(map(str, server.pids())), "--",
                   *load.command(place, server.port, seconds)]
        try:
            _, text, _ = execute(wrapped, load.environment(), core, seconds)
            found = re.search(r"^(\d+),,raw_syscalls:sys_enter", counted.read(), re.MULTILINE)
            return int(found[1]) / load.parse(text)["requests"] if found else None
        except (Failure, ValueError, ZeroDivisionError):
            return None


def rounds(names, one, count, note, is_settled=lambda runs, name: False):
    """Returns the runs of each competitor, interleaved, in a different order each round; `one(name)` performs a run.

    A competitor that fails twice is not asked again, nor one that is settled after a round.
    """
    runs = {name: [] for name in names}
    failures = {}
    for number in range(count):
        turn = number % len(names) if names else 0
        settled = {name for name in names if is_settled(runs, name)}
        for name in names[turn:] + names[:turn]:
            if name in settled or len(failures.get(name, [])) > 1:
                continue
            try:
                runs[name].append({"round": number, **one(name)})
            except Failure as failure:
                failures.setdefault(name, []).append(str(failure))
                note(f"failed: {failure}")
    return runs, failures
