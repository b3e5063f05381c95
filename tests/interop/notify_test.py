#!/usr/bin/env python3
"""What `skua serve` tells its service manager (sd_notify(3)), which this script plays: on every back end available.

Usage: notify_test.py SKUA
"""
import os
import pathlib
import signal
import socket
import subprocess
import sys
import tempfile
import urllib.request

from hand_over_test import adopt_orphans, await_end
from served import TIMEOUT, backends


class Manager:
    """Starts the program, and reads its messages."""

    def __init__(self, name: str, *command: str, **variables: str):
        self.socket = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
        self.socket.settimeout(TIMEOUT)
        self.socket.bind("\0" + name[1:] if name.startswith("@") else name)
        self.socket.setsockopt(socket.SOL_SOCKET, socket.SO_PASSCRED, 1)
        self.process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True,
                                        env={**os.environ, "NOTIFY_SOCKET": name, **variables})
        self.url = self.process.stdout.readline().split()[-1]

    def next(self, *ignored: str) -> tuple[str, int]:
        """The next message and its sender, but not those that are ignored."""
        while True:
            text, more, _, _ = self.socket.recvmsg(4096, socket.CMSG_SPACE(12))
            if text.decode() not in ignored:
                return text.decode(), int.from_bytes(more[0][2][:4], sys.byteorder)

    def expect(self, text: str, sender: int | None = None, ignored: str = "WATCHDOG=1"):
        got = self.next(ignored)
        expected = (text, sender or self.process.pid)
        assert got == expected, f"{got} is not {expected}"

    def end(self):
        self.process.stdout.close()
        self.socket.close()


def tells_of_its_life(serve: list[str], name: str, config: pathlib.Path):
    manager = Manager(name, *serve, "--config", str(config))
    manager.expect("READY=1")
    assert urllib.request.urlopen(manager.url, timeout=TIMEOUT).read() == b"hello"
    manager.process.send_signal(signal.SIGHUP)
    text, _ = manager.next()
    assert text.startswith("RELOADING=1\nMONOTONIC_USEC="), text
    manager.expect("READY=1")
    manager.process.send_signal(signal.SIGTERM)
    manager.expect("STOPPING=1")
    assert manager.process.wait(TIMEOUT) == 0
    manager.end()


def is_not_ended_by_a_reload(serve: list[str], name: str):
    """Without anything to reload, SIGHUP would stop a `skua serve` that has no manager."""
    manager = Manager(name, *serve)
    manager.expect("READY=1")
    manager.process.send_signal(signal.SIGHUP)
    assert manager.next()[0].startswith("RELOADING=1\n")
    manager.expect("READY=1")
    manager.process.send_signal(signal.SIGTERM)
    manager.expect("STOPPING=1")
    assert manager.process.wait(TIMEOUT) == 0
    manager.end()


def answers_the_watchdog(serve: list[str], name: str):
    manager = Manager(name, *serve, WATCHDOG_USEC="200000")
    manager.expect("READY=1")
    for _ in range(4):
        manager.expect("WATCHDOG=1", ignored="")
    manager.process.send_signal(signal.SIGSTOP)  # no thread makes progress
    manager.socket.settimeout(1)
    try:
        while True:
            manager.next()
    except TimeoutError:
        pass
    manager.socket.settimeout(TIMEOUT)
    manager.process.send_signal(signal.SIGCONT)
    manager.expect("WATCHDOG=1", ignored="")
    manager.process.send_signal(signal.SIGTERM)
    manager.expect("STOPPING=1")
    assert manager.process.wait(TIMEOUT) == 0
    manager.end()


def names_its_successor(serve: list[str], name: str):
    """The old process says who follows, because the manager hears no other one before."""
    manager = Manager(name, *serve, "--hand-over", WATCHDOG_USEC="200000")
    manager.expect("READY=1")
    manager.process.send_signal(signal.SIGUSR2)
    text, sender = manager.next("WATCHDOG=1")
    assert sender == manager.process.pid and text.startswith("MAINPID=") and text.endswith("\nREADY=1"), text
    successor = int(text.split("=")[1].split("\n")[0])
    assert manager.process.wait(TIMEOUT) == 0
    manager.expect("WATCHDOG=1", successor, ignored="")
    assert urllib.request.urlopen(manager.url, timeout=TIMEOUT).read() == b"hello"
    os.kill(successor, signal.SIGTERM)
    manager.expect("STOPPING=1", successor)
    assert await_end(successor) == 0
    manager.end()


def main(program: str) -> int:
    adopt_orphans()
    with tempfile.TemporaryDirectory() as temporary:
        folder = pathlib.Path(temporary)
        (folder / "site").mkdir()
        (folder / "site" / "index.html").write_text("hello")
        (folder / "skua.toml").write_text("")
        for backend in backends(program):
            serve = [program, "serve", str(folder / "site"), "--port", "0", "--quiet", "--threads", "2", "--backend", backend]
            tells_of_its_life(serve, str(folder / f"notify-{backend}"), folder / "skua.toml")
            tells_of_its_life(serve, f"@skua-notify-{os.getpid()}-{backend}", folder / "skua.toml")
            is_not_ended_by_a_reload(serve, str(folder / f"reload-{backend}"))
            gateway = [program, "proxy", "127.0.0.1:9", "--port", "0", "--quiet", "--threads", "2", "--backend", backend]
            is_not_ended_by_a_reload(gateway, str(folder / f"gateway-{backend}"))
            answers_the_watchdog(serve, str(folder / f"watchdog-{backend}"))
            names_its_successor(serve, str(folder / f"successor-{backend}"))
            print(f"{backend}: tells its manager what happens")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1]))
