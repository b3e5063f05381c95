#!/usr/bin/env python3
"""Restarts without a gap: no connection is refused or reset, and no request fails.

Usage: hand_over_test.py SKUA [--rounds COUNT]      of each kind; 20 for a thorough test

By hand-overs (SIGUSR2) of example-hand_over and `skua serve`, and by restarts behind a socket that the parent holds (socket
activation), under the load of loads.py, with and without TLS. A new process that fails must change nothing.
"""
import argparse
import atexit
import contextlib
import ctypes
import os
import pathlib
import re
import select
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import threading

from activation_test import activated, listening
from loads import Address, Connections, KeptConnections, all_loads, running
from served import SKIP, TIMEOUT, backends, certificate

GRACE = "5"  # seconds: a busy machine may keep a client from sending its next request for a while


def adopt_orphans():
    """The process that a server hands over to becomes our child once the server has ended."""
    pr_set_child_subreaper = 36
    ctypes.CDLL(None).prctl(pr_set_child_subreaper, 1, 0, 0, 0)


def await_end(process: int) -> int:
    """Waits for the end of a process that is our child, or becomes it; returns its exit code."""
    descriptor = os.pidfd_open(process)
    assert select.select([descriptor], [], [], TIMEOUT)[0], f"process {process} does not end"
    os.close(descriptor)
    return os.waitstatus_to_exitcode(os.waitpid(process, 0)[1])


class Service:
    """A server that hands over. Each of its processes writes to the same stderr."""

    def __init__(self, *command: str):
        self.process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        line = self.process.stdout.readline()
        assert line.startswith("listening on "), (command, line, self.process.stderr.read() if not line else "")
        self.address = Address(int(line.rsplit(":", 1)[1]), line.split()[2].startswith("https"))
        self.id, self.said, self.changed = self.process.pid, [], threading.Condition()
        atexit.register(self.kill)
        for stream in (self.process.stdout, self.process.stderr):
            threading.Thread(target=self.read, args=(stream,), daemon=True).start()

    def read(self, stream):
        for line in stream:
            with self.changed:
                self.said.append(line.strip())
                self.changed.notify_all()

    def ask(self, answer: str) -> re.Match:
        """Sends SIGUSR2, and waits for a line."""
        with self.changed:
            first = len(self.said)
            os.kill(self.id, signal.SIGUSR2)

            def found():
                return next((match for line in self.said[first:] if (match := re.search(answer, line))), None)
            assert self.changed.wait_for(found, TIMEOUT), self.said[-10:]
            return found()

    def hand_over(self):
        successor = int(self.ask(r"handed over to process (\d+)")[1])
        code = await_end(self.id)
        assert code == 0, f"the old process ended with {code}: {self.said[-10:]}"
        self.id = successor

    def end(self):
        os.kill(self.id, signal.SIGTERM)
        code = await_end(self.id)
        atexit.unregister(self.kill)
        assert code == 0, f"exit code {code}: {self.said[-10:]}"

    def kill(self):
        """After a failed test."""
        with contextlib.suppress(ProcessLookupError):
            os.kill(self.id, signal.SIGKILL)


def hands_over(program: str, rounds: int, service: Service, expected: bytes, has_more: bool):
    loads = all_loads(program, service.address, expected, has_more)
    progress = [load for load in loads if isinstance(load, (Connections, KeptConnections))]
    with running(loads):
        for _ in range(rounds):
            for load in progress:
                load.await_more(20)
            service.hand_over()
        for load in progress:
            load.await_more(20)
    service.end()


def hands_over_admin(program: str, site: pathlib.Path, admin: str):
    service = Service(program, "serve", str(site), "--port", "0", "--hand-over", "--drain-grace", "0", "--admin", admin)
    with service.changed:
        service.changed.wait_for(lambda: any(line.startswith("admin on ") for line in service.said), TIMEOUT)
    place = next(line.split()[2] for line in service.said if line.startswith("admin on "))
    for _ in range(2):
        assert b"ready\n" in readiness(place), place
        service.hand_over()
        answer = readiness(place)
        assert b"[+] server: ok\nready\n" in answer, answer
    service.end()


def readiness(place: str) -> bytes:
    is_path = place.startswith("unix:")
    with socket.socket(socket.AF_UNIX if is_path else socket.AF_INET) as connection:
        connection.settimeout(TIMEOUT)
        connection.connect(place.removeprefix("unix:") if is_path else ("127.0.0.1", int(place.rsplit(":", 1)[1])))
        connection.sendall(b"GET /readyz HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n")
        return b"".join(iter(lambda: connection.recv(4096), b""))


class Replaceable:
    """A program under a name that may be given to another one, as an upgrade does."""

    def __init__(self, folder: pathlib.Path, program: str):
        self.path, self.program = folder / "server", program
        self.restore()

    def replace(self, script: str):
        other = self.path.with_suffix(".new")
        other.write_text("#!/bin/sh\n" + script)
        other.chmod(0o755)
        other.rename(self.path)

    def restore(self):
        other = self.path.with_suffix(".new")
        other.symlink_to(self.program)
        other.rename(self.path)


def survives_failures(program: str, replaceable: Replaceable, service: Service, expected: bytes, has_more: bool):
    loads = all_loads(program, service.address, expected, has_more)
    with running(loads):
        for script, reason in (("exit 3", "it ended with exit code 3"), ("kill -SEGV $$", "signal 11 ended it"),
                               ("exec /nowhere/program", "it ended with exit code 127")):
            replaceable.replace(script)
            service.ask(f"not handed over: the new process was not ready: {reason}")
            loads[0].await_more(10)
        replaceable.path.unlink()
        service.ask("not handed over: could not start .*/server: ")
        loads[0].await_more(10)
        replaceable.restore()
        service.hand_over()
        loads[0].await_more(10)
    service.end()


def restarts(program: str, rounds: int, command: list[str], is_secure: bool):
    """The parent holds the socket, and starts a process after the other."""
    with listening(("127.0.0.1", 0)) as held:
        held.listen(1024)
        if activate := shutil.which("systemd-socket-activate"):
            command = [activate, *command]
        words = activated([held], *command)
        loads = all_loads(program, Address(held.getsockname()[1], is_secure), b"hello", False)
        with running(loads):
            for _ in range(rounds):
                process = subprocess.Popen(words, pass_fds=(held.fileno(),), stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
                atexit.register(process.kill)  # does nothing if it has ended
                assert process.stdout.readline().startswith(b"listening on ")
                for load in loads[:2]:
                    load.await_more(20)
                process.terminate()
                code = process.wait(TIMEOUT)
                process.stdout.close()
                assert code == 0, f"exit code {code}"
            process = subprocess.Popen(words, pass_fds=(held.fileno(),), stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
            atexit.register(process.kill)
            for load in loads[:2]:
                load.await_more(20)
        process.terminate()
        assert process.wait(TIMEOUT) == 0


def main() -> int:
    parser = argparse.ArgumentParser()
    parser.add_argument("program")
    parser.add_argument("--rounds", type=int, default=2)
    options = parser.parse_args()
    program, rounds = os.path.abspath(options.program), options.rounds
    example = str(pathlib.Path(program).with_name("example-hand_over"))
    if not hasattr(os, "pidfd_open"):
        print("skipped: needs pidfd_open (Linux, Python 3.9)")
        return SKIP
    adopt_orphans()
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        site = folder / "site"
        site.mkdir()
        (site / "index.html").write_text("hello")
        files = certificate(folder)
        for pem in [None, files] if files else [None]:
            kind = "TLS" if pem else "plain"
            serve = ["serve", str(site), "--threads", "2", "--drain-grace", GRACE]
            serve += ["--tls-cert", pem[0], "--tls-key", pem[1]] if pem else []
            for backend in backends(program):
                own = [*serve, "--backend", backend]
                print(f"{rounds} restarts of skua serve behind a socket, {kind}, {backend}:", flush=True)
                restarts(program, rounds, [program, *own], pem is not None)
                print(f"{rounds} hand-overs of skua serve, {kind}, {backend}:", flush=True)
                hands_over(program, rounds, Service(program, *own, "--port", "0", "--hand-over"), b"hello", False)
            if os.path.exists(example):
                print(f"{rounds} hand-overs of the example, {kind}:", flush=True)
                hands_over(program, rounds, Service(example, "0", *(pem or ())), b"Hello from process", True)
        print("hand-overs with an admin listener:", flush=True)
        for admin in ("0", f"unix:{folder / 'admin'}"):
            hands_over_admin(program, site, admin)
        assert not (folder / "admin").exists()
        print("new processes that fail:", flush=True)
        replaceable = Replaceable(folder, program)
        survives_failures(program, replaceable, Service(str(replaceable.path), "serve", str(site), "--port", "0", "--hand-over",
                                                        "--drain-grace", GRACE), b"hello", False)
        if os.path.exists(example):
            replaceable.program = example
            replaceable.restore()
            survives_failures(program, replaceable, Service(str(replaceable.path), "0"), b"Hello from process", True)
    return 0


if __name__ == "__main__":
    sys.exit(main())
