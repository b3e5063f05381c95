# SPDX-License-Identifier: MIT
"""Tests how bench/run goes on, ends early and tells the time. Run in bench/: python3 -m unittest suite.run_test"""

import argparse
import pathlib
import tempfile
import unittest
from unittest import mock

from . import estimate, loads, measure, perform, report, results, scenarios, servers
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


class Rounds(unittest.TestCase):
    def runs(self, costs, count=3):
        """Returns how often each competitor ran, if the n-th run of each costs its n-th of `costs`."""
        begun = dict.fromkeys(costs, 0)

        def one(name):
            begun[name] += 1
            return {"server_cpu": costs[name][begun[name] - 1], "load_cpu": 1.0, "requests": 1}

        runs, _ = measure.rounds(list(costs), one, count, lambda text: None,
                                 lambda runs, name: report.is_settled(runs[name], runs["skua-epoll"], scenarios.NORMALISED))
        self.assertEqual({name: len(found) for name, found in runs.items()}, begun)
        return begun

    def test_who_is_far_behind_in_two_rounds_that_agree_is_settled(self):
        self.assertEqual(self.runs({"skua-epoll": [1, 2, 3], "far": [1.6, 3.3, 9], "near": [1.4, 2.8, 4.2], "ahead": [0.5, 1, 1.5], "unsure": [1.6, 3.6, 9]}),
                         {"skua-epoll": 3, "far": 2, "near": 3, "ahead": 3, "unsure": 3})

    def test_without_the_base_nobody_is_settled(self):
        self.assertFalse(report.is_settled([{"round": 0}, {"round": 1}], [], scenarios.NORMALISED))


class Estimate(unittest.TestCase):
    def test_what_is_left_follows_the_scenarios_that_have_run(self):
        options = argparse.Namespace(names=list(servers.ALL), only=[], rounds=3, seconds=1.0, quick=False)
        left = estimate.Left(scenarios.SCENARIOS, options)
        expected = dict(left.expected)
        self.assertTrue(all(seconds > 0 for seconds in expected.values()))
        self.assertLess(left.seconds(), 40 * 60)
        names = list(expected)
        left.took(names[0], expected[names[0]] + 400)  # builds
        for name in names[1:3]:
            left.took(name, 2 * expected[name])
        self.assertAlmostEqual(left.seconds(), 2 * sum(expected[name] for name in names[3:]))


class Competitors(unittest.TestCase):
    def test_those_that_are_far_behind_are_left_out_of_variations_unless_they_are_asked_for(self):
        main, variation = (next(one for one in scenarios.SCENARIOS if one.name == name) for name in ("plaintext-64", "plaintext-10000"))
        everybody, asked = argparse.Namespace(names=list(servers.ALL), only=[]), argparse.Namespace(names=["node"], only=["node"])
        self.assertIn("node", perform.competitors(main, everybody))
        self.assertNotIn("node", perform.competitors(variation, everybody))
        self.assertEqual(perform.far(variation, everybody), ["apache", "node", "uvicorn", "cpp-httplib"])
        self.assertEqual((perform.competitors(variation, asked), perform.far(variation, asked)), (["node"], []))


class Durations(unittest.TestCase):
    def test_wrk_is_interrupted_after_a_part_of_a_second(self):
        with mock.patch.object(loads, "find", lambda program, package: program):
            self.assertEqual(loads.Wrk(1).command(None, 80, 2)[:4], ["wrk", "-t1", "-c1", "-d2s"])
            self.assertEqual(loads.Wrk(1).command(None, 80, 0.5)[:8], ["timeout", "--preserve-status", "-s", "INT", "0.5", "wrk", "-t1", "-c1"])
            self.assertEqual(loads.Wrk(1, scheme="https").command(None, 80, 0.5)[:4], ["wrk", "-t1", "-c1", "-d1s"])  # after the handshakes
            self.assertIn("-D1000ms", loads.H2load(1, 1).command(None, 80, 0.5))
            self.assertIn("-D1500ms", loads.H2load(1, 1).command(None, 80, 1.5))
            self.assertEqual(loads.Handshakes(False).command(None, 80, 0.5)[-2:], ["-time", "1"])


if __name__ == "__main__":
    unittest.main()
