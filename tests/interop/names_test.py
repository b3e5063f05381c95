#!/usr/bin/env python3
"""`skua get` with a dead name server: timeouts hold, Ctrl-C ends it at once, and other names do not wait.

Usage: names_test.py SKUA      exits with 77 (skipped) without root and network and mount namespaces
"""
import contextlib
import fcntl
import os
import pathlib
import shutil
import signal
import socket
import struct
import subprocess
import sys
import tempfile
import threading
import time

from asked import NOT_RESOLVED, TIMED_OUT, environment_without_proxies, equal
from served import SKIP, TIMEOUT

SIOCGIFFLAGS, SIOCSIFFLAGS, IFF_UP = 0x8913, 0x8914, 1
DEAD = "http://name.example/"
FILES = {
    "resolv.conf": "nameserver 127.0.0.1\noptions timeout:10 attempts:2\n",
    "hosts": "127.0.0.1 localhost\n127.0.0.1 known.example\n",
    "nsswitch.conf": "hosts: files dns\n",
}


def isolate(folder: pathlib.Path):
    """Sets up our own namespaces: loopback is up, and the system's resolver uses our name server."""
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as control:
        request = struct.pack("16sH22x", b"lo", 0)
        flags = struct.unpack("16sH22x", fcntl.ioctl(control, SIOCGIFFLAGS, request))[1]
        fcntl.ioctl(control, SIOCSIFFLAGS, struct.pack("16sH22x", b"lo", flags | IFF_UP))
    for name, text in FILES.items():
        (folder / name).write_text(text)
        place = pathlib.Path("/etc") / name
        if place.exists():
            subprocess.run(["mount", "--bind", str(folder / name), str(place.resolve())], check=True, timeout=TIMEOUT)


class Silent:
    """A name server that receives queries but never responds."""

    def __init__(self):
        self.socket = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
        self.socket.bind(("127.0.0.1", 53))

    def drain(self):
        """Forgets the questions of programs that have ended."""
        self.socket.settimeout(0)
        with contextlib.suppress(BlockingIOError):
            while True:
                self.socket.recv(512)

    def wait_for_question(self):
        self.socket.settimeout(TIMEOUT)
        self.socket.recv(512)


class Web:
    """A web server that answers every request with "hello"."""

    def __init__(self):
        self.listener = socket.create_server(("127.0.0.1", 0))
        self.port = self.listener.getsockname()[1]
        threading.Thread(target=self.serve, daemon=True).start()

    def serve(self):
        while True:
            peer, _ = self.listener.accept()
            with peer:
                peer.recv(4096)
                peer.sendall(b"HTTP/1.1 200 OK\r\nContent-Length: 5\r\nConnection: close\r\n\r\nhello")


def timed(code: int, *command: str) -> tuple[float, str]:
    began = time.monotonic()
    done = subprocess.run(command, capture_output=True, text=True, timeout=TIMEOUT, env=environment_without_proxies())
    took = time.monotonic() - began
    assert done.returncode == code, f"{' '.join(command)} ended with {done.returncode}, not {code}: {done.stderr}"
    return took, done.stdout + done.stderr


def test_limit_holds(skua: str):
    """Far sooner than the resolver, which takes 20 s."""
    own, _ = timed(0, skua, "--version")
    took, told = timed(TIMED_OUT, skua, "get", "--timeout", "1", DEAD)
    assert took >= 1 and took - own <= 6, f"it took {took:.2f} s, of which {own:.2f} to start: {told}"


def test_interrupt(skua: str, server: Silent):
    server.drain()
    running = subprocess.Popen([skua, "get", DEAD], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    server.wait_for_question()
    began = time.monotonic()
    running.send_signal(signal.SIGINT)
    running.wait(TIMEOUT)
    took = time.monotonic() - began
    assert took <= 5, f"it ended {took:.2f} s after Ctrl-C"


def test_other_names(skua: str, web: Web):
    """More dead names than there are lookup threads, followed by one from the hosts file."""
    dead = [f"http://dead{i}.example/" for i in range(20)]
    began = time.monotonic()
    done = subprocess.run([skua, "get", "--timeout", "3", "--parallel", "30", "-d", *dead, f"http://known.example:{web.port}/found"],
                          capture_output=True, text=True, timeout=TIMEOUT, env=environment_without_proxies())
    took = time.monotonic() - began
    assert done.returncode != 0 and took < 9, f"it ended with {done.returncode} after {took:.2f} s: {done.stderr}"
    equal(pathlib.Path("found").read_text(), "hello")


def run_inside(skua: str):
    with tempfile.TemporaryDirectory() as folder:
        isolate(pathlib.Path(folder))
        os.chdir(folder)
        server, web = Silent(), Web()
        test_limit_holds(skua)
        test_interrupt(skua, server)
        test_other_names(skua, web)
        timed(NOT_RESOLVED, skua, "get", "http://name..example/")


def main():
    skua = str(pathlib.Path(sys.argv[1]).resolve())
    if "--inside" in sys.argv:
        return run_inside(skua)
    unshare = ["unshare", "--net", "--mount"]
    if not shutil.which("unshare") or subprocess.run([*unshare, "true"], capture_output=True, timeout=TIMEOUT).returncode != 0:
        print("skipped: cannot create namespaces")
        return SKIP
    return subprocess.run([*unshare, sys.executable, "-B", __file__, skua, "--inside"], timeout=300).returncode


if __name__ == "__main__":
    sys.exit(main())
