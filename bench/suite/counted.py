# SPDX-License-Identifier: MIT
"""The scenarios of bench/regress: what runs, what is sent to it, and in how many operations."""

import contextlib
import dataclasses
import os
import pathlib
import time
import typing

from . import instructions, lockstep, place
from .process import Failure
from .program import Program, settle

KIB = 1024
# An open file is compared with the one in its folder 10 ms after the last time (FileCacheOptions::settled): always, with this pause.
FILE_PAUSE = 0.011
# Files with younger time stamps may still change, and are not kept open.
FILE_AGE_SECONDS = 2.5
FILES = {"1k.bin": KIB, "100k.bin": 100 * KIB}


def head(method, path, *fields):
    return "\r\n".join([f"{method} {path} HTTP/1.1", "Host: 127.0.0.1", *fields, "", ""]).encode()


def post(size, path="/", content_type="application/octet-stream"):
    """Returns the head of a POST with content of `size` bytes."""
    return head("POST", path, f"Content-Type: {content_type}", f"Content-Length: {size}")


GET = head("GET", "/")

BROWSER = head(
    "GET", "/", "Connection: keep-alive", "Cache-Control: max-age=0", 'sec-ch-ua: "Chromium";v="130", "Not?A_Brand";v="99"', "sec-ch-ua-mobile: ?0",
    "Upgrade-Insecure-Requests: 1", "User-Agent: Mozilla/5.0 (X11; Linux x86_64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/130.0.0.0 Safari/537.36",
    "Accept: text/html,application/xhtml+xml,application/xml;q=0.9,image/avif,image/webp,*/*;q=0.8", "Sec-Fetch-Site: none",
    "Accept-Encoding: gzip, deflate, br, zstd", "Accept-Language: en-GB,en;q=0.9,de;q=0.8", "Cookie: theme=dark; session=5c1d9e6f27a84b03; seen=1729")

# More than a segment of the loopback device (65 483 bytes), or than the window of a new connection, which is no larger, would
# arrive in one portion or in several.
LARGE = 60 * KIB

LARGE_HEAD = head("GET", "/", *(f"X-Field-{number:02}: {'v' * 600}" for number in range(LARGE // 616)))

UPLOAD_PIECE = 50_000
UPLOAD_BYTES = 10_000_000
UPLOAD = [post(UPLOAD_BYTES), *[b"u" * UPLOAD_PIECE] * (UPLOAD_BYTES // UPLOAD_PIECE)]
CHUNKED_PIECE = b"%x\r\n%b\r\n" % (UPLOAD_PIECE, b"u" * UPLOAD_PIECE)
CHUNKED = [head("POST", "/", "Transfer-Encoding: chunked"), *[CHUNKED_PIECE] * (UPLOAD_BYTES // UPLOAD_PIECE), b"0\r\n\r\n"]


def multipart():
    """Returns a form of two fields and a file of 40 KiB."""
    def part(name, more, content):
        return f'--frontier\r\nContent-Disposition: form-data; name="{name}"{more}\r\n\r\n'.encode() + content + b"\r\n"

    file = '; filename="skua.bin"\r\nContent-Type: application/octet-stream'
    body = part("title", "", b"A skua") + part("place", "", b"Foula") + part("file", file, b"f" * 40 * KIB) + b"--frontier--\r\n"
    return post(len(body), content_type="multipart/form-data; boundary=frontier") + body


@dataclasses.dataclass(frozen=True)
class Scenario:
    """A load of a program. `command` begins with its name in the folder of programs.

    Its words may hold {files}, {chain}, {key}, {upstream} (the port of a server with constant responses) and {count}: a program that is
    told the count is a client and ends by itself.
    """

    name: str
    command: str
    load: typing.Callable | None
    few: int
    many: int


def bench(mode):
    return f"skua-bench-server {mode} --backend epoll --host 127.0.0.1 --port 0 --threads 1"


def serve(options):
    return f"skua serve {{files}} --backend epoll --host 127.0.0.1 --port 0 --threads 1 --no-sandbox --quiet {options}"


keep_alive, http2, websocket_echo = lockstep.keep_alive, lockstep.http2, lockstep.websocket_echo

SCENARIOS = (
    Scenario("plaintext", bench("plaintext"), keep_alive(GET), 200, 2200),
    Scenario("plaintext, 64 connections", bench("plaintext"), keep_alive(GET, connections=64), 640, 3840),
    Scenario("plaintext, with metrics", bench("plaintext --metrics"), keep_alive(GET, connections=64), 640, 3840),
    Scenario("plaintext, pipelined 16", bench("plaintext"), keep_alive(GET, pipelined=16), 320, 6720),
    Scenario("plaintext, 12 fields", bench("plaintext"), keep_alive(BROWSER), 200, 1700),
    Scenario("plaintext, 60 KiB head", bench("plaintext"), keep_alive(LARGE_HEAD), 20, 120),
    Scenario("plaintext, connection each", bench("plaintext"), lockstep.connection_each(GET), 50, 350),
    Scenario("200 routes", bench("suite"), keep_alive(head("GET", "/r137/items/42")), 200, 2200),
    Scenario("JSON, 5 more fields", bench("json-fields"), keep_alive(GET), 200, 1700),
    Scenario("POST echo 1 KiB", bench("echo"), keep_alive(post(KIB) + b"e" * KIB), 200, 1700),
    Scenario("POST echo 60 KiB", bench("echo"), keep_alive(post(LARGE) + b"e" * LARGE), 50, 350),
    Scenario("upload 10 MB", bench("sink"), lockstep.upload(UPLOAD), 1, 4),
    Scenario("upload 10 MB, chunked", bench("sink"), lockstep.upload(CHUNKED), 1, 4),
    Scenario("multipart form, 40 KiB", bench("upload"), keep_alive(multipart()), 50, 350),
    Scenario("HTTPS plaintext", bench("plaintext --tls-cert {chain} --tls-key {key}"), keep_alive(GET, is_tls=True), 200, 2200),
    Scenario("HTTP/2 plaintext, 32 streams", bench("plaintext"), http2(b"/", streams=32), 640, 3840),
    Scenario("WebSocket echo 16 B", bench("ws-echo"), websocket_echo(16), 200, 2200),
    Scenario("WebSocket echo 1 KiB", bench("ws-echo"), websocket_echo(KIB), 200, 2200),
    Scenario("WebSocket echo 60 KiB", bench("ws-echo"), websocket_echo(LARGE), 50, 350),
    Scenario("WebSocket publish to 100", bench("ws-echo"), lockstep.publish(100, 100), 10, 110),
    Scenario("TcpServer echo 100 B", bench("tcp-echo"), lockstep.echo(100), 500, 4500),
    Scenario("client", "skua-bench-client --backend epoll --url http://127.0.0.1:{upstream}/ --requests {count}", None, 200, 1200),
    Scenario("serve --proxy", serve("--proxy /proxied=http://127.0.0.1:{upstream}"), keep_alive(head("GET", "/proxied")), 100, 1100),
    Scenario("serve, file 1 KiB", serve(""), keep_alive(head("GET", "/1k.bin"), pipelined=16, pause=FILE_PAUSE), 320, 3520),
    Scenario("file 1 KiB, pipelined 16", bench("files {files}"), keep_alive(head("GET", "/1k.bin"), pipelined=16, pause=FILE_PAUSE), 320, 3520),
    Scenario("file 100 KiB", bench("files {files}"), keep_alive(head("GET", "/100k.bin"), pause=FILE_PAUSE), 50, 300),
    Scenario("HTTP/2 file 100 KiB", bench("files {files}"), http2(b"/100k.bin", pause=FILE_PAUSE), 50, 300),
)


class Places:
    """The programs, and the files that they need, which are made in `folder`."""

    def __init__(self, programs, folder):
        self.programs = pathlib.Path(programs)
        files = pathlib.Path(folder) / "files"
        files.mkdir()
        for name, size in FILES.items():
            (files / name).write_bytes(b"f" * size)
        self.written = time.monotonic()
        chain, key = place.certificate(folder)
        self.words = {"files": str(files), "chain": chain, "key": key}

    def command(self, text, **more):
        name, *words = text.format(**self.words, **more).split()
        program = self.programs / name
        if not os.access(program, os.X_OK):
            raise Failure(f"{program} is not built: cmake --build --preset release")
        return [str(program), *words]


def run(scenario, places, wrapper, count):
    """Runs the program behind `wrapper`, with `count` operations, to its end."""
    if "{files}" in scenario.command:
        time.sleep(max(0.0, places.written + FILE_AGE_SECONDS - time.monotonic()))
    more = {"count": count}
    with contextlib.ExitStack() as stack:
        if "{upstream}" in scenario.command:
            upstream = stack.enter_context(Program(places.command(bench("raw-epoll"))))
            upstream.wait_until_listening()
            more["upstream"] = upstream.port
        program = stack.enter_context(Program([*wrapper, *places.command(scenario.command, **more)]))
        try:
            if scenario.load is None:
                program.join()
                return
            program.wait_until_listening()
            scenario.load(program, count)
            settle(program.process)
            program.stop()
        except (OSError, Failure) as error:
            raise Failure(f"{scenario.name}: {error}; {program.said()!r}") from error


def instructions_of(scenario, places):
    """Returns the user instructions per operation."""
    return instructions.per_operation(lambda wrapper, count: run(scenario, places, wrapper, count), scenario.few, scenario.many)
