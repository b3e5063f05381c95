# SPDX-License-Identifier: MIT
"""Runs wrk against a server on the same core, and measures the cost on both sides."""

import json
import os
import subprocess
import tempfile

from .process import Failure, pinned

SCRIPT = os.path.join(os.path.dirname(os.path.abspath(__file__)), "load.lua")


def command(wrk, server, options, connections, seconds):
    return [
        wrk,
        "-t1",
        f"-c{connections}",
        f"-d{seconds}s",
        "--timeout",
        "10s",
        "--latency",
        "-s",
        SCRIPT,
        f"http://127.0.0.1:{server.port}{options.path}",
    ]


def environment(pipeline):
    return {**os.environ, "BENCH_PIPELINE": str(pipeline)}


def parse(output):
    """Parses the line of JSON that load.lua prints among wrk's own output."""
    for line in reversed(output.splitlines()):
        if line.startswith('{"requests"'):
            return json.loads(line)
    raise Failure(f"wrk printed no result: {output.strip()[-300:]}")


def run(wrk, server, options, connections, pipeline, seconds):
    """Loads `server`; returns wrk's counts with the CPU seconds of the server and of wrk."""
    with tempfile.TemporaryFile() as output:
        before = server.cpu_seconds()
        process = subprocess.Popen(
            command(wrk, server, options, connections, seconds),
            stdout=output,
            stderr=output,
            env=environment(pipeline),
            preexec_fn=pinned(options.core),
        )
        try:
            _, status, usage = os.wait4(process.pid, 0)
        except BaseException:
            process.kill()
            process.wait()
            raise
        process.returncode = os.waitstatus_to_exitcode(status)
        after = server.cpu_seconds()
        output.seek(0)
        text = output.read().decode(errors="replace")
    if process.returncode != 0:
        raise Failure(f"wrk failed against {server.name}: {text.strip()[-300:]}")
    result = parse(text)
    if not server.is_alive():
        raise Failure(f"{server.name} ended under load: {server.said()}")
    if result["requests"] == 0:
        raise Failure(f"{server.name} did not answer any request")
    result["server_cpu"] = after - before
    result["wrk_cpu"] = usage.ru_utime + usage.ru_stime
    return result


def system_calls(wrk, perf, server, options, connections, pipeline):
    """Returns system calls per request, from a short separate pass; None if perf cannot count."""
    with tempfile.NamedTemporaryFile("r") as counted:
        wrapped = [
            perf,
            "stat",
            "-x,",
            "-o",
            counted.name,
            "-e",
            "raw_syscalls:sys_enter",
            "-p",
            ",".join(map(str, server.pids())),
            "--",
            *command(wrk, server, options, connections, 1),
        ]
        result = subprocess.run(
            wrapped,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            env=environment(pipeline),
            preexec_fn=pinned(options.core),
            timeout=30,
            check=False,
        )
        for line in counted.read().splitlines():
            fields = line.split(",")
            if result.returncode == 0 and "sys_enter" in line and fields[0].isdigit():
                return int(fields[0]) / parse(result.stdout.decode())["requests"]
    return None
