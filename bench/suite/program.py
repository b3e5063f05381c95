# SPDX-License-Identifier: MIT
"""Processes whose instructions are counted: start, end, and portions of input that do not depend on their speed."""

import contextlib
import os
import re
import signal
import subprocess
import tempfile
import time

from .process import Failure

PATIENCE_SECONDS = 120

# The size of the environment moves the stack, and with it the alignment of what lies there.
ENVIRONMENT = {"PATH": "/usr/bin:/bin", "LC_ALL": "C"}


def wait_for(process, is_so, what):
    """Waits until `is_so()` is true; fails if the process ends before."""
    deadline = time.monotonic() + PATIENCE_SECONDS
    while not is_so():
        if process.poll() is not None:
            raise Failure(f"the process ended with code {process.returncode} while {what}")
        if time.monotonic() > deadline:
            raise Failure(f"{what} took longer than {PATIENCE_SECONDS} s")
        time.sleep(0.0002)


def are_all(process, states):
    """Reports whether each thread is in one of `states`, as /proc/PID/stat shows them."""
    tasks = f"/proc/{process.pid}/task"
    for task in os.listdir(tasks):
        try:
            with open(f"{tasks}/{task}/stat", "rb") as file:
                state = file.read().rpartition(b")")[2].split()[0]
        except (FileNotFoundError, ProcessLookupError):
            continue  # the thread has ended
        if state not in states:
            return False
    return True


def settle(process):
    """Waits until the process waits for input, so that it has handled all that has been sent to it."""
    wait_for(process, lambda: are_all(process, (b"S",)), "handling input")


@contextlib.contextmanager
def held(process):
    """Stops the process meanwhile, so that it finds all that is sent to it at once."""
    settle(process)
    process.send_signal(signal.SIGSTOP)
    try:
        wait_for(process, lambda: are_all(process, (b"T", b"t")), "stopping")
        yield
    finally:
        process.send_signal(signal.SIGCONT)


class Program:
    """A process, and the port that it listens on once it has said so."""

    def __init__(self, command):
        self.port = 0
        self.log = tempfile.TemporaryFile()
        try:
            self.process = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=self.log, stderr=self.log, env=ENVIRONMENT)
        except OSError as error:
            raise Failure(f"{command[0]}: {error.strerror}") from error

    def said(self):
        """Returns the beginning of its output."""
        return os.pread(self.log.fileno(), 4096, 0).decode(errors="replace")

    def wait_until_listening(self):
        def is_listening():
            found = re.search(r"^listening on \S+:(\d+)$", self.said(), re.MULTILINE)
            self.port = int(found[1]) if found else 0
            return self.port != 0

        wait_for(self.process, is_listening, "starting")

    def join(self):
        """Waits for the end, which must be a success."""
        try:
            code = self.process.wait(PATIENCE_SECONDS)
        except subprocess.TimeoutExpired as error:
            raise Failure(f"the process did not end within {PATIENCE_SECONDS} s") from error
        if code != 0:
            raise Failure(f"the process ended with code {code}")

    def stop(self):
        """Ends the process as its user would, and checks that it ends well."""
        self.process.terminate()
        self.join()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        if self.process.poll() is None:
            self.process.kill()
            self.process.wait()
        self.log.close()
