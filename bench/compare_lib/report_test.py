# SPDX-License-Identifier: MIT
"""Tests the arithmetic of bench/compare. Run in bench/: python3 -m unittest compare_lib.report_test"""

import unittest

from . import clients, report


def run(number, server_cpu, wrk_cpu, requests=100):
    return {
        "round": number,
        "server_cpu": server_cpu,
        "wrk_cpu": wrk_cpu,
        "requests": requests,
        "seconds": 1.0,
        "p50_us": 10,
        "p99_us": 20,
        "errors": 0,
    }


class Report(unittest.TestCase):
    def test_a_host_that_slows_both_sides_down_changes_no_ratio(self):
        fast = [run(0, 2.0, 1.0), run(1, 4.0, 2.0)]
        base = [run(0, 1.0, 1.0), run(1, 3.0, 3.0)]
        self.assertEqual(report.ratios(fast, base, report.normalised), [2.0, 2.0])

    def test_the_plain_ratio_compares_cpu_per_request(self):
        self.assertEqual(
            report.ratios([run(0, 2.0, 1.0, 200)], [run(0, 1.0, 1.0, 50)], report.plain), [0.5]
        )

    def test_a_round_that_the_base_lacks_is_left_out(self):
        self.assertEqual(
            report.ratios(
                [run(0, 2.0, 1.0), run(1, 9.0, 1.0)], [run(0, 1.0, 1.0)], report.normalised
            ),
            [2.0],
        )

    def test_without_a_base_there_is_no_ratio(self):
        row = report.summarise("a", [run(0, 2.0, 1.0)], [])
        self.assertIsNone(row["ratio"])
        self.assertIn("| -", report.comparison([row]))

    def test_errors_are_summed_over_the_rounds(self):
        row = report.summarise(
            "a", [{**run(0, 1, 1), "errors": 2}, {**run(1, 1, 1), "errors": 3}], []
        )
        self.assertEqual(row["errors"], 5)

    def test_each_skua_server_is_set_against_the_ceiling_of_its_back_end(self):
        runs = {
            "skua-epoll": [run(0, 3.0, 1.0)],
            "raw-epoll": [run(0, 2.0, 1.0)],
            "nginx": [run(0, 5.0, 1.0)],
        }
        found = report.own_ceilings(runs, report.normalised)
        self.assertEqual(
            [(name, ceiling, ratio["median"]) for name, ceiling, ratio in found],
            [("skua-epoll", "raw-epoll", 1.5)],
        )

    def test_a_client_is_measured_by_what_the_server_cost_meanwhile(self):
        def one(number, client_cpu, server_cpu):
            return {"round": number, "client_cpu": client_cpu, "server_cpu": server_cpu, "requests": 100, "seconds": 1.0}

        row = clients.row("a", [one(0, 1.0, 1.0), one(1, 3.0, 3.0)], [one(0, 2.0, 1.0), one(1, 2.0, 1.0)])
        self.assertEqual(row[:3], ["a", "0.50 (0.50..0.50)", "1.00 (0.50..1.50)"])


if __name__ == "__main__":
    unittest.main()
