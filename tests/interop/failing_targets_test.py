#!/usr/bin/env python3
"""Servers that fail behind `skua proxy`, and behind HAProxy in the same run: who loses how many requests.

Usage: failing_targets_test.py SKUA [--all] [--scenario NAME] [--seconds N]
       expects `skua-failing-target` beside it; exits with 77 (skipped) without haproxy

Prints a table. No GET may fail behind skua, and no other request may fail more often than behind HAProxy, beyond what chance
explains. Without --all, it takes about a minute.
"""
import argparse
import base64
import contextlib
import math
import os
import pathlib
import random
import signal
import socket
import subprocess
import sys
import tempfile
import threading
import time

from hand_over_test import Service, adopt_orphans
from served import SKIP, Program
from servers import Haproxy, found, free_port, until

COUNT = 3  # targets
TIMEOUT = 30
CLIENTS = {"GET": 3, "POST": 3, "stream": 2, "gRPC": 2, "WebSocket": 1}
IDLE = 0.3  # seconds after which the targets of one scenario close a connection
HAPROXY = """
  retries 3
  option redispatch
frontend front
  bind 127.0.0.1:@front@
  default_backend targets
frontend http2
  bind 127.0.0.1:@http2@ proto h2
  default_backend targets
backend targets
  timeout server 2s
  balance leastconn
  option httpchk
  http-check send meth GET uri /livez ver HTTP/1.1 hdr Host x
"""


class Target:
    """A server that can be ended and started again on its port."""

    def __init__(self, program: pathlib.Path, *arguments: str):
        self.program, self.port, self.arguments = program, free_port(), arguments
        self.start()

    def start(self):
        self.process = subprocess.Popen([self.program, str(self.port), *self.arguments], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
        assert self.process.stdout.readline().startswith(b"listening on "), "a target does not start"

    def end(self, kind: int):
        self.process.send_signal(kind)
        self.process.wait(TIMEOUT)
        self.process.stdout.close()

    def ask(self, path: str):
        with contextlib.closing(socket.create_connection(("127.0.0.1", self.port), TIMEOUT)) as client:
            client.sendall(f"GET {path} HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n".encode())
            assert client.recv(100).startswith(b"HTTP/1.1 200 ")


def frame(kind: int, flags: int, stream: int, content: bytes = b"") -> bytes:
    return len(content).to_bytes(3, "big") + bytes([kind, flags]) + stream.to_bytes(4, "big") + content


class ResettingTarget:
    """A server that resets the connection of any request at some phase of its response."""

    def __init__(self, phase: str, is_http2: bool):
        self.phase, self.is_http2 = phase, is_http2
        self.listener = socket.create_server(("127.0.0.1", 0))
        self.port = self.listener.getsockname()[1]
        threading.Thread(target=self.accept, daemon=True).start()

    def accept(self):
        with contextlib.suppress(OSError):
            while True:
                threading.Thread(target=self.serve, args=(self.listener.accept()[0],), daemon=True).start()

    def serve(self, peer: socket.socket):
        with contextlib.closing(peer), contextlib.suppress(OSError), peer.makefile("rb") as requests:
            peer.sendall(self.answer_http2(peer, requests) if self.is_http2 else self.answer(requests))
            peer.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, b"\1\0\0\0\0\0\0\0")

    def answer(self, requests) -> bytes:
        while requests.readline().strip():
            pass
        head = b"HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\n"
        return {"before": b"", "in": head[:20], "after": head, "content": head + b"some"}[self.phase]

    def answer_http2(self, peer: socket.socket, requests) -> bytes:
        peer.sendall(frame(4, 0, 0))
        requests.read(24)  # the preface
        kind, stream = 4, 0
        while kind != 1:
            start = requests.read(9)
            if len(start) < 9:
                return b""
            kind, stream = start[3], int.from_bytes(start[5:9], "big")
            requests.read(int.from_bytes(start[:3], "big"))
        head = frame(1, 4, stream, b"\x88\x0f\x0d\x03100")  # 200, content-length: 100
        content = frame(0, 0, stream, b"some of it")
        return {"before": b"", "in": head[:12], "after": head, "content": head + content[:13]}[self.phase]

    def close(self):
        self.listener.shutdown(socket.SHUT_RDWR)
        self.listener.close()


class Lost(Exception):
    """A request got no answer, or a status of 500 and more."""


class Client(threading.Thread):
    """Sends one kind of request again and again, on a connection that it keeps where it can."""

    def __init__(self, port: int, kind: str, over: threading.Event, pause: float = 0):
        super().__init__(daemon=True)
        self.port, self.kind, self.over, self.pause, self.done, self.lost = port, kind, over, pause, 0, []
        self.start()

    def run(self):
        while not self.over.is_set():
            with contextlib.closing(socket.create_connection(("127.0.0.1", self.port), TIMEOUT)) as client, \
                    client.makefile("rb") as answers:
                client.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
                try:
                    (self.call if self.kind == "gRPC" else self.use)(client, answers)
                except (Lost, OSError, IndexError, ValueError) as error:  # the last two: not HTTP
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
            self.over.wait(self.pause * random.uniform(0.98, 1.05))  # around the moment at which connections are closed

    def call(self, client: socket.socket, answers):
        """Sends requests in the form of gRPC, over HTTP/2. A response to one that succeeds has content."""
        def field(name: bytes, value: bytes) -> bytes:  # a literal that is not indexed
            return b"\0" + bytes([len(name)]) + name + bytes([len(value)]) + value
        client.sendall(b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n" + frame(4, 0, 0))
        head = b"".join(field(*line) for line in ((b":method", b"POST"), (b":scheme", b"http"), (b":path", b"/"),
                                                  (b":authority", b"x"), (b"content-type", b"application/grpc"),
                                                  (b"te", b"trailers")))
        for stream in range(1, 1 << 30, 2):
            if self.over.is_set():
                return
            message = frame(1, 4, stream, head) + frame(0, 1, stream, b"\0\0\0\0\5hello")
            client.sendall(message + frame(8, 0, 0, (10).to_bytes(4, "big")))
            text, flags = b"", 0
            while not flags & 1:
                start = answers.read(9)
                if len(start) < 9:
                    raise Lost("no answer")
                kind, flags, of = start[3], start[4], int.from_bytes(start[5:9], "big") & 0x7FFFFFFF
                content = answers.read(int.from_bytes(start[:3], "big"))
                if kind == 4 and not flags & 1:
                    client.sendall(frame(4, 1, 0))
                if kind == 7 and of == 0 and int.from_bytes(content[:4], "big") < stream:
                    return  # it did not take the request, which a client sends again
                if kind == 3:
                    raise Lost(f"RST_STREAM {int.from_bytes(content, 'big')}")
                text += content if kind == 0 else b""
                if of != stream or kind > 1:
                    flags = 0
                elif kind == 1 and not text and b"\x88" not in content[:4]:  # 200, maybe behind a size of the table
                    raise Lost("another status")
            if not text.isdigit():  # HAProxy ends content that broke off like any other
                raise Lost("half an answer" if text else "no message")
            self.done += 1

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
    def __init__(self, port: int, http2_port: int, counts: dict[str, int], pause: float = 0):
        self.over = threading.Event()
        self.clients = [Client(http2_port if kind == "gRPC" else port, kind, self.over, pause)
                        for kind, count in counts.items() for _ in range(count)]

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


def wait(seconds: float):
    """The targets fail by themselves."""
    time.sleep(seconds)


SCENARIOS = {
    "restarts, 0.4 s": lambda targets, ports, seconds: roll(targets, signal.SIGTERM, 0.4, seconds),
    "restarts, 5 s": lambda targets, ports, seconds: roll(targets, signal.SIGTERM, 5, seconds),
    "kill -9, 0.4 s": lambda targets, ports, seconds: roll(targets, signal.SIGKILL, 0.4, seconds),
    "kill -9, 5 s": lambda targets, ports, seconds: roll(targets, signal.SIGKILL, 5, seconds),
    "hang": lambda targets, ports, seconds: hang(targets, seconds),
    "checks flap": lambda targets, ports, seconds: flap(targets, seconds),
    "503 storm": lambda targets, ports, seconds: storm(ports, seconds),
    "idle closes": lambda targets, ports, seconds: wait(seconds),
    "reset before": lambda targets, ports, seconds: wait(seconds),
    "reset in": lambda targets, ports, seconds: wait(seconds),
    "reset after": lambda targets, ports, seconds: wait(seconds),
    "reset content": lambda targets, ports, seconds: wait(seconds),
    "readiness": None,
    "descriptors": None,
    "gateway": None,
}


def send_handshake(port: int) -> socket.socket:
    client = socket.create_connection(("127.0.0.1", port), TIMEOUT)
    client.sendall(b"GET /echo HTTP/1.1\r\nHost: x\r\nUpgrade: websocket\r\nConnection: Upgrade\r\nSec-WebSocket-Version: 13\r\n"
                   b"Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n\r\n")
    return client


def take_handshake(client: socket.socket):
    """Returns a file of what follows the head."""
    answers = client.makefile("rb")
    status = answers.readline()
    assert status.startswith(b"HTTP/1.1 101 "), status
    while answers.readline().strip():
        pass
    return answers


def open_websocket(port: int):
    client = send_handshake(port)
    return client, take_handshake(client)


def descriptors(skua: str, targets: list[Target]) -> list[str]:
    """A gateway with few descriptors lets requests wait for connections to the targets."""
    count, statuses = 160, []
    program = gateway(skua, targets[:1], False, more=("--threads", "1"))  # so that clients are accepted in turn
    program.command = ("sh", "-c", 'ulimit -n 200; exec "$@"', "sh", *program.command)

    def ask(port: int):
        with contextlib.closing(socket.create_connection(("127.0.0.1", port), TIMEOUT)) as client, client.makefile("rb") as answer:
            client.sendall(b"GET /slow HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n")
            statuses.append(answer.readline().split()[1:2])
    with program as url:
        # A client whose WebSocket is accepted gets a connection to the target, too.
        waiting = [send_handshake(int(url.rsplit(":", 1)[1])) for _ in range(120)]
        for part in (waiting[:80], waiting[80:]):  # others may have to wait until those are closed
            for client, answers in [(client, take_handshake(client)) for client in part]:
                answers.close()
                client.close()
        clients = [threading.Thread(target=ask, args=(int(url.rsplit(":", 1)[1]),)) for _ in range(count)]
        for client in clients:
            client.start()
        for client in clients:
            client.join(TIMEOUT)
    lost = count - statuses.count([b"200"])
    return [f"{lost} of {count} requests lost for want of descriptors"] if lost else []


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


def restarts_gateway(skua: str, targets: list[Target]) -> list[str]:
    """The gateway hands over, then ends, with 200 WebSockets each time: all of them are told, and no request fails."""
    count, problems = 200, []
    adopt_orphans()
    words = gateway(skua, targets, False, more=("--hand-over", "--websocket-spread", "1", "--drain-grace", "5")).command
    service = Service(*(word for word in words if word != "--quiet"))  # which hides that it hands over
    port = service.address.port
    load = Load(port, port, {kind: CLIENTS[kind] for kind in ("GET", "POST")})
    try:
        for name, restart in (("hand-over", service.hand_over), ("end", service.end)):
            sockets = [open_websocket(port) for _ in range(count)]
            if name == "end":
                sums = load.stop()
            restart()
            ends = [answers.read().removeprefix(b"\x89\x00") for _, answers in sockets]  # a Ping, if that takes long
            told = sum(end[:1] == b"\x88" and end[2:4] == b"\x03\xe9" for end in ends)  # Close, 1001
            print(f"{'gateway ' + name:16} {'HTTP/1':7} {'WebSocket':10} {count:7} {count - told:6}", flush=True)
            if told != count:
                problems.append(f"{name} of the gateway: {count - told} WebSockets were cut: {set(ends)}")
            for client, answers in sockets:
                answers.close()
                client.close()
        for kind, (done, lost) in sums.items():
            print(f"{'gateway hand-over':16} {'HTTP/1':6} {kind:10} {done:7} {len(lost):6}", flush=True)
            if lost:
                problems.append(f"hand-over of the gateway: {len(lost)} of {done} {kind} lost: {set(lost)}")
    finally:
        load.over.set()
    return problems


OWN = {"readiness": readiness, "descriptors": descriptors, "gateway": restarts_gateway}  # without HAProxy
SHORT = ("restarts, 0.4 s", "kill -9, 0.4 s", "503 storm", "idle closes", "reset before", *OWN)


def allowed(kind: str, name: str, killed: int, done: int, their_lost: int) -> int:
    """Returns how many requests may be lost behind skua.

    Both meet the same failures, but not at the same moments, so three standard deviations are chance. A target that is killed
    takes along what it works on, which must not be repeated if it is no GET: that is a request of half of the clients, as one
    of the three targets is left out for a second after it was killed itself.
    """
    # Once a response has begun, and after a time-out, neither repeats anything.
    is_final = name in ("reset after", "reset content", "hang")
    if kind == "GET" and not is_final:
        return 0
    if name == "idle closes":  # a request and the end of its connection may pass each other
        return their_lost + done // 10
    at_work = killed * CLIENTS[kind]
    return int(max(their_lost + 3 * math.sqrt(their_lost + 1), at_work / 2 + 1.5 * math.sqrt(at_work)))


def gateway(skua: str, targets: list[Target], is_http2: bool, more=()):
    scheme = "h2c" if is_http2 else "http"
    return Program(skua, "proxy", *(f"{scheme}://127.0.0.1:{target.port}" for target in targets), "--port", "0", "--quiet",
                   "--health-check", "/livez", "--health-interval", "1", "--timeout", "2", *more)


def ejections(admin: int) -> int:
    with contextlib.closing(socket.create_connection(("127.0.0.1", admin), TIMEOUT)) as client, client.makefile("rb") as answer:
        client.sendall(b"GET /metrics HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n")
        return sum(int(line.split()[-1]) for line in answer if line.startswith(b"skua_upstream_ejections_total{"))


def run(skua: str, name: str, is_http2: bool, seconds: float) -> list[str]:
    """Returns what went wrong."""
    problems, phase, is_idle = [], name.removeprefix("reset "), name == "idle closes"
    program = pathlib.Path(skua).resolve().with_name("skua-failing-target")
    with tempfile.TemporaryDirectory() as folder, contextlib.ExitStack() as ends:
        targets = []
        for _ in range(1 if is_idle else COUNT):
            targets.append(Target(program, *([str(int(IDLE * 1000))] if is_idle else [])))
            ends.callback(targets[-1].process.kill)
        ends.callback(lambda servers=tuple(targets): [target.process.kill() for target in servers])
        if SCENARIOS[name] is None:
            return OWN[name](skua, targets)
        if phase != name:
            targets.append(ends.enter_context(contextlib.closing(ResettingTarget(phase, is_http2))))
        # All checks ask a target that answers: the one that resets connections stays in use.
        check = f" port {targets[0].port}" if phase != name else ""
        text = HAPROXY + "".join(f"  server s{i} 127.0.0.1:{target.port} check{check} inter 1s{' proto h2' if is_http2 else ''}\n"
                                 for i, target in enumerate(targets))
        other = ends.enter_context(Haproxy(pathlib.Path(folder) / "haproxy", text))
        mine = gateway(skua, targets, is_http2, more=("--admin", "0", *(("--health-port", str(targets[0].port)) if check else ())))
        port = int(ends.enter_context(mine).rsplit(":", 1)[1])
        admin = int(mine.process.stdout.readline().rsplit(":", 1)[1])
        counts, pause = ({"GET": 16, "POST": 16}, IDLE) if is_idle else (CLIENTS, 0)
        loads = [Load(port, port, counts, pause), Load(other.ports["front"], other.ports["http2"], counts, pause)]
        try:
            killed = SCENARIOS[name](targets, [port, other.ports["front"]], seconds) or 0
        finally:
            ours, theirs = (load.stop() for load in loads)
        for kind in counts:
            (done, lost), (their_done, their_lost) = ours[kind], theirs[kind]
            print(f"{name:16} {'HTTP/2' if is_http2 else 'HTTP/1':7} {kind:10} {done:7} {len(lost):6} {their_done:9} {len(their_lost):6}"
                  f"   {dict((why, lost.count(why)) for why in set(lost)) or ''}", flush=True)
            if len(lost) > allowed(kind, name, killed, done, len(their_lost)):
                problems.append(f"{name}: {len(lost)} of {done} {kind} lost, {len(their_lost)} behind HAProxy")
        if is_idle and (count := ejections(admin)):
            problems.append(f"{count} ejections of a target that closes idle connections")
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
        for is_http2 in (False,) if SCENARIOS[name] is None else (False, True):
            problems += run(options.skua, name, is_http2, options.seconds or (30 if options.all else 3))
    print("\n".join(problems))
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
