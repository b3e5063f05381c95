#!/usr/bin/env python3
"""The systemd units: as systemd itself reads them, and against the system calls that `skua serve` makes.

Usage: systemd_test.py BUILD_FOLDER      what needs a program that is not installed (systemd-analyze, strace) is skipped
"""
import os
import pathlib
import re
import shlex
import shutil
import subprocess
import sys
import tempfile
import unittest
import urllib.request

sys.path.insert(0, str(pathlib.Path(__file__).parents[1] / "interop"))
from served import TIMEOUT, Served, backends  # noqa: E402

BUILD = pathlib.Path(sys.argv[1] if len(sys.argv) > 1 else "build/release").resolve()
PROGRAM = str(BUILD / "bin" / "skua")
UNITS = pathlib.Path(__file__).resolve().parents[2] / "packaging" / "systemd"
WORST_EXPOSURE = 20  # tenths, of 0 (best) to 100
EXECUTABLE_AND_WRITABLE = re.compile(r"(mmap|mprotect)\(.*PROT_WRITE\|PROT_EXEC")


def analyze(*words: str | pathlib.Path) -> subprocess.CompletedProcess:
    return subprocess.run(["systemd-analyze", "--no-pager", *words], capture_output=True, text=True, timeout=TIMEOUT, check=False)


def settings(name: str) -> list[str]:
    """Every value of a setting of the service."""
    return re.findall(rf"^{name}=(.*)$", (UNITS / "skua.service").read_text(), re.M)


def calls_of(words: list[str]) -> set[str]:
    """The system calls that a filter lists, with its @groups resolved."""
    calls = set()
    for word in words:
        if word.startswith("@"):
            listed = analyze("syscall-filter", word).stdout.split("\n")[1:]
            calls |= calls_of([line.strip() for line in listed if line.strip() and not line.strip().startswith("#")])
        else:
            calls.add(word)
    return calls


def allowed_calls() -> set[str]:
    permitted, denied = settings("SystemCallFilter")
    assert denied.startswith("~")
    return calls_of(permitted.split()) - calls_of(denied[1:].split())


@unittest.skipUnless(shutil.which("systemd-analyze"), "systemd-analyze is not installed")
class Units(unittest.TestCase):
    def test_are_valid(self):
        with tempfile.TemporaryDirectory() as temporary:
            root = pathlib.Path(temporary)
            for program in ("usr/bin/skua", "bin/sh"):
                (root / program).parent.mkdir(parents=True, exist_ok=True)
                (root / program).touch(mode=0o755)
            units = root / "etc/systemd/system"
            shutil.copytree(UNITS, units)
            shutil.copytree("/usr/lib/systemd/system", root / "usr/lib/systemd/system", symlinks=True)
            done = analyze(f"--root={root}", "--man=no", "verify", "skua.service", "skua.socket")
        self.assertEqual((done.returncode, done.stderr), (0, ""))

    def test_expose_little(self):
        done = analyze("security", "--offline=true", f"--threshold={WORST_EXPOSURE}", UNITS / "skua.service")
        self.assertEqual(done.returncode, 0, done.stdout[-400:])

    @unittest.skipUnless(shutil.which("strace"), "strace is not installed")
    def test_allow_what_the_server_does(self):
        allowed = allowed_calls()
        self.assertIn("io_uring_enter", allowed)
        self.assertNotIn("mount", allowed)
        with tempfile.TemporaryDirectory() as temporary:
            for backend in backends(PROGRAM):
                trace = pathlib.Path(temporary) / backend
                words = ["strace", "-D", "-f", "-qq", "-e", "signal=none", "-o", str(trace)]
                served = Served(PROGRAM, UNITS, "--backend", backend, "--access-log")
                served.command = (*words, *served.command)
                served.environment = {**os.environ, "NOTIFY_SOCKET": "@nobody", "WATCHDOG_USEC": "1000000"}
                with served as url:
                    for path in ("/", "/skua.service"):
                        self.assertEqual(urllib.request.urlopen(url + path, timeout=TIMEOUT).status, 200)
                lines = trace.read_text().splitlines()
                calls = {found[1] for line in lines if (found := re.match(r"\d+ +(\w+)\(", line))}
                # The unit's user has no privileges to give up, unlike this one.
                self.assertLessEqual(calls - allowed, {"capset"} if os.geteuid() == 0 else set(), backend)
                self.assertEqual([line for line in lines if EXECUTABLE_AND_WRITABLE.search(line)], [])


class Defaults(unittest.TestCase):
    def test_are_said_in_the_file(self):
        unit = shlex.split(settings("Environment")[0])
        file = re.findall(r"^#(SKUA_\w+=.*)$", (UNITS / "skua.default").read_text(), re.M)
        self.assertEqual(sorted(unit), sorted(file))

    def test_are_options_of_the_command(self):
        options = shlex.split(settings("Environment")[0])[1].removeprefix("SKUA_OPTIONS=").split()
        done = subprocess.run([PROGRAM, "serve", *options, "--print-config"], capture_output=True, text=True,
                              timeout=TIMEOUT, check=False)
        self.assertEqual(done.returncode, 0, done.stderr)


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1], warnings="ignore")  # served.py leaves a pipe open
