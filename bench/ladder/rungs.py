# SPDX-License-Identifier: MIT
"""The rungs of docs/ladder.md: their names, their processes, and what a request costs in system calls and allocations."""

import contextlib
import os
import pathlib
import re
import resource
import shutil
import signal
import socket
import struct
import subprocess
import tempfile
import time

NAMES = ("naive", "parsing", "gather", "threads", "keep-alive", "pooled", "io_uring", "skua")
CLOSES = NAMES[:4]  # after each answer
REQUEST = b"GET / HTTP/1.1\r\nHost: ladder\r\n\r\n"
BATCH = 16  # pipelined requests
UNAVAILABLE = 2  # the exit code of a rung that this system cannot run
PATIENCE_SECONDS = 30


class Failure(Exception):
    """An error that the user can fix; the text says how."""


class Unavailable(Failure):
    """A rung or a program that is not here; the text names it."""


def allow_many_files():
    hard = resource.getrlimit(resource.RLIMIT_NOFILE)[1]
    resource.setrlimit(resource.RLIMIT_NOFILE, (hard, hard))


def find(program, package):
    path = shutil.which(program)
    if path is None:
        raise Unavailable(f"{program} is not installed (Debian: {package}, or tools/deps.sh bench)")
    return path


class Rung:
    """A running rung, on a free port; ends with the `with` statement."""

    def __init__(self, binaries, name, wrapper=(), environment=()):
        program = pathlib.Path(binaries) / f"skua-ladder-{name}"
        if not os.access(program, os.X_OK):
            raise Unavailable(f"{program} is not built")
        self.name, self.wrapped = name, bool(wrapper)
        self.command = [*wrapper, str(program), "0"]
        self.environment = {**os.environ, **dict(environment)}

    def __enter__(self):
        self.process = subprocess.Popen(self.command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, text=True, env=self.environment)
        line = self.process.stdout.readline()
        if not (found := re.fullmatch(r"listening on http://127\.0\.0\.1:(\d+)\n", line)):
            code = self.process.wait(PATIENCE_SECONDS)
            self.process.stdout.close()
            problem = Unavailable if code == UNAVAILABLE else Failure
            raise problem(f"{self.name} printed {line!r} and ended with code {code}")
        self.port = int(found[1])
        self.listeners = self.sockets()
        return self

    def pid(self):
        """The process id of the program itself: under strace, that of its only child."""
        if not self.wrapped:
            return self.process.pid
        with open(f"/proc/{self.process.pid}/task/{self.process.pid}/children", encoding="ascii") as file:
            return int(file.read())

    def sockets(self):
        folder, count = f"/proc/{self.pid()}/fd", 0
        for name in os.listdir(folder):
            with contextlib.suppress(FileNotFoundError):
                count += os.readlink(f"{folder}/{name}").startswith("socket:")
        return count

    def wait_until_asleep(self, connections):
        """Waits until it has this many connections, and all its threads wait for more."""
        folder, end = f"/proc/{self.pid()}/task", time.monotonic() + PATIENCE_SECONDS
        while time.monotonic() < end:
            states = {pathlib.Path(folder, thread, "stat").read_text().rpartition(") ")[2][0] for thread in os.listdir(folder)}
            if states == {"S"} and self.sockets() == self.listeners + connections:
                return
            time.sleep(0.001)
        raise Failure(f"{self.name} does not come to rest")

    def is_alive(self):
        return self.process.poll() is None

    def __exit__(self, *_):
        try:
            if self.is_alive():
                os.kill(self.pid(), signal.SIGTERM)
            self.process.wait(PATIENCE_SECONDS)
        finally:
            self.process.kill()  # does nothing if it has ended
            self.process.stdout.close()

    def connect(self):
        connection = socket.create_connection(("127.0.0.1", self.port), PATIENCE_SECONDS)
        connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        return connection


class Answers:
    """Reads the answers on a connection, one by one."""

    def __init__(self, connection):
        self.connection, self.bytes = connection, b""

    def fill(self):
        piece = self.connection.recv(1 << 16)
        self.bytes += piece
        return bool(piece)

    def next(self):
        """Returns the status, the head and the content of the next final answer; None at the end of the stream."""
        while b"\r\n\r\n" not in self.bytes:
            if not self.fill():
                if self.bytes:
                    raise Failure(f"an answer is cut: {self.bytes[:200]!r}")
                return None
        head, _, self.bytes = self.bytes.partition(b"\r\n\r\n")
        status = int(head.split(b" ", 2)[1])
        if status == 100:
            return self.next()
        size = int(re.search(rb"(?i)\r\ncontent-length: (\d+)", head)[1])
        while len(self.bytes) < size:
            if not self.fill():
                raise Failure("an answer is cut")
        content, self.bytes = self.bytes[:size], self.bytes[size:]
        return status, head, content


class Client:
    """Sends requests, `batch` in one piece, over one connection as long as the rung keeps it open."""

    def __init__(self, rung, batch):
        self.rung, self.batch, self.connection, self.answers = rung, batch, None, None

    def send(self, requests):
        """Sends requests and waits until the rung has answered them and sleeps again."""
        for _ in range(requests // self.batch):
            if self.connection is None:
                self.connection = self.rung.connect()
                self.answers = Answers(self.connection)
            self.connection.sendall(REQUEST * self.batch)
            for _ in range(self.batch):
                status, _, content = self.answers.next()
                if (status, content) != (200, b"Hello, World!"):
                    raise Failure(f"{self.rung.name} answered {status} {content[:100]!r}")
            if self.rung.name in CLOSES:
                self.close()
        self.rung.wait_until_asleep(connections=0 if self.connection is None else 1)

    def close(self):
        if self.connection is not None:
            self.connection.close()
        self.connection = None


def counted(rung, count, batch=1):
    """Returns by how much `count()` grows with each request, as a text, once the rung is warm."""
    requests = 10 * batch
    client = Client(rung, batch)
    try:
        client.send(10 * requests)
        before = count()
        client.send(requests)
        return f"{(count() - before) / requests:.2f}".removesuffix(".00")
    finally:
        client.close()


def find_strace():
    path = find("strace", "strace")
    if subprocess.run([path, "-o", "/dev/null", "true"], capture_output=True, check=False).returncode:
        raise Unavailable("strace may not trace programs here")
    return path


def system_calls(binaries, name, batch=1):
    with tempfile.NamedTemporaryFile(prefix="ladder-") as file:
        def count():
            """The calls that have returned: a line each, or the second of two if other threads had one meanwhile."""
            file.seek(0)
            return sum(b" = " in line for line in file)

        with Rung(binaries, name, [find_strace(), "-f", "-qq", "-e", "signal=none", "-o", file.name]) as rung:
            return counted(rung, count, batch)


def allocations(binaries, name):
    library = pathlib.Path(binaries) / "libskua-ladder-allocations.so"
    if not library.exists():
        raise Unavailable(f"{library} is not built")
    with tempfile.NamedTemporaryFile(prefix="ladder-") as file:
        file.truncate(8)

        def count():
            file.seek(0)
            return struct.unpack("=Q", file.read(8))[0]

        with Rung(binaries, name, environment={"LD_PRELOAD": library, "LADDER_ALLOCATIONS": file.name}.items()) as rung:
            return counted(rung, count)


def costs(binaries, name):
    """Returns the last columns of the table: system calls alone and in a batch, and allocations."""
    batched = "-" if name in CLOSES else system_calls(binaries, name, BATCH)
    return [system_calls(binaries, name), batched, allocations(binaries, name)]
