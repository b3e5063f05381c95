# SPDX-License-Identifier: MIT
"""Tests bench/regress. Run in bench/: python3 -m unittest suite.regress_test

With SKUA_BUILD, a Release build folder, also counts one scenario, and plants a cost: a baseline 5 % below the count.
"""

import json
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile
import unittest
from unittest import mock

from . import baseline, counted, instructions, lockstep
from .process import Failure

QUICK = "TcpServer echo 100 B"


class Arithmetic(unittest.TestCase):
    def test_three_percent_are_tolerated_and_more_are_not(self):
        self.assertEqual(baseline.complaints({"a": 1000}, {"a": 1029.9}), [])
        self.assertEqual(baseline.complaints({"a": 2200}, {"a": 2310.0}),
                         ["a: 2 310 instructions, 5.0 % over the baseline of 2 200; accept with bench/regress --update if it is worth it"])

    def test_an_improvement_is_no_complaint_but_told(self):
        self.assertEqual(baseline.complaints({"a": 1000}, {"a": 500.0}), [])
        self.assertEqual(baseline.improvements({"a": 1000}, {"a": 971.0}), [])
        self.assertEqual(baseline.improvements({"a": 1000}, {"a": 950.0}),
                         ["a: 950 instructions, 5.0 % under the baseline; keep that with bench/regress --update"])

    def test_a_scenario_without_a_baseline_is_a_complaint(self):
        self.assertEqual(baseline.complaints({}, {"a": 1.0}), ["a: not in the baseline; add it with bench/regress --update"])
        self.assertEqual(baseline.rows({}, {"a": 1.0}), [["a", "-", "1", "-"]])

    def test_the_table_shows_both_counts_and_the_change(self):
        self.assertEqual(baseline.rows({"a": 1000000}, {"a": 990000.4}), [["a", "1 000 000", "990 000", "-1.0 %"]])

    def test_other_tools_are_named(self):
        self.assertEqual(baseline.differences({"valgrind": "3.19"}, {"valgrind": "3.19"}), [])
        self.assertEqual(baseline.differences({"valgrind": "3.19"}, {"valgrind": "3.24"}), ["valgrind: 3.24 here, 3.19 in the baseline"])

    def test_a_compiler_is_its_name_and_version(self):
        self.assertEqual(baseline.compiler("c++ (Debian 12.2.0-14+deb12u1) 12.2.0"), "GCC 12.2.0")
        self.assertEqual(baseline.compiler("Debian clang version 19.1.7 (3+b1)"), "Clang 19.1.7")


class EndedBy:
    """A server under callgrind that executes 100 instructions a request, and ends with `code`."""

    name = "x"

    def __init__(self, code):
        self.code = code

    def start(self, core, wrapper, **_):
        self.path = next(pathlib.Path(word.partition("=")[2]) for word in wrapper if word.startswith("--callgrind-out-file="))

    def load(self, _, count):
        self.path.write_text(f"totals: {5000 + 100 * count}\n", encoding="ascii")

    def stop(self):
        return self.code


@mock.patch.object(instructions, "find", lambda program, package: program)
class PerRequest(unittest.TestCase):
    def test_a_server_that_the_signal_ends_counts_as_one_that_handles_it(self):
        for code in (0, -15):
            self.assertEqual(instructions.per_request(server := EndedBy(code), server.load, 0, 10, 20), 100)

    def test_a_server_that_fails_is_not_counted(self):
        for code in (1, -6):
            with self.assertRaisesRegex(Failure, f"^x under callgrind ended with code {code}$"):
                instructions.per_request(server := EndedBy(code), server.load, 0, 10, 20)


class Scenarios(unittest.TestCase):
    def test_names_are_unique_and_in_the_committed_baseline(self):
        names = [scenario.name for scenario in counted.SCENARIOS]
        committed = baseline.read(pathlib.Path(__file__).parent.parent / "regress.json")
        self.assertEqual(names, list(committed["instructions"]))
        self.assertEqual(len(set(names)), len(names))

    def test_a_websocket_frame_is_masked_and_has_the_length_of_its_payload(self):
        self.assertEqual(lockstep.masked(b"abcde"), b"\x82\x85\x11\x22\x33\x44" + bytes([0x61 ^ 0x11, 0x62 ^ 0x22, 0x63 ^ 0x33, 0x64 ^ 0x44, 0x65 ^ 0x11]))
        for size in (125, 126, 65535):
            self.assertEqual(len(lockstep.masked(b"w" * size)), lockstep.frame_size(size) + 4)


BUILD = os.environ.get("SKUA_BUILD")


@unittest.skipUnless(BUILD and shutil.which("valgrind") and shutil.which("openssl"), "needs SKUA_BUILD, valgrind and openssl")
class Planted(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.path = pathlib.Path(folder.name) / "regress.json"
        self.path.write_text('{"environment": {}, "libraries": {}, "instructions": {}}', encoding="ascii")
        self.assertEqual(self.regress("--update")[0], 0)

    def regress(self, *more):
        script = pathlib.Path(__file__).parent.parent / "regress"
        ran = subprocess.run([sys.executable, "-B", str(script), "--build", BUILD, "--baseline", str(self.path), "--only", QUICK, *more],
                             capture_output=True, text=True, timeout=300, check=False)
        return ran.returncode, ran.stdout + ran.stderr

    def plant(self, factor, **environment):
        """Multiplies the baseline by `factor`."""
        content = json.loads(self.path.read_text(encoding="utf-8"))
        content["instructions"][QUICK] = round(content["instructions"][QUICK] * factor)
        content["environment"] |= environment
        self.path.write_text(json.dumps(content), encoding="utf-8")

    def test_five_percent_more_fail_unless_they_were_counted_with_other_tools(self):
        code, said = self.regress()
        self.assertEqual(code, 0, said)
        self.plant(1 / 1.05)
        code, said = self.regress()
        self.assertEqual(code, 1, said)
        self.assertIn(f"{QUICK}: ", said)
        self.assertRegex(said, r" (4\.[89]|5\.[0-2]) % over the baseline")  # a count may differ by an instruction
        self.plant(1, valgrind="valgrind-3.0")
        code, said = self.regress()
        self.assertEqual(code, 0, said)
        self.assertIn("not compared", said)


if __name__ == "__main__":
    unittest.main()
