# SPDX-License-Identifier: MIT
"""Runs bench/run briefly with programs that were built, so that it never rots. Usage: smoke_test.py FOLDER-OF-PROGRAMS"""

import json
import os
import pathlib
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import unittest

from . import results

BENCH = pathlib.Path(__file__).resolve().parent.parent
SCENARIOS = ("plaintext-1", "json", "routes", "post-1k", "close", "file-1k", "websocket-16b", "publish", "tcp-13-64", "gateway-13", "client-1", "generator-64",
             "idle-http", "idle-websocket", "idle-tcp")
POST_SIZES = (1, 1000, 20_000, 200_000)  # within one segment, just more than one, several, more than a socket takes at once
POSTS = 100


class Run(unittest.TestCase):
    binaries = pathlib.Path()

    def command(self, folder, *more):
        return [sys.executable, "-B", BENCH / "run", "--quick", "--binaries", self.binaries, "--output", folder,
                *[word for name in ("skua-epoll", "raw-epoll", "curl", "wrk") for word in ("--only", name)], *more]

    @unittest.skipUnless(shutil.which("wrk"), "wrk is not installed (Debian: wrk)")
    def test_every_kind_of_scenario_gives_rows_without_errors_and_plots(self):
        with tempfile.TemporaryDirectory() as folder:
            ran = subprocess.run(self.command(folder, *SCENARIOS), capture_output=True, text=True, timeout=100, check=False)
            self.assertEqual(ran.returncode, 0, ran.stderr)
            document = results.load(pathlib.Path(folder, results.NAME))
            self.assertEqual(set(document["scenarios"]), set(SCENARIOS))
            for name, scenario in document["scenarios"].items():
                rows = {row["name"]: row for row in scenario["rows"]}
                self.assertIn("skua-epoll", rows, f"{name}: {ran.stderr}")
                for row in rows.values():
                    self.assertFalse(any(row.get("errors", {}).values()), f"{name}: {row}")
            for plot in ("overview", "plaintext", "idle"):
                self.assertIn("</svg>", (pathlib.Path(folder) / f"{plot}.svg").read_text(encoding="utf-8"))
            self.assertIn("## Plaintext", (pathlib.Path(folder) / "tables.md").read_text(encoding="utf-8"))

    def test_a_healthy_route_is_measured_beside_failing_ones(self):
        with tempfile.TemporaryDirectory() as folder:
            command = [sys.executable, "-B", BENCH / "run", "--quick", "--binaries", self.binaries, "--output", folder, "--only", "skua-url-epoll", "failing"]
            ran = subprocess.run(command, capture_output=True, text=True, timeout=100, check=False)
            self.assertEqual(ran.returncode, 0, ran.stderr)
            found = results.load(pathlib.Path(folder, results.NAME))["scenarios"]["failing"]
            if "the rate was not reached" not in found["left_out"].get("skua-url-epoll", ""):  # the machine is too busy
                self.assertEqual([row["name"] for row in found["rows"]], ["skua-url-epoll"], ran.stderr)

    def test_an_ended_run_is_resumed_after_its_last_finished_scenario(self):
        chosen = ("tcp-13-64", "client-1", "idle-tcp")
        for number in (signal.SIGINT, signal.SIGKILL):
            with self.subTest(number), tempfile.TemporaryDirectory() as folder:
                path = pathlib.Path(folder, results.NAME)
                with subprocess.Popen(self.command(folder, *chosen), stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True,
                                      env={**os.environ, "TMPDIR": folder}) as run:
                    said = next((line for line in run.stderr if line.startswith("1 of 3: ")), "")
                    run.send_signal(number)
                self.assertIn("tcp-13-64", said)
                before = results.load(path)["scenarios"]
                resumed = subprocess.run(self.command(folder, "--resume", *chosen), capture_output=True, text=True, timeout=100, check=False)
                self.assertEqual(resumed.returncode, 0, resumed.stderr)
                after = results.load(path)["scenarios"]
                self.assertEqual(set(after), set(chosen))
                self.assertEqual({name: after[name] for name in before}, before)
                again = [name for name in chosen if f": {name} took" in resumed.stderr]
                self.assertEqual(again, [name for name in chosen if name not in before])

    def test_no_post_waits_for_a_delayed_acknowledgement(self):
        server = subprocess.Popen([self.binaries / "skua-bench-server", "sink", "--port", "0"], stdout=subprocess.PIPE, text=True)
        try:
            url = re.match(r"listening on (\S+)", server.stdout.readline())[1]
            for size in POST_SIZES:
                words = [self.binaries / "skua-bench-client", "--url", url, "--requests", str(POSTS), "--post", str(size)]
                said = json.loads(subprocess.run(words, capture_output=True, text=True, timeout=60, check=True).stdout)
                # A delayed acknowledgement takes 35 to 50 ms, every time; a busy machine is that slow now and then.
                self.assertLessEqual(said["delayed"], POSTS // 2, f"{size} bytes: {said}")
        finally:
            server.terminate()
            server.wait(10)
            server.stdout.close()


if __name__ == "__main__":
    Run.binaries = pathlib.Path(sys.argv.pop(1)).resolve()
    unittest.main()
