#!/usr/bin/env python3
"""Socket activation of `skua serve`: this script opens the sockets and starts the server, as systemd does.

Usage: activation_test.py SKUA      on every back end available
"""
import os
import pathlib
import socket
import subprocess
import sys
import tempfile

from served import TIMEOUT, Program, backends

# Moves the descriptors in the first argument to 3, 4, ..., and becomes the program in the second.
ACTIVATE = """
import fcntl, os, sys
given = [int(number) for number in sys.argv[1].split(",")]
held = [fcntl.fcntl(number, fcntl.F_DUPFD_CLOEXEC, 100) for number in given]
for number in given:
    os.close(number)
for place, number in enumerate(held):
    os.dup2(number, 3 + place)
os.environ.setdefault("LISTEN_PID", str(os.getpid()))
os.environ["LISTEN_FDS"] = str(len(held))
os.execv(sys.argv[2], sys.argv[2:])
"""


def equal(actual, expected):
    assert actual == expected, f"{actual!r} is not {expected!r}"


def activated(sockets: list[socket.socket], *command: str) -> list[str]:
    return [sys.executable, "-c", ACTIVATE, ",".join(str(held.fileno()) for held in sockets), *command]


class Activated(Program):
    """`with Activated(sockets, program, "serve", ...) as url:`"""

    def __init__(self, sockets: list[socket.socket], *command: str, environment: dict[str, str] | None = None):
        super().__init__(*activated(sockets, *command), environment=environment,
                         pass_fds=tuple(held.fileno() for held in sockets))

    def next_line(self) -> str:
        return self.process.stdout.readline().strip()


def listening(address, family=socket.AF_INET) -> socket.socket:
    held = socket.socket(family)
    held.bind(address)
    held.listen(16)
    return held


def begin(listener: socket.socket) -> socket.socket:
    """Connects and sends a request."""
    client = socket.socket(listener.family)
    client.settimeout(TIMEOUT)
    client.connect(listener.getsockname())
    client.sendall(b"GET /hello.txt HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n")
    return client


def end(client: socket.socket) -> None:
    """Checks the answer."""
    answer = b""
    with client:
        while more := client.recv(4096):
            answer += more
    assert answer.startswith(b"HTTP/1.1 200 ") and answer.endswith(b"\r\n\r\nhello"), answer


def serves_on_all_sockets(serve: list[str], folder: pathlib.Path):
    path = str(folder / "web.sock")
    with listening(("127.0.0.1", 0)) as port, listening(path, socket.AF_UNIX) as local:
        server = Activated([port, local], *serve, "--threads", "2")
        with server as url:
            equal(url, "http://127.0.0.1:%d" % port.getsockname()[1])
            equal(server.next_line(), "listening on unix:" + path)
            for listener in (port, local, port, local):
                end(begin(listener))
    assert os.path.exists(path), "the path belongs to the parent"


def restarts_without_a_refused_connection(serve: list[str]):
    """Clients that come while no server runs wait for the next one."""
    with listening(("127.0.0.1", 0)) as port:
        for _ in range(4):
            early = [begin(port) for _ in range(3)]
            with Activated([port], *serve):
                for client in early:
                    end(client)
                end(begin(port))


def ignores_sockets_of_another_process(serve: list[str]):
    with listening(("127.0.0.1", 0)) as port:
        environment = {**os.environ, "LISTEN_PID": str(os.getpid())}
        with Activated([port], *serve, "--port", "0", environment=environment) as url:
            assert not url.endswith(":%d" % port.getsockname()[1]), url


def refuses_sockets_that_do_not_listen(serve: list[str]):
    kinds = ((socket.SOCK_DGRAM, "carries datagrams, not connections"), (socket.SOCK_STREAM, "does not listen"))
    for kind, reason in kinds:
        with socket.socket(socket.AF_INET, kind) as held:
            held.bind(("127.0.0.1", 0))
            done = subprocess.run(activated([held], *serve), capture_output=True, text=True, timeout=TIMEOUT,
                                  pass_fds=(held.fileno(),))
            equal((done.returncode, done.stdout), (1, ""))
            assert done.stderr.startswith("skua: cannot use an inherited socket: ") and reason in done.stderr, done.stderr


def main(program: str) -> int:
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        (folder / "hello.txt").write_text("hello")
        for backend in backends(program):
            serve = [program, "serve", name, "--quiet", "--backend", backend]
            serves_on_all_sockets(serve, folder)
            (folder / "web.sock").unlink()
            restarts_without_a_refused_connection(serve)
            ignores_sockets_of_another_process(serve)
            refuses_sockets_that_do_not_listen(serve)
            print(f"{backend}: serves on inherited sockets")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1]))
