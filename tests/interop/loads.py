"""Clients that keep a server busy while it restarts, and count what fails: for hand_over_test.py."""
import base64
import contextlib
import http.client
import json
import os
import pathlib
import re
import shutil
import signal
import socket
import ssl
import struct
import subprocess
import threading

TIMEOUT = 60


class Address:
    def __init__(self, port: int, is_secure: bool):
        self.port, self.is_secure = port, is_secure
        self.url = f"{'https' if is_secure else 'http'}://127.0.0.1:{port}/"

    def connect(self) -> socket.socket:
        plain = socket.create_connection(("127.0.0.1", self.port), TIMEOUT)
        if not self.is_secure:
            return plain
        context = ssl.create_default_context()
        context.check_hostname = False
        context.verify_mode = ssl.CERT_NONE
        return context.wrap_socket(plain)


class Load:
    """Starts at once; stop() returns what it has done, and what went wrong."""

    def stop(self) -> tuple[str, list[str]]:
        raise NotImplementedError


class Threads(Load):
    """Runs a function again and again on threads of its own, until it is told to stop."""

    def __init__(self, name: str, count: int):
        self.name, self.done, self.failures, self.is_over = name, 0, [], False
        self.changed = threading.Condition()
        self.threads = [threading.Thread(target=self.run) for _ in range(count)]
        for thread in self.threads:
            thread.start()

    def run(self):
        while not self.is_over:
            try:
                self.work()
            except (OSError, EOFError, AssertionError, http.client.HTTPException) as error:
                with self.changed:
                    self.failures.append(f"{self.name}: {type(error).__name__} {error}")
                    self.changed.notify_all()
                if len(self.failures) > 100:
                    return

    def work(self):
        raise NotImplementedError

    def count(self):
        with self.changed:
            self.done += 1
            self.changed.notify_all()

    def await_more(self, more: int):
        """Waits until `more` has been done from now on, or something has failed."""
        with self.changed:
            enough = self.done + more
            assert self.changed.wait_for(lambda: self.done >= enough or self.failures, TIMEOUT), f"{self.name} has stalled"

    def stop(self) -> tuple[str, list[str]]:
        self.is_over = True
        for thread in self.threads:
            thread.join(TIMEOUT)
        return f"{self.done} {self.name}", self.failures


class Connections(Threads):
    """A connection for each request."""

    def __init__(self, address: Address, expected: bytes):
        self.address, self.expected = address, expected
        super().__init__("connections", 2)

    def work(self):
        with self.address.connect() as client:
            client.sendall(b"GET / HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n")
            answer = b"".join(iter(lambda: client.recv(65536), b""))
        assert answer.startswith(b"HTTP/1.1 200 ") and self.expected in answer, answer
        self.count()


class KeptConnections(Threads):
    """Many requests on a connection, until the server says `Connection: close`."""

    def __init__(self, address: Address, expected: bytes):
        self.address, self.expected = address, expected
        super().__init__("requests on kept connections", 2)

    def work(self):
        with self.address.connect() as client, client.makefile("rb") as answers:
            is_kept = True
            while is_kept and not self.is_over:
                client.sendall(b"GET / HTTP/1.1\r\nHost: localhost\r\n\r\n")
                status = answers.readline()
                assert status.startswith(b"HTTP/1.1 200 "), status
                fields = http.client.parse_headers(answers)
                assert self.expected in answers.read(int(fields["Content-Length"]))
                is_kept = fields.get("Connection") != "close"
                self.count()


class SlowRequests(Threads):
    """Responses that take longer than a hand-over."""

    def __init__(self, address: Address):
        self.address = address
        super().__init__("slow requests", 2)

    def work(self):
        with self.address.connect() as client:
            client.sendall(b"GET /slow HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n")
            answer = b"".join(iter(lambda: client.recv(65536), b""))
        assert answer.endswith(b"\r\n\r\na long answer\n"), answer
        self.count()


class WebSockets(Threads):
    """Echoes messages, until the server closes the WebSocket with 1001."""

    def __init__(self, address: Address):
        self.address, self.closed = address, 0
        super().__init__("messages of WebSockets", 4)

    @staticmethod
    def send(client: socket.socket, opcode: int, payload: bytes):
        mask = os.urandom(4)
        masked = bytes(byte ^ mask[i % 4] for i, byte in enumerate(payload))
        client.sendall(bytes([0x80 | opcode, 0x80 | len(payload)]) + mask + masked)

    @staticmethod
    def receive(frames) -> tuple[int, bytes]:
        head = frames.read(2)
        if len(head) < 2:
            raise EOFError("a WebSocket ended without a close frame")
        return head[0] & 15, frames.read(head[1])

    def work(self):
        with self.address.connect() as client, client.makefile("rb") as frames:
            key = base64.b64encode(os.urandom(16)).decode()
            client.sendall(("GET /echo HTTP/1.1\r\nHost: localhost\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n"
                            f"Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: {key}\r\n\r\n").encode())
            head = b"".join(iter(frames.readline, b"\r\n"))
            assert head.startswith(b"HTTP/1.1 101 "), head
            while not self.is_over:
                text = os.urandom(4).hex().encode()
                self.send(client, 1, text)
                opcode, payload = self.receive(frames)
                if opcode == 8:  # the message crossed it, which is why it says 1001
                    code = struct.unpack(">H", payload[:2])[0]
                    assert code == 1001, f"closed with {code}"
                    self.send(client, 8, payload[:2])
                    assert frames.read() == b""
                    with self.changed:
                        self.closed += 1
                    return
                assert (opcode, payload) == (1, text), (opcode, payload)
                self.count()
            self.send(client, 8, struct.pack(">H", 1000))

    def stop(self) -> tuple[str, list[str]]:
        text, failures = super().stop()
        return f"{text} ({self.closed} closed with 1001)", failures


class Wrk(Load):
    """wrk counts a connection that it cannot make, and one that ends before a response, as errors."""

    def __init__(self, address: Address):
        self.process = subprocess.Popen(["wrk", "-t", "1", "-c", "16", "-d", "3600s", "--timeout", "30s", address.url],
                                        stdout=subprocess.PIPE, text=True)

    def stop(self) -> tuple[str, list[str]]:
        self.process.send_signal(signal.SIGINT)
        text, _ = self.process.communicate(timeout=TIMEOUT)
        done = re.search(r"(\d+) requests in", text)
        failures = [line.strip() for line in text.splitlines() if "errors" in line or "Non-2xx" in line]
        return f"{done[1] if done else 0} requests of wrk", [f"wrk: {failure}" for failure in failures]


class Bench(Load):
    """`skua bench`, over HTTP/1.1 or HTTP/2: repeats what a GOAWAY says was not processed, as RFC 9113 §6.8 wants."""

    def __init__(self, program: str, address: Address, *options: str):
        command = [program, "bench", "--json", "--quiet", "-c", "4", "-d", "3600", "--timeout", "30", *options, address.url]
        if address.is_secure:
            command.insert(2, "--insecure")
        self.name = " ".join(["skua bench", *options])
        self.process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)

    def stop(self) -> tuple[str, list[str]]:
        self.process.send_signal(signal.SIGINT)
        text, _ = self.process.communicate(timeout=TIMEOUT)
        report = json.loads(text)
        failed = [f"{self.name}: {report['failures']} failures, {report['first_errors']}"] if report["failures"] else []
        if report["statuses"]["2xx"] != report["answers"]:
            failed.append(f"{self.name}: {report['statuses']}")
        return f"{report['answers']} requests of {self.name}", failed


class H2load(Threads):
    """h2load over HTTP/1.1, a run after the other. Over HTTP/2, it makes no second connection after a GOAWAY."""

    def __init__(self, address: Address):
        self.address = address
        super().__init__("runs of h2load", 1)

    def work(self):
        done = subprocess.run(["h2load", "--h1", "-n", "2000", "-c", "4", "-t", "1", self.address.url], capture_output=True,
                              text=True, timeout=TIMEOUT, check=False)
        counts = re.search(r"(\d+) succeeded, (\d+) failed, (\d+) errored, (\d+) timeout", done.stdout)
        assert counts and counts.groups() == ("2000", "0", "0", "0"), done.stdout
        self.count()


@contextlib.contextmanager
def running(loads: list[Load]):
    """Runs the body under load; then prints what was done, and fails if anything failed."""
    try:
        yield
    finally:
        results = [load.stop() for load in loads]
    print("  " + ", ".join(text for text, _ in results), flush=True)
    failures = [failure for _, failed in results for failure in failed]
    assert not failures, "\n".join(failures[:20])


def all_loads(program: str, address: Address, expected: bytes, has_more: bool) -> list[Load]:
    """`program` is skua; `has_more`: the server is example-hand_over, which has a slow page and WebSockets."""
    loads = [Connections(address, expected), KeptConnections(address, expected), Bench(program, address),
             Bench(program, address, "--http2", "--streams", "8")]
    if has_more:
        loads += [SlowRequests(address), WebSockets(address)]
    if shutil.which("wrk"):
        loads.append(Wrk(address))
    if shutil.which("h2load"):
        loads.append(H2load(address))
    return loads
