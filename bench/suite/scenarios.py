# SPDX-License-Identifier: MIT
"""What is measured: a table of scenarios, by group."""

import dataclasses
import typing

from . import idle
from .loads import CLIENTS, Client, H1load, H2load, Handshakes, KeyValue, Messages, Skua, Wrk
from .place import BODY, JSON

BROWSER = (
    "User-Agent: Mozilla/5.0 (X11; Linux x86_64; rv:128.0) Gecko/20100101 Firefox/128.0",
    "Accept: text/html,application/xhtml+xml,application/xml;q=0.9,image/avif,image/webp,*/*;q=0.8",
    "Accept-Language: en-US,en;q=0.5",
    "Accept-Encoding: gzip, deflate, br, zstd",
    "Referer: http://127.0.0.1/articles/the-cost-of-a-request",
    "Cookie: session=8c6f1a0d5b7e4f2c9a3d; theme=dark; consent=1",
    "Upgrade-Insecure-Requests: 1",
    "Sec-Fetch-Dest: document",
    "Sec-Fetch-Mode: navigate",
    "Sec-Fetch-Site: same-origin",
    "Priority: u=0, i",
)
BIG_HEAD = 65_535
MIB = 1024 * 1024

MANY = 1000  # connections take a while to open
LARGE = ("64k", "100k", "10m")  # in the name of a scenario

# How the costs of two competitors are compared.
NORMALISED = "normalised"  # CPU over the other side's CPU in the same run
PLAIN = "plain"  # CPU per request: the other side's cost depends on batching
BOTH = "both"  # CPU of all sides: the kernel does much of its work on whichever side runs
BEHIND = "behind"  # CPU over that of the servers behind a gateway: what the generator spends depends on how the gateway sends


@dataclasses.dataclass(frozen=True)
class Scenario:
    """A load on servers; `group` and `title` head its results, `needs` are what a server must offer, `upstreams` how many servers are behind it."""

    name: str
    group: str
    title: str
    load: typing.Any
    needs: frozenset = frozenset({"plain"})
    transport: str = "plain"
    measure: str = NORMALISED
    expected: bytes = BODY
    unit: str = "request"
    threads: int = 1
    upstreams: int = 0
    mode: str = ""  # servers that run this mode of skua-bench-server, with `ceiling` beside them
    ceiling: str = ""
    is_quick: bool = True
    counts_instructions: bool = False

    @property
    def duration(self):
        """Of a run, as a multiple of --seconds: half is enough for many small requests on connections that are soon open."""
        return 1 if getattr(self.load, "connections", MANY) >= MANY or any(size in self.name for size in LARGE) else 0.5


@dataclasses.dataclass(frozen=True)
class Idle:
    """Memory of idle connections. Over TLS, a fifth of the handshakes gives the same figures within 1.1 %."""

    name: str
    title: str
    protocol: typing.Callable
    needs: frozenset
    transport: str = "plain"
    path: str = "/"
    mode: str = ""
    ceiling: str = ""
    connections: int = 10_000
    group: str = "idle"
    is_quick: bool = True


@dataclasses.dataclass(frozen=True)
class Rate:
    """Latencies while requests are due at a fixed rate; the generator has another core."""

    name: str
    title: str
    rate: int
    connections: int
    needs: frozenset = frozenset({"plain"})
    transport: str = "plain"
    group: str = "latency"
    is_quick: bool = False


@dataclasses.dataclass(frozen=True)
class Beside:
    """Latencies of a healthy route of a gateway, while requests for other routes fail beside it."""

    name: str
    title: str
    needs: frozenset = frozenset({"gateway-routes"})
    transport: str = "plain"
    group: str = "failing"
    is_quick: bool = False


@dataclasses.dataclass(frozen=True)
class Generators:
    """Clients or load generators against skua's server: the measure is their own CPU. `loads` is a load by name."""

    name: str
    group: str
    title: str
    loads: dict
    transport: str = "plain"
    unit: str = "request"
    is_quick: bool = True


def needs(*words):
    return frozenset(words)


def counted(connections):
    return f"{connections} connection{'s' if connections > 1 else ''}"


def http(name, title, load, **more):
    return Scenario(name, "http", title, load, **more)


def keep_alive(connections, **more):
    return Scenario(f"plaintext-{connections}", "plaintext", f"13 bytes, {counted(connections)}", Wrk(connections), **more)


def file(size, connections, transport="plain", **more):
    scheme = "https" if transport == "tls" else "http"
    words = {"1k": "1 KiB", "100k": "100 KiB", "10m": "10 MiB"}[size]
    group, suffix, also = ("tls", "-tls", ", TLS") if transport == "tls" else ("files", "", "")
    return Scenario(f"file-{size}{suffix}", group, f"file of {words}, {connections} connections{also}", Wrk(connections, f"/files/{size}.bin", scheme),
                    needs("files", *(["tls"] if transport == "tls" else [])), transport, expected=f"files/{size}.bin", **more)


def clients(name, title, path, size, connections, requests, **more):
    return Generators(name, "client", title, {one: Client(one, path, size, connections, requests) for one in CLIENTS}, **more)


def generators(name, title, connections, pipeline=1, scheme="http", **more):
    found = {"skua-epoll": Skua(connections, pipeline=pipeline, scheme=scheme), "skua-io_uring": Skua(connections, pipeline=pipeline, scheme=scheme, backend="io_uring"),
             "wrk": Wrk(connections, scheme=scheme, pipeline=pipeline), "h2load": H1load(connections, pipeline, scheme=scheme)}
    return Generators(name, "generator", title, found, "tls" if scheme == "https" else "plain", **more)


def http2(name, title, transport, connections, streams, path="/", **more):
    scheme = "https" if transport == "tls" else "http"
    return Scenario(name, "http2", title, H2load(connections, streams, path, scheme), transport=transport, measure=PLAIN, **more)


def gateway(name, title, load, measure=BEHIND, **more):
    return Scenario(f"gateway-{name}", "gateway", title, load, needs("gateway"), measure=measure, upstreams=2, **more)


def websocket(size, words):
    return Scenario(f"websocket-{words.replace(' ', '').lower()}", "websocket", f"echo of {words}, 64 connections",
                    Messages("skua-bench-ws-load", 64, size, ("--path", "/ws")), needs("websocket"), unit="message", ceiling="raw-ws")


def tcp(size, words, connections):
    return Scenario(f"tcp-{size}-{connections}", "tcp", f"echo of {words}, {counted(connections)}",
                    Messages("skua-bench-echo-load", connections, size), needs("tcp"), unit="message", mode="tcp-echo", ceiling="raw-echo",
                    is_quick=size == 13 and connections == 64)


PUBLISH = Messages("skua-bench-ws-load", 1000, 100, ("--path", "/subscribe", "--publish", "/publish", "--text"))

SCENARIOS = [
    keep_alive(1),
    keep_alive(64, counts_instructions=True),
    keep_alive(400, is_quick=False),
    keep_alive(512),
    keep_alive(5000, is_quick=False),
    keep_alive(10000, is_quick=False),
    Scenario("pipelined-16", "plaintext", "13 bytes, 64 connections, 16 requests in flight on each", Wrk(64, pipeline=16), measure=PLAIN),
    http("browser", "a browser's request with 12 fields, 64 connections", Wrk(64, fields=BROWSER), counts_instructions=True),
    http("routes", "200 routes with a parameter, in turn, 64 connections", Wrk(64, routes=200), needs=needs("plain", "routes"), expected=b"42"),
    http("json", "JSON with five more fields, 64 connections", Wrk(64, "/json"), needs=needs("plain", "json"), expected=JSON, counts_instructions=True),
    http("head-64k", "a head of 64 KiB, 16 connections", Wrk(16, head_bytes=BIG_HEAD), needs=needs("plain", "big-head")),
    http("post-1k", "echo of 1 KiB, 64 connections", Wrk(64, "/echo", body_bytes=1024), needs=needs("echo"), expected=b"b" * 1024),
    http("post-64k-2", "echo of 64 KiB, 2 connections", Wrk(2, "/echo", body_bytes=65536), needs=needs("echo"), expected=b"b" * 65536, is_quick=False),
    http("post-64k-64", "echo of 64 KiB, 64 connections", Wrk(64, "/echo", body_bytes=65536), needs=needs("echo"), expected=b"b" * 65536),
    http("upload-10m", "10 MiB with a head of 64 KiB, 4 connections", Wrk(4, "/upload", head_bytes=BIG_HEAD, body_bytes=10 * MIB),
         needs=needs("upload", "big-head"), expected=str(10 * MIB).encode(), measure=BOTH),
    http("close", "a connection for each request, 64 at a time", Wrk(64, fields=("Connection: close",))),
    file("1k", 64),
    file("100k", 64),
    file("10m", 4, measure=BOTH),
    Scenario("https", "tls", "13 bytes, 64 connections, TLS 1.3", Wrk(64, scheme="https"), needs("tls"), "tls"),
    Scenario("handshakes", "tls", "full handshakes, TLS 1.3", Handshakes(False), needs("tls"), "tls", unit="handshake"),
    Scenario("resumptions", "tls", "resumed handshakes, TLS 1.2", Handshakes(True), needs("tls"), "tls", unit="handshake"),
    file("1k", 64, "tls", is_quick=False),
    file("100k", 64, "tls"),
    file("10m", 4, "tls", measure=BOTH, is_quick=False),
    http2("http2", "13 bytes, 32 connections of 32 streams", "h2c", 32, 32, needs=needs("h2c")),
    http2("http2-100k", "file of 100 KiB, 16 connections of 8 streams", "h2c", 16, 8, "/files/100k.bin", needs=needs("h2c", "files"),
          expected="files/100k.bin", is_quick=False),
    http2("http2-tls", "13 bytes, 32 connections of 32 streams, TLS", "tls", 32, 32, needs=needs("h2")),
    http2("http2-100k-tls", "file of 100 KiB, 16 connections of 8 streams, TLS", "tls", 16, 8, "/files/100k.bin", needs=needs("h2", "files"),
          expected="files/100k.bin"),
    websocket(16, "16 B"),
    websocket(1024, "1 KiB"),
    websocket(65536, "64 KiB"),
    Scenario("publish", "websocket", "100 bytes to 1000 subscribers, per delivery", PUBLISH, needs("publish"), unit="delivery"),
    tcp(13, "13 bytes", 1),
    tcp(13, "13 bytes", 64),
    tcp(13, "13 bytes", 512),
    tcp(1024, "1 KiB", 1),
    tcp(1024, "1 KiB", 64),
    tcp(1024, "1 KiB", 512),
    *[Scenario(f"key-value-{word}-{depth}", "tcp", f"key-value store, {word.upper()}, 50 connections, {depth} in flight on each", KeyValue(word, depth),
               needs("key-value"), measure=PLAIN if depth > 1 else NORMALISED, is_quick=word == "get" and depth == 1)
      for depth in (1, 16) for word in ("set", "get", "incr")],
    gateway("13", "13 bytes, 64 connections", Wrk(64, "/plaintext"), counts_instructions=True),
    gateway("100k", "100 KiB, 64 connections", Wrk(64, "/files/100k.bin"), expected="files/100k.bin"),
    gateway("10m", "10 MiB, 4 connections", Wrk(4, "/files/10m.bin"), expected="files/10m.bin", measure=BOTH, is_quick=False),
    gateway("upload-10m", "10 MiB from the client, 4 connections", Wrk(4, "/upload", body_bytes=10 * MIB), expected=str(10 * MIB).encode(), measure=BOTH,
            is_quick=False),
    gateway("tls-13", "13 bytes, 64 connections, TLS", Wrk(64, "/plaintext", "https"), transport="tls", is_quick=False),
    gateway("tls-100k", "100 KiB, 64 connections, TLS", Wrk(64, "/files/100k.bin", "https"), transport="tls", expected="files/100k.bin", is_quick=False),
    gateway("http2-13", "13 bytes, 32 connections of 32 streams, HTTP/2", H2load(32, 32, "/plaintext"), transport="h2c"),
    gateway("http2-100k", "100 KiB, 16 connections of 8 streams, HTTP/2", H2load(16, 8, "/files/100k.bin"), transport="h2c", expected="files/100k.bin",
            is_quick=False),
    gateway("http2-tls-13", "13 bytes, 32 connections of 32 streams, HTTP/2 over TLS", H2load(32, 32, "/plaintext", "https"), transport="tls", is_quick=False),
    gateway("http2-tls-100k", "100 KiB, 16 connections of 8 streams, HTTP/2 over TLS", H2load(16, 8, "/files/100k.bin", "https"), transport="tls",
            expected="files/100k.bin", is_quick=False),
    Beside("failing", "p99 of a healthy route, 2,000 requests a second, as a multiple of what it is while no other route fails"),
    *[clients(f"client-{count}", f"13 bytes, {counted(count)}", "/", len(BODY), count, 20_000) for count in (1, 16, 64)],
    clients("client-64k", "64 KiB, 64 connections", "/files/64k.bin", 65536, 64, 4000, is_quick=False),
    generators("generator-64", "keep-alive, 64 connections", 64),
    generators("generator-512", "keep-alive, 512 connections", 512, is_quick=False),
    generators("generator-16", "64 connections, 16 requests in flight on each", 64, pipeline=16, is_quick=False),
    generators("generator-tls", "TLS, 64 connections", 64, scheme="https", is_quick=False),
    Scenario("two-workers", "cores", "13 bytes, 64 connections, two workers on two cores that the generator shares", Wrk(64, threads=2),
             needs("plain", "threads"), threads=2, measure=PLAIN),
    Rate("rate-2000", "2,000 requests a second, 64 connections", 2000, 64),
    Rate("rate-20000", "20,000 requests a second, 64 connections", 20_000, 64),
    Idle("idle-http", "HTTP, after a request", idle.http, needs("plain")),
    Idle("idle-websocket", "WebSocket, after a message", idle.websocket, needs("websocket"), path="/ws"),
    Idle("idle-http2", "HTTP/2, after a request", idle.http2, needs("h2c"), "h2c", is_quick=False),
    Idle("idle-tls-silent", "TLS, nothing sent", idle.nothing, needs("tls"), "tls"),
    Idle("idle-tls", "TLS, after a request", idle.http, needs("tls"), "tls", connections=2000),
    Idle("idle-http2-tls", "HTTP/2 over TLS, after a request", idle.http2, needs("h2"), "tls", connections=2000, is_quick=False),
    Idle("idle-tcp", "TcpServer, after an echo", idle.echo, needs("tcp"), mode="tcp-echo", ceiling="raw-echo", is_quick=False),
]

GROUPS = {
    "plaintext": "Plaintext",
    "http": "Requests of other kinds",
    "files": "Files",
    "tls": "TLS",
    "http2": "HTTP/2",
    "websocket": "WebSockets",
    "tcp": "Plain TCP",
    "gateway": "Gateways",
    "failing": "Healthy routes beside failing ones",
    "client": "The client",
    "generator": "Load generators",
    "cores": "Two cores",
    "latency": "Latency at a fixed rate",
    "idle": "Memory of idle connections",
}


def find(words):
    """Returns the scenarios that `words` name, by their names or groups, or by how those begin; all without words."""
    if not words:
        return list(SCENARIOS)
    exact = {name for one in SCENARIOS for name in (one.name, one.group)}
    return [one for one in SCENARIOS
            if any(word in (one.name, one.group) or word not in exact and one.name.startswith(word) for word in words)]
