#!/usr/bin/env python3
"""Runs tests, and fails if one leaves a process behind. Such processes are listed and killed.

Usage: leftovers.py BUILD_FOLDER COMMAND...
Exits with the code of the command, or with 1. A new process counts if it inherited a mark in its environment, or
if its program is in the build folder (servers may overwrite their environment).
"""
import argparse
import os
import pathlib
import signal
import subprocess
import sys
import time
import uuid

import arguments

MARK = "SKUA_TEST_RUN"
GRACE_SECONDS = 5  # for processes that are about to exit


def processes() -> dict[int, int]:
    """Returns the start time of each process by id: ids are reused, but not together with the start time."""
    found = {}
    for entry in pathlib.Path("/proc").iterdir():
        if entry.name.isdigit():
            try:
                found[int(entry.name)] = int((entry / "stat").read_text(errors="replace").rsplit(")", 1)[1].split()[19])
            except (OSError, IndexError, ValueError):
                pass  # it has just exited
    return found


def belongs(process: int, folder: str, mark: bytes) -> bool:
    entry = pathlib.Path("/proc") / str(process)
    try:
        if (entry / "stat").read_text(errors="replace").rsplit(")", 1)[1].split()[0] == "Z":
            return False  # a zombie
        if mark in (entry / "environ").read_bytes().split(b"\0"):
            return True
        return os.readlink(entry / "exe").startswith(folder + "/")
    except (OSError, IndexError):
        return False


def words_of(process: int) -> str:
    try:
        words = (pathlib.Path("/proc") / str(process) / "cmdline").read_bytes().rstrip(b"\0")
        return words.replace(b"\0", b" ").decode(errors="replace")[:200]
    except OSError:
        return "(has exited)"


def leftovers(before: dict[int, int], folder: str, mark: bytes) -> list[int]:
    return sorted(process for process, started in processes().items()
                  if before.get(process) != started and process != os.getpid() and belongs(process, folder, mark))


def main(arguments: list[str]) -> int:
    if not os.path.isdir("/proc/self"):
        return subprocess.run(arguments[1:], check=False).returncode
    folder, value = os.path.realpath(arguments[0]), uuid.uuid4().hex
    before = processes()
    code = subprocess.run(arguments[1:], env={**os.environ, MARK: value}, check=False).returncode
    mark = f"{MARK}={value}".encode()
    end = time.monotonic() + GRACE_SECONDS
    left, quiet = [], 0  # must be quiet twice: during exec a process briefly has no environment
    while quiet < 2 and time.monotonic() < end:
        left = leftovers(before, folder, mark)
        quiet = 0 if left else quiet + 1
        time.sleep(0.2)
    for process in left:
        print(f"a test left process {process} running: {words_of(process)}", file=sys.stderr)
    for process in left:
        try:
            os.kill(process, signal.SIGKILL)
        except ProcessLookupError:
            pass
    return code or (1 if left else 0)


if __name__ == "__main__":
    parser = arguments.parser(__doc__)
    parser.add_argument("folder", metavar="BUILD_FOLDER")
    parser.add_argument("command", nargs=argparse.REMAINDER, metavar="COMMAND")
    given = parser.parse_args()
    sys.exit(main([given.folder, *given.command]) if given.command else parser.error("a command is missing"))
