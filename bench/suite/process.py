# SPDX-License-Identifier: MIT
"""Processes pinned to one core, most of them under SCHED_BATCH: start, cost and end."""

import contextlib
import ctypes
import os
import resource
import shlex
import signal
import socket
import subprocess
import tempfile
import time

PR_SET_PDEATHSIG = 1

# How a process shares its core with others: with long turns, as usual, or ahead of all that are usual.
BATCH, USUAL, AHEAD = os.SCHED_BATCH, os.SCHED_OTHER, os.SCHED_RR


class Failure(Exception):
    """An error that the user can fix; the text says how."""


def pinned(core, policy=BATCH):
    """For preexec_fn: pins a child to `core`, or to a set of them, under a policy and ends it with this script."""
    cores = core if isinstance(core, set) else {core}
    parent = os.getpid()

    def prepare():
        os.sched_setaffinity(0, cores)
        with contextlib.suppress(PermissionError):  # AHEAD is for root
            os.sched_setscheduler(0, policy, os.sched_param(os.sched_get_priority_min(policy)))
        ctypes.CDLL(None).prctl(PR_SET_PDEATHSIG, signal.SIGTERM)
        if os.getppid() != parent:  # it has ended before
            os._exit(1)

    return prepare


def allow_many_files():
    """Raises the open file limit of this process and its children to the maximum; returns it."""
    hard = resource.getrlimit(resource.RLIMIT_NOFILE)[1]
    resource.setrlimit(resource.RLIMIT_NOFILE, (hard, hard))
    return hard


def free_port():
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


def family(pid):
    """Returns the process ids of `pid` and its descendants."""
    parents = {}
    for name in os.listdir("/proc"):
        if name.isdigit():
            try:
                with open(f"/proc/{name}/stat", "rb") as file:
                    fields = file.read().rpartition(b")")[2].split()
            except OSError:
                continue
            parents.setdefault(int(fields[1]), []).append(int(name))
    found = [pid]
    for member in found:
        found.extend(parents.get(member, []))
    return found


def thread_seconds(pid, tid):
    """Returns CPU seconds of one thread: from schedstat (nanoseconds) if available, else ticks."""
    folder = f"/proc/{pid}/task/{tid}"
    try:
        with open(f"{folder}/schedstat", "rb") as file:
            return int(file.read().split()[0]) * 1e-9
    except (OSError, IndexError):
        pass
    try:
        with open(f"{folder}/stat", "rb") as file:
            fields = file.read().rpartition(b")")[2].split()
        return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")
    except OSError:
        return 0.0


class Server:
    """One server process of the comparison."""

    def __init__(self, name, command):
        self.name = name
        self.command = command
        self.port = 0
        self.process = None
        self.log = None

    def choose_port(self):
        """Returns a port for the next start. Subclasses write their configuration file here."""
        return free_port()

    def start(self, core, wrapper=(), policy=BATCH, patience=10.0):
        """Starts the server and waits until it accepts connections."""
        self.port = self.choose_port()
        command = [word.replace("{port}", str(self.port)) for word in self.command]
        self.log = tempfile.TemporaryFile()
        try:
            self.process = subprocess.Popen(
                [*wrapper, *command],
                stdin=subprocess.DEVNULL,
                stdout=self.log,
                stderr=self.log,
                preexec_fn=pinned(core, policy),
                start_new_session=True,
            )
        except OSError as error:
            raise Failure(f"{self.name}: {shlex.join(command)}: {error.strerror}") from error
        deadline = time.monotonic() + patience
        while True:
            if self.process.poll() is not None:
                raise Failure(
                    f"{self.name} ended with code {self.process.returncode}: {self.said()}"
                )
            try:
                socket.create_connection(("127.0.0.1", self.port), 1).close()
                return
            except OSError:
                pass
            if time.monotonic() > deadline:
                raise Failure(f"{self.name} does not listen on port {self.port}: {self.said()}")
            time.sleep(0.02)

    def said(self):
        """Returns the end of its output, on one line."""
        self.log.seek(0)
        return " | ".join(self.log.read().decode(errors="replace").split("\n")[-4:]).strip(" |")

    def is_alive(self):
        return self.process is not None and self.process.poll() is None

    def pids(self):
        return family(self.process.pid)

    def cpu_seconds(self):
        """Returns the CPU time used by all its threads."""
        total = 0.0
        for pid in self.pids():
            try:
                threads = os.listdir(f"/proc/{pid}/task")
            except OSError:
                continue
            total += sum(thread_seconds(pid, tid) for tid in threads)
        return total

    def memory_kib(self, field):
        """Returns a line of /proc/PID/status, summed over its processes."""
        total = 0
        for pid in self.pids():
            try:
                with open(f"/proc/{pid}/status", encoding="ascii", errors="replace") as file:
                    total += sum(int(line.split()[1]) for line in file if line.startswith(field + ":"))
            except OSError:
                continue
        return total

    def anonymous_kib(self):
        """Returns its own memory, without files and kernel memory."""
        return self.memory_kib("RssAnon")

    def resident_kib(self):
        return self.memory_kib("VmRSS")

    def stop(self):
        """Ends its processes, with SIGTERM first, then SIGKILL; returns the exit code."""
        if self.process is None:
            return None
        members = self.pids() if self.is_alive() else []
        if self.is_alive():
            self.process.terminate()
        try:
            code = self.process.wait(10)
        except subprocess.TimeoutExpired:
            self.process.kill()
            code = self.process.wait(10)
        for pid in members[1:]:
            try:
                if os.getsid(pid) == self.process.pid:  # the id may have been reused
                    os.kill(pid, signal.SIGKILL)
            except OSError:
                pass
        self.process = None
        self.log.close()
        return code


@contextlib.contextmanager
def running(server, core, policy=BATCH):
    """Runs a server meanwhile."""
    server.start(core, policy=policy)
    try:
        yield server
    finally:
        server.stop()
