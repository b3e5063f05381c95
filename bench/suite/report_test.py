# SPDX-License-Identifier: MIT
"""Tests the arithmetic of bench/run. Run in bench/: python3 -m unittest suite.report_test"""

import unittest

from . import loads, report


def run(number, server_cpu, load_cpu, requests=100, **more):
    return {"round": number, "server_cpu": server_cpu, "load_cpu": load_cpu, "requests": requests, "seconds": 1.0, "bytes": 0, "p50_us": 10,
            "p99_us": 20, "max_us": 30, "errors": loads.no_errors(), "rss_kib": 1, **more}


def failed(number, **errors):
    return run(number, 1, 1, errors={**loads.no_errors(), **errors})


class Report(unittest.TestCase):
    def test_a_host_that_slows_both_sides_down_changes_no_ratio(self):
        fast, base = [run(0, 2.0, 1.0), run(1, 4.0, 2.0)], [run(0, 1.0, 1.0), run(1, 3.0, 3.0)]
        self.assertEqual(report.ratios(fast, base, "normalised"), [2.0, 2.0])

    def test_the_plain_ratio_compares_cpu_per_request(self):
        self.assertEqual(report.ratios([run(0, 2.0, 1.0, 200)], [run(0, 1.0, 1.0, 50)], "plain"), [0.5])

    def test_the_ratio_of_both_sides_adds_their_cpu(self):
        self.assertEqual(report.ratios([run(0, 2.0, 6.0)], [run(0, 1.0, 3.0)], "both"), [2.0])

    def test_a_client_is_measured_by_what_the_server_cost_meanwhile(self):
        self.assertEqual(report.ratios([run(0, 1.0, 4.0)], [run(0, 1.0, 2.0)], "normalised", "load"), [2.0])
        self.assertEqual(report.summarise("a", [run(0, 1.0, 4.0)], [], "normalised", "load")["cpu_us"], 40_000)

    def test_a_round_that_the_base_lacks_is_left_out(self):
        self.assertEqual(report.ratios([run(0, 2.0, 1.0), run(1, 9.0, 1.0)], [run(0, 1.0, 1.0)], "normalised"), [2.0])

    def test_without_a_base_there_is_no_ratio(self):
        self.assertIsNone(report.summarise("a", [run(0, 2.0, 1.0)], [], "normalised")["ratio"])

    def test_a_competitor_with_errors_is_not_ranked(self):
        bad = report.summarise("a", [failed(0, read=2), failed(1, read=3, status=1)], [run(0, 1, 1)], "normalised")
        good = report.summarise("b", [run(0, 9, 1)], [run(0, 1, 1)], "normalised")
        self.assertIsNone(bad["ratio"])
        self.assertEqual(report.show_errors(bad["errors"]), "5 read, 1 status")
        self.assertEqual([row["name"] for row in report.rank([bad, good])], ["b", "a"])

    def test_each_back_end_is_set_against_its_own_ceiling(self):
        runs = {"skua-epoll": [run(0, 3.0, 1.0)], "raw-epoll": [run(0, 2.0, 1.0)], "skua-io_uring": [run(0, 1.0, 1.0)], "nginx": [run(0, 5.0, 1.0)]}
        found = report.own_ceilings(runs, "normalised")
        self.assertEqual([(name, ceiling, ratio["median"]) for name, ceiling, ratio in found], [("skua-epoll", "raw-epoll", 1.5)])

    def test_who_is_ahead_is_ahead_of_the_default_by_three_per_cent_and_no_ceiling(self):
        rows = [{"name": name, "ratio": {"median": ratio}} for name, ratio in
                (("skua-epoll", 1.0), ("skua-io_uring", 0.8), ("raw-epoll", 0.7), ("nginx", 0.96), ("h2o", 0.98))]
        self.assertEqual(report.ahead({"kind": "load", "rows": rows}), ["nginx"])
        memory = [{"name": "skua-epoll", "bytes": 300}, {"name": "nginx", "bytes": 280}]
        self.assertEqual(report.ahead({"kind": "idle", "rows": memory}), ["nginx"])

    def test_rankings_disagree_only_if_one_run_is_sure(self):
        def ranking(**ratios):
            return {"scenarios": {"x": {"kind": "load", "rows": [{"name": name, "ratio": {"median": ratio, "min": ratio * 0.98, "max": ratio * 1.02}}
                                                              for name, ratio in ratios.items()]}}}

        def disagreements(one, other):
            return report.disagreements(report.sure_pairs(one, other))

        self.assertEqual(disagreements(ranking(a=1.0, b=1.05), ranking(a=1.05, b=1.0)), [])
        for one, other in ((1.2, 0.8), (0.8, 1.2), (1.05, 0.8)):
            self.assertEqual(disagreements(ranking(a=1.0, b=one), ranking(a=1.0, b=other)), [("x", "a", "b", one, other)])
        self.assertEqual(disagreements(ranking(a=1.0, b=1.2), ranking(a=1.0, b=1.01)), [], "the second run does not rank them: their spreads overlap")
        self.assertEqual([pair[1:3] for pair in disagreements(ranking(a=1.0, b=1.2, c=3.0), ranking(a=1.0, b=0.9, c=0.5))], [("a", "c"), ("b", "c"), ("a", "b")])
        self.assertEqual(disagreements(ranking(a=1.0, b=2.0), ranking(a=1.0, c=0.5)), [])
        self.assertEqual(len(list(report.sure_pairs(ranking(a=1.0, b=1.05, c=2.0), ranking(a=1.0, b=1.05, c=2.0)))), 2)

    def test_idle_memory_is_a_ranking_too(self):
        def memory(a, b):
            return {"scenarios": {"x": {"kind": "idle", "rows": [{"name": "a", "bytes": a}, {"name": "b", "bytes": b}]}}}

        self.assertEqual(report.disagreements(report.sure_pairs(memory(100, 200), memory(100, 50))), [("x", "a", "b", 2.0, 0.5)])

    def test_sizes_are_those_of_the_default_per_core_or_per_gibibyte(self):
        rows = [{"name": "nginx", "cpu_us": 1.0, "bytes": 1}, {"name": "skua-epoll", "cpu_us": 6.5432, "bytes": 2048}]
        document = {"scenarios": {"a": {"kind": "load", "title": "small", "rows": rows}, "b": {"kind": "idle", "title": "idle", "rows": rows}}}
        table = report.sizing_table(document, ["a", "b", "not measured"])
        self.assertEqual([[cell.strip() for cell in line.split("|")[1:-1]] for line in table.splitlines()[2:]],
                         [["`a`: small", "6.54 us", "150,000 a second and core", "the same"],
                          ["`b`: idle", "2.00 KiB", "520,000 connections a GiB", "160,000 connections a GiB"]])

    def test_tables_leave_columns_without_values_out(self):
        row = report.summarise("a", [run(0, 1, 1, p50_us=None, p99_us=None, max_us=None)], [], "plain")
        table = report.scenario_table({"kind": "load", "rows": [row]})
        self.assertNotIn("p50", table)
        self.assertIn("CPU us", table)


class Loads(unittest.TestCase):
    def test_h2load_reports_what_failed(self):
        text = ("finished in 1.00s, 353254.00 req/s, 15.83MB/s\n"
                "requests: 353254 total, 354278 started, 353254 done, 353250 succeeded, 4 failed, 1 errored, 2 timeout\n"
                "status codes: 353250 2xx, 0 3xx, 0 4xx, 3 5xx\ntraffic: 15.83MB (16595000) total, 3.06MB (3212000) headers\n"
                "                     min         max         mean         sd        +/- sd\n"
                "time for request:      158us      9.73ms      2.85ms       822us    87.41%\n")
        found = loads.H2load(32, 32).parse(text)
        self.assertEqual((found["requests"], found["bytes"], round(found["max_us"])), (353250, 16595000, 9730))
        self.assertEqual(found["errors"], {"connect": 0, "read": 1, "write": 0, "timeout": 2, "status": 3})

    def test_a_generator_that_says_nothing_is_a_failure(self):
        for load in (loads.Wrk(1), loads.H2load(1, 1), loads.Handshakes(False), loads.KeyValue("get", 1)):
            with self.assertRaises(loads.Failure):
                load.parse("unable to connect")


if __name__ == "__main__":
    unittest.main()
