# SPDX-License-Identifier: MIT
"""Tests what gateways are told, what is made of their results, and the servers that fail. Run in bench/: python3 -m unittest suite.gateways_test"""

import argparse
import os
import pathlib
import shutil
import socket
import subprocess
import tempfile
import unittest

from . import beside, checks, failing, gateways, loads, perform, report, results, scenarios, servers
from .process import Failure
from .report_test import run
from .servers import Wish

CORE = max(os.sched_getaffinity(0))


class Place:
    """Where nothing is measured."""

    def __init__(self, folder):
        self.folder, self.pair = pathlib.Path(folder), ("chain.pem", "key.pem")
        self.www = self.folder
        for name in self.pair:
            (self.folder / name).write_text("", encoding="ascii")
        self.pair = tuple(str(self.folder / name) for name in self.pair)

    def program(self, name):
        return name

    def subfolder(self, name):
        path = self.folder / name
        path.mkdir(exist_ok=True)
        return path


class Configurations(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.place = Place(folder.name)

    def test_skua_proxy_gets_all_servers_and_skua_serve_the_first_one_for_each_path(self):
        wish = Wish("tls", routes={"/": [3000, 3001]})
        words = servers.own("skua-io_uring", self.place, wish).command
        self.assertEqual(words[:4], ["skua", "proxy", "http://127.0.0.1:3000", "http://127.0.0.1:3001"])
        self.assertEqual(words[words.index("--backend") + 1], "io_uring")
        self.assertIn("--tls-cert", words)
        words = servers.own("skua-url-epoll", self.place, wish).command
        self.assertEqual(words[:2], ["skua", "serve"])
        self.assertEqual([word for word in words if "=" in word], [f"{prefix}=http://127.0.0.1:3000" for prefix in gateways.PREFIXES])
        self.assertEqual(words[words.index("--backend") + 1], "epoll")

    def test_each_path_that_is_asked_for_is_passed_on_by_skua_serve(self):
        paths = [one.load.path for one in scenarios.SCENARIOS if getattr(one, "upstreams", 0)]
        self.assertTrue(paths)
        self.assertEqual([path for path in [*paths, beside.HEALTHY] if not path.startswith(gateways.PREFIXES)], [])

    def test_several_routes_have_servers_of_their_own(self):
        routes = {"/plaintext": [3000], "/hang": [3001]}
        groups, locations = gateways.nginx(routes)
        self.assertEqual((groups.count("keepalive 1024"), locations.count("proxy_pass")), (2, 2))
        self.assertIn("location /hang { proxy_pass http://group1; }", locations)
        text = gateways.haproxy(routes, True)
        self.assertIn("use_backend group1 if { path_beg /hang }", text)
        self.assertNotIn("default_backend", text)
        self.assertIn("X-Forwarded-Proto https", text)
        self.assertEqual(text.count("http-reuse always"), 2)

    def accepts(self, program, *words):
        """Asks a program what it thinks of a configuration."""
        found = shutil.which(program) or shutil.which(program, path="/usr/sbin")
        if not found:
            self.skipTest(f"{program} is not installed")
        ran = subprocess.run([found, *words], capture_output=True, text=True, timeout=30, check=False)
        self.assertEqual(ran.returncode, 0, ran.stdout + ran.stderr)

    def test_nginx_and_haproxy_accept_their_configurations(self):
        for transport in ("plain", "h2c"):
            for routes in ({"/": [3000, 3001]}, {"/plaintext": [3000], "/hang": [3001]}):
                with self.subTest(transport=transport, routes=routes):
                    server = servers.nginx(self.place, Wish(transport, routes=routes))
                    server.choose_port()
                    self.accepts("nginx", "-t", "-q", "-e", "stderr", "-p", str(self.place.folder), "-c", str(server.path))
                    server = servers.haproxy(self.place, Wish(transport, routes=routes))
                    server.choose_port()
                    self.accepts("haproxy", "-c", "-q", "-f", str(server.path))

    def test_only_gateways_take_part(self):
        options = argparse.Namespace(names=list(servers.ALL), only=[])
        takes_part = {one.name: perform.competitors(one, options) for one in scenarios.SCENARIOS}
        self.assertEqual(takes_part["gateway-13"], ["skua-epoll", "skua-io_uring", "skua-url-epoll", "skua-url-io_uring", "nginx", "haproxy"])
        self.assertEqual(takes_part["failing"], ["skua-url-epoll", "skua-url-io_uring", "nginx", "haproxy"])
        self.assertEqual([name for name, found in takes_part.items() if "skua-url-epoll" in found and not name.startswith(("gateway-", "failing"))], [])


class Rivals(unittest.TestCase):
    def test_each_gateway_of_skua_is_set_against_the_better_of_its_rivals(self):
        runs = {"skua-epoll": [run(0, 2.0, 1.0), run(1, 2.0, 1.0)], "skua-io_uring": [run(0, 1.0, 1.0)], "nginx": [run(0, 4.0, 1.0), run(1, 4.0, 1.0)],
                "haproxy": [run(0, 2.5, 1.0), run(1, 2.5, 1.0)], "h2o": [run(0, 0.1, 1.0)]}
        found = report.rivals(runs, "normalised")
        self.assertEqual([(name, rival, ratio["median"]) for name, rival, ratio in found], [("skua-epoll", "haproxy", 0.8), ("skua-io_uring", "haproxy", 0.4)])

    def test_a_rival_with_errors_or_without_a_round_in_common_is_none(self):
        bad = run(0, 1.0, 1.0, errors={**loads.no_errors(), "read": 1})
        self.assertEqual(report.rivals({"skua-epoll": [run(0, 2.0, 1.0)], "nginx": [bad], "haproxy": [run(1, 2.0, 1.0)]}, "normalised"), [])

    def test_the_goal_is_about_the_gateway_alone_but_the_rank_about_all_sides(self):
        one, other = [run(0, 1.0, 9.0, upstream_cpu=2.0)], [run(0, 2.0, 3.0, upstream_cpu=1.0)]
        self.assertEqual(report.rivals({"skua-epoll": one, "nginx": other}, "both")[0][2]["median"], 0.5)
        self.assertEqual(report.ratios(one, other, "both"), [2.0])

    def test_the_servers_behind_tell_how_fast_the_machine_was(self):
        one, other = [run(0, 2.0, 9.0, upstream_cpu=1.0)], [run(0, 3.0, 1.0, upstream_cpu=3.0)]
        self.assertEqual(report.ratios(one, other, "behind"), [2.0])
        self.assertEqual(report.rivals({"skua-epoll": one, "nginx": other}, "behind")[0][2]["median"], 2.0)

    def test_the_table_of_the_goal_names_the_rival(self):
        half = {"median": 0.5, "min": 0.4, "max": 0.6}
        found = [{"name": "gateway-13", "rivals": [("skua-epoll", "nginx", half), ("skua-io_uring", "nginx", half)]}, {"name": "old"}]
        self.assertEqual(report.goal_table(found).splitlines()[2].split("|")[1:5], [" gateway-13 ", " 0.50 (0.40..0.60) ", " 0.50 (0.40..0.60) ", "   nginx "])


class Beside(unittest.TestCase):
    def runs(self):
        return [{"round": number, "p99_us": {beside.WELL: well, beside.ALL: failed}, "errors": loads.no_errors()} for number, (well, failed) in
                enumerate(((100, 110), (300, 330), (200, 500)))]

    def test_each_round_is_its_own_yardstick(self):
        row = beside.row("nginx", self.runs())
        self.assertEqual((row["p99_us"], row["beside"][beside.ALL]["median"], row["beside"][beside.ALL]["max"]), (200, 1.1, 2.5))

    def test_its_table_has_a_column_for_each_phase(self):
        table = report.scenario_table({"kind": "beside", "rows": [beside.row("nginx", self.runs())]})
        self.assertEqual([cell.strip() for cell in table.splitlines()[0].split("|")[1:-1]], ["", "p99 ms", "all", "errors"])
        self.assertIn("1.10 (1.10..2.50)", table)

    def test_all_phases_have_as_many_requests(self):
        for is_quick in (True, False):
            self.assertEqual({len(routes) for routes in beside.phases(is_quick).values()}, {len(failing.KINDS)})
        self.assertEqual(set(beside.phases(False)), {beside.WELL, *failing.KINDS, beside.ALL})

    def test_servers_that_do_not_fail_as_they_should_are_a_failure(self):
        def said(**codes):
            return '{"status_codes": {%s}}' % ", ".join(f'"{status}": {count}' for status, count in codes.items())

        beside.must_be(beside.WELL, '{"status_codes": {"200": 5}}')
        beside.must_be("hang", '{"status_codes": {}}')
        beside.must_be("reset", '{"status_codes": {"502": 5}}')
        for route, text in ((beside.WELL, '{"status_codes": {"502": 5}}'), ("hang", '{"status_codes": {"200": 1, "504": 5}}'), ("hang", "no address")):
            with self.assertRaises(Failure):
                beside.must_be(route, text)

    def test_each_server_fails_in_its_own_way(self):
        request = checks.GET.format(path="/").encode()
        with beside.failing_servers(CORE) as ports:
            self.assertEqual(set(ports), {beside.WELL, *failing.KINDS})
            with self.assertRaises(ConnectionRefusedError):
                socket.create_connection(("127.0.0.1", ports["refuse"]), 10)
            for kind in (beside.WELL, *(one.__name__ for one in failing.FAILING)):
                with self.subTest(kind), socket.create_connection(("127.0.0.1", ports[kind]), 10) as connection:
                    connection.sendall(request)
                    if kind == "reset":
                        self.assertRaises(ConnectionResetError, connection.recv, 1)
                    elif kind == "garbage":
                        self.assertEqual(checks.receive(connection, 1000), failing.GARBAGE)
                    elif kind == "hang":
                        connection.setblocking(False)
                        self.assertRaises(BlockingIOError, connection.recv, 1)
                    else:
                        self.assertTrue(checks.receive(connection, 12).endswith(b" 200"))
                    if kind == "trickle":
                        self.assertTrue(checks.receive(connection, 36).endswith(b"\r\n\r\n...."))


class Added(unittest.TestCase):
    def document(self, scenario, **machine):
        return {"commit": "c0ffee", "changes": "", "date": "2026-11-26", "options": {"rounds": 7, "seconds": 1.0}, "machine": {"cores": 2, **machine},
                "scenarios": {scenario: {"kind": "load"}, "json": {"kind": "load"}}}

    def test_scenarios_of_another_run_say_so(self):
        document = self.document("old")
        results.take_over(document, self.document("gateway-13"), ["gateway-13", "json"])
        self.assertEqual(list(document["scenarios"]), ["gateway-13", "json"])
        self.assertEqual(document["scenarios"]["json"]["run"], {"commit": "c0ffee", "changes": "", "date": "2026-11-26", "rounds": 7, "seconds": 1.0})
        self.assertEqual(report.added_later(document)[0], "Measured apart from the others: `gateway-13`, `json` in 7 rounds of 1 s; 2026-11-26, commit c0ffee.")

    def test_those_of_another_machine_are_refused(self):
        with self.assertRaisesRegex(Failure, "cores: 2 there, 64 here"):
            results.take_over(self.document("json"), self.document("json", cores=64), ["json"])


if __name__ == "__main__":
    unittest.main()
