# SPDX-License-Identifier: MIT
"""Tests how bench/run goes on. Run in bench/: python3 -m unittest suite.run_test"""

import pathlib
import tempfile
import unittest
from unittest import mock

from . import results
from .process import Failure

OPTIONS = {"rounds": 3, "seconds": 1.0, "names": ["skua-epoll", "nginx"], "quick": False}
MACHINE = {"processor": "x", "cores": 2, "memory_gib": 24, "versions": {"nginx": "1.22"}}


@mock.patch.object(results, "changes", lambda: "")
@mock.patch.object(results, "output_of", lambda *words: "c0ffee")
class Resume(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)

    def interrupted(self, **more):
        first = results.Results(self.folder, {**OPTIONS, **more}, MACHINE)
        first.add("json", {"kind": "load", "rows": [(1.23456789,)]})
        return first

    def test_scenarios_that_are_there_are_kept_as_they_are(self):
        self.interrupted()
        second = results.Results(self.folder, dict(OPTIONS), dict(MACHINE))
        self.assertEqual(second.resume(), 1)
        self.assertTrue(second.has("json"))
        second.add("close", {"kind": "load", "rows": []})
        self.assertEqual(results.load(second.path)["scenarios"], {"json": {"kind": "load", "rows": [[1.23457]]}, "close": {"kind": "load", "rows": []}})

    def test_without_an_earlier_run_all_is_measured(self):
        self.assertEqual(results.Results(self.folder, OPTIONS, MACHINE).resume(), 0)

    def test_a_document_that_was_cut_short_is_not_there(self):
        self.interrupted()
        (self.folder / "results.part").write_text('{"commit":', encoding="utf-8")
        self.assertEqual(results.Results(self.folder, OPTIONS, MACHINE).resume(), 1)

    def test_another_measurement_is_refused_and_its_results_stay(self):
        before = self.interrupted().path.read_text(encoding="utf-8")
        others = ((OPTIONS | {"rounds": 1}, MACHINE, "rounds: 3 there, 1 here"), (OPTIONS, MACHINE | {"processor": "y"}, "processor: x there, y here"),
                  (OPTIONS, MACHINE | {"versions": {"nginx": "1.24"}}, "nginx: 1.22 there, 1.24 here"))
        for options, machine, why in others:
            with self.assertRaisesRegex(Failure, f"cannot be resumed.* It differs in {why}$"):
                results.Results(self.folder, options, machine).resume()
        with mock.patch.object(results, "output_of", lambda *words: "decaf"), self.assertRaisesRegex(Failure, "commit: c0ffee there, decaf here$"):
            results.Results(self.folder, OPTIONS, MACHINE).resume()
        with mock.patch.object(results, "changes", lambda: "5eed"), self.assertRaisesRegex(Failure, "changes:  there, 5eed here$"):
            results.Results(self.folder, OPTIONS, MACHINE).resume()
        self.assertEqual(results.Results(self.folder, OPTIONS, MACHINE).path.read_text(encoding="utf-8"), before)


if __name__ == "__main__":
    unittest.main()
