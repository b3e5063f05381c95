# SPDX-License-Identifier: MIT
"""Performs a scenario: starts its servers, checks what they send, measures in rounds, and summarises."""

import contextlib
import subprocess

from . import beside, checks, idle, instructions, lockstep, loads, measure, report, scenarios, servers
from .place import BODY, find
from .process import AHEAD, Failure, Server, running as meanwhile
from .servers import Wish

UPSTREAM = "skua-epoll"  # behind gateways
QUICK_IDLE_CONNECTIONS = 1000
RATE_SECONDS = 5
BESIDE_SECONDS = 1.5
# Programs that callgrind can run, and how many requests it counts.
COUNTABLE = ("skua-epoll", "raw-epoll", "nginx", "h2o", "haproxy", "beast", "hyper", "axum", "ntex", "may_minihttp")
FEW, MANY = 640, 3840


class Performer:
    """Knows the options of a run; measure() returns what results.json holds of a scenario."""

    def __init__(self, place, options, note):
        self.place, self.options, self.note = place, options, note

    def measure(self, scenario):
        kinds = {scenarios.Scenario: self.load, scenarios.Generators: self.generators, scenarios.Rate: self.rate, scenarios.Idle: self.idle,
                 scenarios.Beside: self.beside}
        self.lacks = {}  # fields that other servers send, by the name of the server that doesn't
        found = kinds[type(scenario)](scenario)
        found["left_out"] |= {name: "it is far behind in scenarios like this one" for name in far(scenario, self.options)}
        return {"title": scenario.title, "group": scenario.group, **found, "lacks": self.lacks}

    # Servers

    def candidates(self, scenario, routes=None):
        """Returns (name, function that makes the server) for each server that offers what the scenario needs; gateways get routes."""
        wish = Wish(scenario.transport, getattr(scenario, "threads", 1), routes)
        mode = getattr(scenario, "mode", "")
        if "key-value" in scenario.needs:
            return [("skua-epoll", lambda: Server("skua-epoll", [self.place.program("example-key_value"), "{port}"])),
                    ("redis", lambda: Server("redis", [find("redis-server", "redis-server"), "--port", "{port}", "--save", "", "--appendonly", "no"]))]
        found = []
        for name in competitors(scenario, self.options):
            if mode and name.startswith("skua-"):
                found.append((name, lambda name=name: servers.mode(name, mode, self.place)))
            else:
                found.append((name, lambda name=name: servers.make(name, self.place, wish)))
        ceiling = getattr(scenario, "ceiling", "")
        if ceiling:
            found.append((ceiling, lambda: servers.mode(ceiling, ceiling, self.place)))
        return found

    def start(self, candidates, core, check, left_out):
        """Starts and checks servers; returns those with correct responses, and says why others are left out."""
        running = []
        for name, make in candidates:
            server = None
            try:
                server = make()
                server.start(core)
                if missing := check(server):
                    self.lacks[server.name] = missing
                running.append(server)
            except (Failure, OSError, ValueError, subprocess.TimeoutExpired) as failure:
                label = name.split("=", 1)[0]
                left_out[label] = str(failure).removeprefix(f"{label}: ")
                self.note(f"left out: {label}: {left_out[label]}")
                if server is not None:
                    server.stop()
        return running

    def check(self, scenario):
        """Returns a function that raises Failure unless a server answers the scenario's request rightly."""
        load = scenario.load
        expected = getattr(scenario, "expected", BODY)
        if isinstance(expected, str):
            expected = self.place.contents[expected]

        def checked(server):
            if isinstance(load, loads.H2load):
                return checks.missing_fields(checks.by_curl(server, load, expected, "2"))
            if isinstance(load, loads.Handshakes):
                return checks.missing_fields(checks.by_curl(server, loads.Wrk(1, scheme="https"), expected, "1.1"))
            if isinstance(load, loads.Wrk) and load.scheme == "https":
                return checks.missing_fields(checks.by_curl(server, load, expected, "1.1"))
            if isinstance(load, loads.Wrk):
                return checks.missing_fields(checks.plain(server, load, expected))
            if isinstance(load, loads.Messages) and "tcp" in scenario.needs:
                return checks.echo(server)
            return None  # the generator compares every byte, or every answer

        return checked

    # Kinds of scenarios

    def load(self, scenario):
        with contextlib.ExitStack() as stack:
            upstreams = [stack.enter_context(meanwhile(servers.make(UPSTREAM, self.place, Wish()), self.place.core)) for _ in range(scenario.upstreams)]
            return self.loaded(scenario, upstreams)

    def loaded(self, scenario, upstreams):
        left_out, running = {}, []
        routes = {"/": [one.port for one in upstreams]} if upstreams else None
        try:
            cores = set(range(scenario.threads)) if scenario.threads > 1 else self.place.core
            running = self.start(self.candidates(scenario, routes), cores, self.check(scenario), left_out)
            by_name = {server.name: server for server in running}
            calls = {server.name: measure.system_calls(server, scenario.load, self.place, cores) for server in running} if counts_calls(scenario, self.options) else {}
            seconds = self.options.seconds * scenario.duration
            runs, failures = measure.rounds(list(by_name), lambda name: measure.run(by_name[name], scenario.load, self.place, seconds, cores, upstreams),
                                            self.options.rounds, self.note, settled(scenario.measure, "server"))
        finally:
            for server in running:
                server.stop()
        rows = self.rows(runs, scenario.measure, "server")
        counts = self.instructions(scenario, list(by_name), routes) if scenario.counts_instructions and not self.options.quick else {}
        for row in rows:
            row["system_calls"], row["instructions"] = calls.get(row["name"]), counts.get(row["name"])
        return {"kind": "load", "measure": scenario.measure, "subject": "server", "unit": scenario.unit, "rows": rows,
                "ceilings": report.own_ceilings(runs, scenario.measure), "rivals": report.rivals(runs, scenario.measure) if upstreams else [],
                "runs": runs, "left_out": {**left_out, **said(failures, runs)}}

    def instructions(self, scenario, names, routes):
        """Returns user instructions per request by server, of those that can be counted."""
        counts = {}
        load = lockstep.keep_alive(checks.request_of(scenario.load, scenario.load.path), scenario.load.connections)
        for name in names:
            if name in COUNTABLE:
                try:
                    server = servers.make(name, self.place, Wish(routes=routes, single_process=True))
                    counts[name] = instructions.per_request(server, load, self.place.core, FEW, MANY)
                except Failure as failure:
                    self.note(f"not counted: {failure}")
        return counts

    def generators(self, scenario):
        server = servers.make("skua-epoll", self.place, Wish(scenario.transport))
        server.start(self.place.core)
        try:
            def one(name):
                return measure.run(server, scenario.loads[name], self.place, self.options.seconds, self.place.core)

            runs, failures = measure.rounds(competitors(scenario, self.options), one, self.options.rounds, self.note, settled(scenarios.NORMALISED, "load"))
        finally:
            server.stop()
        return {"kind": "load", "measure": scenarios.NORMALISED, "subject": "load", "unit": scenario.unit, "rows": self.rows(runs, scenarios.NORMALISED, "load"),
                "ceilings": [], "runs": runs, "left_out": said(failures, runs)}

    def rows(self, runs, how, subject):
        base = runs.get(report.BASE, [])
        return report.rank([report.summarise(name, own, base, how, subject) for name, own in runs.items() if own])

    def other_core(self):
        return min(set(range(2)) - {self.place.core})

    def rate(self, scenario):
        """The server has the last core, the generator the first: an interrupted generator would be a late client."""
        left_out, running, rows, runs = {}, [], [], {}
        load = loads.Skua(scenario.connections, scenario.rate)
        try:
            running = self.start(self.candidates(scenario), self.place.core, lambda server: checks.missing_fields(checks.plain(server, loads.Wrk(1), BODY)), left_out)
            by_name = {server.name: server for server in running}
            generator_core = self.other_core()
            runs, failures = measure.rounds(list(by_name), lambda name: measure.run(by_name[name], load, self.place, RATE_SECONDS, generator_core), 1, self.note)
        finally:
            for server in running:
                server.stop()
        for name, own in runs.items():
            if own:
                rows.append({"name": name, "latency_us": own[0]["latency_us"], "per_second": own[0]["requests"] / own[0]["seconds"], "errors": own[0]["errors"]})
        rows.sort(key=lambda row: row["latency_us"].get("p99") or 0)
        return {"kind": "rate", "rows": rows, "runs": runs, "left_out": {**left_out, **said(failures, runs)}}

    def beside(self, scenario):
        """The gateways have the last core, everything around them the first, where the healthy route's own go ahead of all others: who is late is to be the gateway."""
        left_out, running, core = {}, [], self.other_core()
        with contextlib.ExitStack() as stack:
            upstream = stack.enter_context(meanwhile(servers.make(UPSTREAM, self.place, Wish()), core, policy=AHEAD))
            ports = stack.enter_context(beside.failing_servers(core))
            routes = {beside.HEALTHY: [upstream.port], **{f"/{name}": [ports[name]] for name in beside.ROUTES}}
            try:
                healthy = loads.Wrk(1, beside.HEALTHY)
                running = self.start(self.candidates(scenario, routes), self.place.core,
                                     lambda server: checks.missing_fields(checks.plain(server, healthy, BODY)), left_out)
                by_name = {server.name: server for server in running}
                runs, failures = measure.rounds(list(by_name), lambda name: beside.run(by_name[name], self.place, beside_seconds(self.options), core, self.options.quick),
                                                self.options.rounds, self.note)
            finally:
                for server in running:
                    server.stop()
        rows = sorted((beside.row(name, own) for name, own in runs.items() if own), key=lambda row: row["beside"][beside.ALL]["median"])
        return {"kind": "beside", "rows": rows, "runs": runs, "left_out": {**left_out, **said(failures, runs)}}

    def idle(self, scenario):
        left_out, rows = {}, []
        count = idle_connections(scenario, self.options)
        for name, make in self.candidates(scenario):
            for server in self.start([(name, make)], self.place.core, lambda server: None, left_out):
                try:
                    found = idle.measure(server, count, scenario.protocol, scenario.path, scenario.transport == "tls")
                    rows.append({"name": server.name, **found})
                except Failure as failure:
                    left_out[server.name] = str(failure)
                finally:
                    server.stop()
        rows.sort(key=lambda row: row["bytes"])
        return {"kind": "idle", "rows": rows, "left_out": left_out}


def far(scenario, options):
    """Returns the servers that could take part, but are too far behind to."""
    if isinstance(scenario, scenarios.Generators) or scenario.is_quick or options.only:
        return []
    return [name for name in options.names if name in servers.FAR and scenario.needs <= servers.offers(name)]


def competitors(scenario, options):
    """Returns who takes part in a scenario if it is installed, without the ceiling of its own."""
    if isinstance(scenario, scenarios.Generators):
        return [name for name in scenario.loads if not options.only or name in options.only]
    if "key-value" in scenario.needs:
        return ["skua-epoll", "redis"]
    return [name for name in options.names if scenario.needs <= servers.offers(name) and name not in far(scenario, options)]


def counts_calls(scenario, options):
    return not options.quick and not isinstance(scenario.load, loads.Handshakes)  # which cannot be short


def idle_connections(scenario, options):
    return min(scenario.connections, QUICK_IDLE_CONNECTIONS) if options.quick else scenario.connections


def beside_seconds(options):
    return 1 if options.quick else BESIDE_SECONDS


def settled(how, subject):
    """Returns a function that reports whether a competitor needs no further round."""
    return lambda runs, name: report.is_settled(runs[name], runs.get(report.BASE, []), how, subject)


def said(failures, runs):
    """Returns why competitors without a single run are missing."""
    return {name: texts[-1] for name, texts in failures.items() if not runs.get(name)}
