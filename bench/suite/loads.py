# SPDX-License-Identifier: MIT
"""Load generators: the command for a port and a duration, and what its output says."""

import dataclasses
import json
import math
import os
import pathlib
import re
import typing

from . import peers
from .place import find
from .process import Failure

LUA = str(pathlib.Path(__file__).with_name("load.lua"))
ERRORS = ("connect", "read", "write", "timeout", "status")


def no_errors():
    return dict.fromkeys(ERRORS, 0)


def last_json(text):
    """Returns the last line of `text` that is a JSON object."""
    for line in reversed(text.splitlines()):
        if line.startswith("{"):
            return json.loads(line)
    raise Failure(f"no result: {text.strip()[-300:]}")


@dataclasses.dataclass(frozen=True)
class Wrk:
    """HTTP/1.1; see load.lua for what it can be told. wrk knows whole seconds only, and ends on SIGINT as if its time were up.

    Over TLS at least a second: the handshakes of 64 connections alone take a fifth of one, and more on a busy machine.
    """

    connections: int
    path: str = "/"
    scheme: str = "http"
    threads: int = 1
    pipeline: int = 1
    routes: int = 0
    head_bytes: int = 0
    body_bytes: int = 0
    fields: tuple = ()

    @property
    def least_seconds(self):
        return 1 if self.scheme == "https" else 0

    def command(self, place, port, seconds):
        fields = [word for field in self.fields for word in ("-H", field)]
        seconds = max(seconds, self.least_seconds)
        whole = math.ceil(seconds)
        bounded = [] if whole == seconds else ["timeout", "--preserve-status", "-s", "INT", f"{seconds}"]
        return [*bounded, find("wrk", "wrk"), f"-t{self.threads}", f"-c{self.connections}", f"-d{whole}s", "--timeout", "10s", "--latency", "-s", LUA, *fields,
                f"{self.scheme}://127.0.0.1:{port}{self.path}"]

    def environment(self):
        return {**os.environ, "BENCH_PIPELINE": str(self.pipeline), "BENCH_ROUTES": str(self.routes),
                "BENCH_HEAD_BYTES": str(self.head_bytes), "BENCH_BODY_BYTES": str(self.body_bytes)}

    def parse(self, text):
        result = last_json(text)
        return {**result, "bytes": result["bytes"] + result["requests"] * self.body_bytes}


@dataclasses.dataclass(frozen=True)
class H2load:
    """HTTP/2, with prior knowledge or by ALPN. At least a second: h2load often hangs if a server (Node) is slow to complete handshakes."""

    connections: int
    streams: int
    path: str = "/"
    scheme: str = "http"
    least_seconds: typing.ClassVar[int] = 1

    def command(self, place, port, seconds):
        return [find("h2load", "nghttp2-client"), "-t1", f"-c{self.connections}", f"-m{self.streams}", f"-D{round(max(seconds, self.least_seconds) * 1000)}ms", "--warm-up-time=0",
                f"{self.scheme}://127.0.0.1:{port}{self.path}"]

    def environment(self):
        return dict(os.environ)

    def parse(self, text):
        counts = re.search(r"requests: .*?(\d+) succeeded, (\d+) failed, (\d+) errored, (\d+) timeout", text)
        lasted = re.search(r"finished in ([\d.]+)(us|ms|s)", text)
        received = re.search(r"traffic: [^(]*\((\d+)\) total", text)
        worst = re.search(r"time for request:\s+\S+\s+([\d.]+)(us|ms|s)", text)
        if not counts or not lasted:
            raise Failure(f"h2load printed no result: {text.strip()[-300:]}")
        unit = {"us": 1e-6, "ms": 1e-3, "s": 1.0}
        bad = no_errors()
        # What is in flight when the time is up counts as failed, too: only errors and timeouts are of the server.
        bad["read"], bad["timeout"] = int(counts[3]), int(counts[4])
        statuses = re.search(r"status codes: \d+ 2xx, (\d+) 3xx, (\d+) 4xx, (\d+) 5xx", text)
        bad["status"] = sum(int(count) for count in statuses.groups()) if statuses else 0
        return {"requests": int(counts[1]), "seconds": float(lasted[1]) * unit[lasted[2]], "bytes": int(received[1]) if received else 0,
                "max_us": float(worst[1]) * unit[worst[2]] * 1e6 if worst else None, "errors": bad}


@dataclasses.dataclass(frozen=True)
class H1load(H2load):
    """h2load, but over HTTP/1.1; `streams` is the pipelining depth."""

    def command(self, place, port, seconds):
        words = super().command(place, port, seconds)
        return [words[0], "--h1", *words[1:]]


@dataclasses.dataclass(frozen=True)
class Handshakes:
    """Connects, performs a handshake and closes, again and again; `openssl s_time` resumes TLS 1.2 only."""

    is_resumed: bool

    def command(self, place, port, seconds):
        how = ["-reuse", "-tls1_2"] if self.is_resumed else ["-new"]
        return [find("openssl", "openssl"), "s_time", "-connect", f"127.0.0.1:{port}", *how, "-time", str(math.ceil(seconds))]

    def environment(self):
        return dict(os.environ)

    def parse(self, text):
        counts = re.search(r"(\d+) connections in [\d.]+ real seconds", text)
        lasted = re.search(r"connections in ([\d.]+) real seconds", text)
        if not counts:
            raise Failure(f"openssl s_time printed no result: {text.strip()[-300:]}")
        return {"requests": int(counts[1]), "seconds": float(lasted[1]) or 1.0, "bytes": 0, "errors": no_errors()}


@dataclasses.dataclass(frozen=True)
class Messages:
    """WebSocket messages or TCP bytes that come back, or a message to all subscribers; every byte is compared."""

    program: str
    connections: int
    size: int
    options: tuple = ()

    def command(self, place, port, seconds):
        return [place.program(self.program), "--port", str(port), "--connections", str(self.connections), "--size", str(self.size),
                "--seconds", str(seconds), *self.options]

    def environment(self):
        return dict(os.environ)

    def parse(self, text):
        result = last_json(text)
        return {**result, "bytes": result["requests"] * self.size, "errors": no_errors()}


@dataclasses.dataclass(frozen=True)
class KeyValue:
    """redis-benchmark: commands of 50 connections on 10,000 keys."""

    word: str
    pipeline: int
    requests: int = 100_000

    def command(self, place, port, seconds):
        return [find("redis-benchmark", "redis-tools"), "-p", str(port), "-t", self.word, "-n", str(self.requests), "-c", "50",
                "-P", str(self.pipeline), "-r", "10000"]

    def environment(self):
        return dict(os.environ)

    def parse(self, text):
        counts = re.search(r"(\d+) requests completed in ([\d.]+) seconds", text)
        if not counts:
            raise Failure(f"redis-benchmark printed no result: {text.strip()[-300:]}")
        return {"requests": int(counts[1]), "seconds": float(counts[2]), "bytes": 0, "errors": no_errors()}


@dataclasses.dataclass(frozen=True)
class Skua:
    """`skua bench`, at a fixed rate if one is given."""

    connections: int
    rate: int = 0
    pipeline: int = 1
    scheme: str = "http"
    backend: str = "epoll"
    path: str = "/"

    def command(self, place, port, seconds):
        rate = ["--rate", str(self.rate)] if self.rate else []
        return [place.program("skua"), "bench", "--json", "-q", "-k", "-t1", f"-c{self.connections}", f"-d{seconds}", "--backend", self.backend,
                "--pipeline", str(self.pipeline), *rate, f"{self.scheme}://127.0.0.1:{port}{self.path}"]

    def environment(self):
        return dict(os.environ)

    def parse(self, text):
        said = json.loads(text[text.index("{"):])
        latency = said["latency_us"] or {}
        bad = {**no_errors(), **{name: said["errors"].get(name, 0) for name in ("connect", "read", "write", "timeout")}}
        bad["status"] = sum(count for status, count in said["status_codes"].items() if not status.startswith("2")) + said["errors"].get("malformed", 0)
        return {"requests": said["answers"], "seconds": said["elapsed_us"] / 1e6, "bytes": said["bytes_received"], "errors": bad,
                "latency_us": latency, "p50_us": latency.get("p50"), "p99_us": latency.get("p99"), "max_us": latency.get("max")}


CLIENTS = ("skua-epoll", "skua-io_uring", "curl", *peers.CLIENTS)


@dataclasses.dataclass(frozen=True)
class Client:
    """An HTTP client that reads every byte; its start-up doesn't count."""

    name: str
    path: str
    size: int
    connections: int
    requests: int

    def command(self, place, port, seconds):
        if self.name == "curl":
            words = [place.program("skua-bench-curl")]
        elif self.name.startswith("skua-"):
            words = [place.program("skua-bench-client"), "--backend", self.name.removeprefix("skua-")]
        else:
            try:
                words = peers.client_command(self.name, place.cache)
            except peers.Unavailable as error:
                raise Failure(str(error)) from error
        return [*map(str, words), "--url", f"http://127.0.0.1:{port}{self.path}", "--connections", str(self.connections), "--requests", str(self.requests)]

    def environment(self):
        return dict(os.environ)

    def parse(self, text):
        said = last_json(text)
        if said["requests"] != self.requests or said["bytes"] != self.requests * self.size:
            raise Failure(f"{self.name} read {said['bytes']} bytes in {said['requests']} responses instead of {self.requests} of {self.size}")
        return {"requests": said["requests"], "seconds": said["seconds"], "bytes": said["bytes"], "errors": no_errors(),
                "load_cpu": said["user"] + said["system"]}
