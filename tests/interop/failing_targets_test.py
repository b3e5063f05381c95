#!/usr/bin/env python3
"""Servers that fail behind `skua proxy`, and behind HAProxy in the same run: who loses how many requests.

Usage: failing_targets_test.py SKUA [--all] [--scenario NAME] [--seconds N]
       expects `skua-failing-target` beside it; exits with 77 (skipped) without haproxy

Prints a table. No GET may fail behind skua, and no other request may fail more often than behind HAProxy, beyond what chance
explains. Without --all, it takes less than a minute.
"""
import argparse
import base64
import contextlib
import os
import pathlib
import signal
import socket
import subprocess
import sys
import tempfile
import threading
import time

from served import SKIP, Program
from servers import Haproxy, found, free_port, until

COUNT = 3  # targets
TIMEOUT = 30
CLIENTS = {"GET": 3, "POST": 3, "stream": 2, "WebSocket": 1}
HAPROXY = """
  retries 3
  option redispatch
frontend front
  bind 127.0.0.1:@front@
  default_backend targets
backend targets
  balance leastconn
  option httpchk
  http-check send meth GET uri /livez ver HTTP/1.1 hdr Host x
"""


class Target:
    """A server that can be ended and started again on its port."""

    def __init__(self, program: pathlib.Path):
        self.program, self.port = program, free_port()
        self.start()

    def start(self):
        self.process = subprocess.Popen([self.program, str(self.port)], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
        assert self.process.stdout.readline().startswith(b"listening on "), "a target does not start"

    def end(self, kind: int):
        self.process.send_signal(kind)
        self.process.wait(TIMEOUT)
        self.process.stdout.close()

    def ask(self, path: str):
        with contextlib.closing(socket.create_connection(("127.0.0.1", self.port), TIMEOUT)) as client:
            client.sendall(f"GET {path} HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n".encode())
            assert client.recv(100).startswith(b"HTTP/1.1 200 ")


class Lost(Exception):
    """A request got no answer, or a status of 500 and more."""


class Client(threading.Thread):
    """Sends one kind of request again and again, on a connection that it keeps where it can."""

    def __init__(self, port: int, kind: str, over: threading.Event):
        super().__init__(daemon=True)
        self.port, self.kind, self.over, self.done, self.lost = port, kind, over, 0, []
        self.start()

    def run(self):
        while not self.over.is_set():
            with contextlib.closing(socket.create_connection(("127.0.0.1", self.port), TIMEOUT)) as client, \
                    client.makefile("rb") as answers:
                client.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
                try:
                    self.use(client, answers)
                except (Lost, OSError) as error:
                    self.lost.append(str(error))

    def use(self, client: socket.socket, answers):
        while not self.over.is_set():
            self.send(client)
            status = answers.readline()
            if not status:  # as HAProxy does, so that clients repeat what may have been done
                raise Lost("no answer")
            length, is_kept = 0, True
            while (line := answers.readline().strip().lower()):
                if line.startswith(b"content-length:"):
                    length = int(line.split(b":")[1])
                is_kept = is_kept and line != b"connection: close"
            code = int(status.split()[1])
            if code == 101:
                return self.echo(client, answers)
            if code >= 500:
                raise Lost(str(code))
            if len(answers.read(length)) != length:
                raise Lost("half an answer")
            self.done += 1
            if not is_kept:
                return

    def send(self, client: socket.socket):
        head = "{} HTTP/1.1\r\nHost: x\r\n{}\r\n"
        if self.kind == "GET":
            client.sendall(head.format("GET /", "").encode())
        elif self.kind == "POST":
            client.sendall(head.format("POST /", "Content-Length: 5\r\n").encode() + b"hello")
        elif self.kind == "stream":
            client.sendall(head.format("POST /", "Transfer-Encoding: chunked\r\n").encode() + b"5\r\nhello\r\n")
            for _ in range(3):
                self.over.wait(0.003)  # the pace of the client
                client.sendall(b"5\r\nagain\r\n")
            client.sendall(b"0\r\n\r\n")
        else:
            key = base64.b64encode(os.urandom(16)).decode()
            client.sendall(head.format("GET /echo", "Upgrade: websocket\r\nConnection: Upgrade\r\nSec-WebSocket-Version: 13\r\n"
                                       f"Sec-WebSocket-Key: {key}\r\n").encode())

    def echo(self, client: socket.socket, answers):
        """Counts once the socket is open: one that breaks with its server is nobody's fault."""
        self.done += 1
        with contextlib.suppress(OSError):
            client.sendall(b"\x81\x82\x00\x00\x00\x00hi")
            answers.read(4)
            client.sendall(b"\x88\x82\x00\x00\x00\x00\x03\xe8")
            answers.read()


class Load:
    def __init__(self, port: int, kinds):
        self.over = threading.Event()
        self.clients = [Client(port, kind, self.over) for kind in kinds for _ in range(CLIENTS[kind])]

    def stop(self) -> dict[str, tuple[int, list[str]]]:
        self.over.set()
        for client in self.clients:
            client.join(TIMEOUT + 5)
            assert not client.is_alive(), f"a {client.kind} hangs"
        sums = {}
        for client in self.clients:
            done, lost = sums.get(client.kind, (0, []))
            sums[client.kind] = (done + client.done, lost + client.lost)
        return sums


# Scenarios: they do something to the targets, for a while.

def roll(targets: list[Target], kind: int, gap: float, seconds: float):
    """Restarts one target after the other; each is away for `gap`. Returns how many were killed."""
    end, killed = time.monotonic() + seconds, 0
    while time.monotonic() < end:
        for target in targets:
            target.end(kind)
            killed += kind == signal.SIGKILL
            time.sleep(gap)
            target.start()
            time.sleep(gap / 4)
    return killed


def hang(targets: list[Target], seconds: float):
    """Stops one target for a while."""
    targets[0].process.send_signal(signal.SIGSTOP)
    try:
        time.sleep(seconds)
    finally:
        targets[0].process.send_signal(signal.SIGCONT)


def flap(targets: list[Target], seconds: float):
    """Checks of one target fail, then pass, and so on."""
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        for path in ("/sick", "/well"):
            targets[0].ask(path)
            time.sleep(1.5)


def storm(ports: list[int], seconds: float):
    """A client asks for a URL that fails, again and again."""
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        for port in ports:
            with contextlib.closing(socket.create_connection(("127.0.0.1", port), TIMEOUT)) as client, client.makefile("rb") as got:
                client.sendall(b"GET /unavailable/x HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n")
                got.read()


SCENARIOS = {
    "restarts, 0.4 s": lambda targets, ports, seconds: roll(targets, signal.SIGTERM, 0.4, seconds),
    "restarts, 5 s": lambda targets, ports, seconds: roll(targets, signal.SIGTERM, 5, seconds),
    "kill -9, 0.4 s": lambda targets, ports, seconds: roll(targets, signal.SIGKILL, 0.4, seconds),
    "hang": lambda targets, ports, seconds: hang(targets, seconds),
    "checks flap": lambda targets, ports, seconds: flap(targets, seconds),
    "503 storm": lambda targets, ports, seconds: storm(ports, seconds),
    "readiness": None,
}


def readiness(skua: str, targets: list[Target]) -> list[str]:
    """A gateway is ready while one of its targets is up."""
    def ask(port: int, path: str) -> int:
        with contextlib.closing(socket.create_connection(("127.0.0.1", port), TIMEOUT)) as client, client.makefile("rb") as answer:
            client.sendall(f"GET {path} HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n".encode())
            return int(answer.readline().split()[1])
    program = gateway(skua, targets, False, more=("--admin", "0"))
    with program as url:
        admin = int(program.process.stdout.readline().rsplit(":", 1)[1])
        assert ask(int(url.rsplit(":", 1)[1]), "/") == 200  # checks begin
        until(lambda: ask(admin, "/readyz") == 200, "readiness")
        for target in targets:
            target.end(signal.SIGKILL)
        until(lambda: ask(admin, "/readyz") == 503, "unreadiness")
        targets[0].start()
        until(lambda: ask(admin, "/readyz") == 200, "readiness again")
        for target in targets[1:]:
            target.start()
    return []


SHORT = ("restarts, 0.4 s", "kill -9, 0.4 s", "503 storm", "readiness")


def gateway(skua: str, targets: list[Target], is_http2: bool, more=()):
    scheme = "h2c" if is_http2 else "http"
    return Program(skua, "proxy", *(f"{scheme}://127.0.0.1:{target.port}" for target in targets), "--port", "0", "--quiet",
                   "--health-check", "/livez", "--health-interval", "1", "--timeout", "2", *more)


def run(skua: str, name: str, is_http2: bool, seconds: float) -> list[str]:
    """Returns what went wrong."""
    problems = []
    program = pathlib.Path(skua).resolve().with_name("skua-failing-target")
    with tempfile.TemporaryDirectory() as folder, contextlib.ExitStack() as ends:
        targets = []
        for _ in range(COUNT):
            targets.append(Target(program))
            ends.callback(targets[-1].process.kill)
        ends.callback(lambda: [target.process.kill() for target in targets])
        text = HAPROXY + "".join(f"  server s{i} 127.0.0.1:{target.port} check inter 1s{' proto h2' if is_http2 else ''}\n"
                                 for i, target in enumerate(targets))
        other = ends.enter_context(Haproxy(pathlib.Path(folder) / "haproxy", text))
        if name == "readiness":
            return readiness(skua, targets)
        url = ends.enter_context(gateway(skua, targets, is_http2))
        ports = [int(url.rsplit(":", 1)[1]), other.ports["front"]]
        loads = [Load(port, CLIENTS) for port in ports]
        try:
            killed = SCENARIOS[name](targets, ports, seconds) or 0
        finally:
            mine, theirs = (load.stop() for load in loads)
        for kind in CLIENTS:
            (done, lost), (their_done, their_lost) = mine[kind], theirs[kind]
            print(f"{name:16} {'HTTP/2' if is_http2 else 'HTTP/1':7} {kind:10} {done:7} {len(lost):6} {their_done:9} {len(their_lost):6}"
                  f"   {dict((why, lost.count(why)) for why in set(lost)) or ''}", flush=True)
            # Both meet the same failures, but not at the same moments. Each target that is killed takes what it works on
            # along, which is one request of each client at most, and must not be repeated if it is no GET.
            allowed = 0 if kind == "GET" else max(len(their_lost) * 2 + 3, killed * CLIENTS[kind])
            if len(lost) > allowed:
                problems.append(f"{name}: {len(lost)} of {done} {kind} lost, {len(their_lost)} behind HAProxy")
    return problems


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("skua")
    parser.add_argument("--all", action="store_true", help="every scenario, for longer")
    parser.add_argument("--scenario", help="this one only")
    parser.add_argument("--seconds", type=float, help="of each")
    options = parser.parse_args()
    if not found("haproxy"):
        print("haproxy is not installed")
        return SKIP
    print(f"{'':16} {'':7} {'':10} {'skua':>7} {'lost':>6} {'HAProxy':>9} {'lost':>6}")
    problems = []
    for name in SCENARIOS:
        if name != (options.scenario or name) or not (options.all or options.scenario or name in SHORT):
            continue
        for is_http2 in (False, True):
            problems += run(options.skua, name, is_http2, options.seconds or (30 if options.all else 3))
    print("\n".join(problems))
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
