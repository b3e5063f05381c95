#!/usr/bin/env python3
"""skua::redis against Redis: one server, TLS, ACLs, Pub/Sub, Sentinels and a cluster, also while servers are killed.

Usage: redis_test.py SKUA_REDIS_CLIENT [TEST...]
"""
import contextlib
import pathlib
import signal
import sys
import tempfile
import time

from redis_servers import Driven, Redis, Sentinel, alive, cluster
from served import SKIP, certificate
from servers import found, until


def expect(got, wanted):
    assert got == wanted, f"got {got!r} instead of {wanted!r}"


def test_single(program: str, folder: pathlib.Path):
    with Redis(folder, "port @port@\n") as server, Driven(program, f"redis://127.0.0.1:{server.ports['port']}/2", "repl") as client:
        client.ready()
        expect(client.ask("SET name ada"), '"OK"')
        expect(client.ask("GET name"), '"ada"')
        expect(client.ask("GET nothing"), "null")
        expect(client.ask("HSET user name ada"), "1")
        expect(client.ask("HGETALL user"), '{"name": "ada"}')
        expect(client.ask("SADD set a"), "1")
        expect(client.ask("SMEMBERS set"), 'set ["a"]')
        expect(client.ask("ZADD scores 1.5 a"), "1")
        expect(client.ask("ZSCORE scores a"), "1.5")
        expect(client.ask("INCR name"), "problem ERR value is not an integer or out of range")
        expect(client.ask("tx INCR a ; INCR a ; LPUSH name x"), '1; 2; error "WRONGTYPE Operation against a key holding the wrong kind of value"')
        expect(client.ask("tx INCR a ; NOSUCH x").split(",")[0], "problem ERR unknown command 'NOSUCH'")
        expect(client.ask("pipe GET a ; GET name ; NOSUCH").split(",")[0], '"2"; "ada"; error "ERR unknown command \'NOSUCH\'')
        expect(client.ask("script counter 5"), "5")
        expect(client.ask("script counter 5"), "10")
        expect(server.cli("script", "flush"), "OK")
        expect(client.ask("script counter 5"), "15")
        expect(client.ask("DEBUG JMAP").split(" ")[0], "problem")
        expect(client.ask("BLPOP queue 0.05"), "null")
        expect(client.ask("XREAD BLOCK 50 STREAMS stream $"), "null")
        assert client.ask("LOLWUT").startswith('txt "'), "a verbatim string"
        expect(server.cli("get", "name", arguments=("-n", "2")), "ada")
        # The connection is lost, and comes back.
        server.cli("client", "kill", "type", "normal")
        expect(client.ask("GET name"), '"ada"')
        server.end()
        assert server.start(), server.said()
        expect(client.ask("GET name"), "null")


def test_unix(program: str, folder: pathlib.Path):
    with Redis(folder, "port @port@\nunixsocket @folder@/redis.sock\n") as server:
        with Driven(program, f"unix:{server.folder}/redis.sock", "repl") as client:
            client.ready()
            expect(client.ask("ECHO hello"), '"hello"')


def test_acl(program: str, folder: pathlib.Path):
    text = "port @port@\nuser default off\nuser ada on >s3:cret ~ada:* resetchannels &ada:* +@all -@dangerous\n"
    with Redis(folder, text) as server:
        place = f"127.0.0.1:{server.ports['port']}"
        with Driven(program, f"redis://ada:s3%3Acret@{place}", "repl") as client:
            client.ready()
            expect(client.ask("SET ada:a 1"), '"OK"')
            assert client.ask("SET b 1").startswith("problem NOPERM"), "another's key"
            assert client.ask("FLUSHALL").startswith("problem NOPERM"), "a dangerous command"
        with Driven(program, f"redis://ada:wrong@{place}", "repl") as client:
            client.ready()
            expect(client.ask("PING"), f"problem could not log in to {place}: WRONGPASS invalid username-password pair or user is disabled.")
        with Driven(program, f"redis://ada:s3%3Acret@{place}", "subscribe", "secret") as client:
            assert client.line().startswith("problem NOPERM"), "another's channel"


def test_tls(program: str, folder: pathlib.Path):
    chain, key = certificate(folder)
    text = (f"port 0\ntls-port @port@\ntls-cert-file {chain}\ntls-key-file {key}\ntls-ca-cert-file {chain}\n"
            "tls-auth-clients yes\n")
    with Redis(folder, text) as server:
        url = f"rediss://localhost:{server.ports['port']}"
        with Driven(program, "--ca", chain, "--cert", chain, "--key", key, url, "repl") as client:
            client.ready()
            expect(client.ask("ECHO hello"), '"hello"')
        with Driven(program, "--cert", chain, "--key", key, url, "repl") as client:
            client.ready()
            assert "certificate" in client.ask("PING"), "a certificate that nobody trusts"
        named = ("--ca", chain, "--cert", chain, "--key", key, "--server-name", "other.example")
        with Driven(program, *named, url, "repl") as client:
            client.ready()
            assert "certificate" in client.ask("PING"), "the certificate of another name"


def test_subscription(program: str, folder: pathlib.Path):
    with Redis(folder, "port @port@\n") as server:
        with Driven(program, f"redis://127.0.0.1:{server.ports['port']}", "subscribe", "news") as client:
            client.ready()
            expect(server.cli("publish", "news", "one"), "1")
            expect(client.line(), "message one")
            server.end(signal.SIGKILL)
            assert server.start(), server.said()
            expect(client.line(), "gap")
            expect(server.cli("publish", "news", "two"), "1")
            expect(client.line(), "message two")


def test_rates(program: str, folder: pathlib.Path):
    with Redis(folder, "port @port@\n") as server:
        url = f"redis://127.0.0.1:{server.ports['port']}"
        with Driven(program, url, "repl") as one, Driven(program, url, "repl") as two:
            one.ready(), two.ready()
            # Five in an hour, whichever server has them.
            said = [client.ask("rate ada 5 3600000") for client in (one, two, one, two, one, two)]
            expect([line.split()[:2] for line in said], [["allowed", str(left)] for left in (4, 3, 2, 1, 0)] + [["refused", "0"]])
            wait = int(said[-1].split()[2])
            assert 700_000 < wait <= 720_000, said
            expect(one.ask("rate bob 5 3600000").split()[:2], ["allowed", "4"])
            assert 3_500_000 < int(server.cli("pttl", "skua:rate:ada")) <= 3_600_000, "a key without an end"
            # What was used comes back.
            expect(one.ask("rate eve 1 50").split()[0], "allowed")
            until(lambda: two.ask("rate eve 1 50").startswith("allowed"), "the next one")
            assert int(server.cli("pttl", "skua:rate:eve")) <= 50, "a key that stays too long"
            # The clock of Redis was set back by an hour: nobody waits longer than a burst takes.
            server.cli("set", "skua:rate:joe", str(int((time.time() + 3600) * 1e6)), "px", "3600000")
            expect(one.ask("rate joe 5 500").split()[0], "refused")
            assert int(server.cli("pttl", "skua:rate:joe")) <= 500, "a key that stays too long"
            until(lambda: one.ask("rate joe 5 500").startswith("allowed"), "the end of a burst")


def test_texts(program: str, folder: pathlib.Path):
    with Redis(folder, "port @port@\n") as server:
        with Driven(program, f"redis://127.0.0.1:{server.ports['port']}", "repl") as client:
            client.ready()
            expect(client.ask("text get a"), "nothing")
            expect(client.ask("text add a one"), "nothing")
            expect(client.ask("text add a two"), "found one")
            expect(client.ask("text replace a two three"), "done")
            expect(client.ask("text get a"), "found one")
            expect(client.ask("text replace a one three"), "done")
            expect(client.ask("text get a"), "found three")
            assert 3_500_000 < int(server.cli("pttl", "skua:a")) <= 3_600_000, "a text without an end"
            expect(client.ask("text replace a three -"), "done")
            expect(client.ask("text get a"), "nothing")


class Load:
    """A client whose tasks write keys and wait for a replica to have them."""

    def __init__(self, client: Driven):
        self.client, self.written, self.failed = client, {}, []
        self.served = {}  # when each task was last served
        self.pause = 0.0  # the longest that one had to wait for that

    def take(self, line: str) -> bool:
        word, key, value = line.split(" ", 2)
        if word == "ok":
            self.written[key] = value
        else:
            self.failed.append(line)
        if word == "ok" or value.isdigit():  # no replica was there, but a master
            task = key.split(":")[1]
            self.pause = max(self.pause, self.client.time - self.served.get(task, self.client.time))
            self.served[task] = self.client.time
        return word == "ok"

    def run(self, count: int):
        """Waits for `count` writes."""
        while count > 0:
            count -= self.take(self.client.line())

    def until_after(self, moment: float, count: int):
        """Waits for `count` writes after a moment."""
        while self.client.time < moment:
            self.take(self.client.line())
        self.run(count)

    def report(self, name: str, failover: float):
        """The client serves again soon after the servers do."""
        print(f"{name}: {len(self.written)} writes, {len(self.failed)} failed; a failover of {failover:.1f} s, "
              f"the longest pause {self.pause:.1f} s")
        assert self.pause < failover + 5, f"a pause of {self.pause} s"

    def finish(self):
        for line in self.client.finish():
            self.take(line)

    def check(self, client: Driven):
        """No acknowledged write is lost."""
        for key, value in self.written.items():
            expect((key, client.ask(f"GET {key}")), (key, f'"{value}"'))


def test_sentinel(program: str, folder: pathlib.Path):
    with contextlib.ExitStack() as stack:
        first = stack.enter_context(Redis(folder / "first", "port @port@\n"))
        port = first.ports["port"]
        second = stack.enter_context(Redis(folder / "second", f"port @port@\nreplicaof 127.0.0.1 {port}\n"))
        text = (f"port @port@\nsentinel monitor shop 127.0.0.1 {port} 2\nsentinel down-after-milliseconds shop 1000\n"
                "sentinel failover-timeout shop 5000\n")
        sentinels = [stack.enter_context(Sentinel(folder / f"sentinel-{number}", text)) for number in range(3)]
        until(lambda: all("slaves=1,sentinels=3" in one.cli("info", "sentinel") for one in sentinels), "the Sentinels")
        until(lambda: "state=online" in first.cli("info", "replication"), "the replica")
        arguments = ["--sentinel", "shop"]
        for one in sentinels[1:]:
            arguments += ["--node", f"127.0.0.1:{one.ports['port']}"]
        arguments.append(f"redis://127.0.0.1:{sentinels[0].ports['port']}")
        with Driven(program, *arguments, "load", "4") as client:
            load = Load(client)
            load.run(200)
            expect(load.failed, [])
            # A failover in order: the old master becomes a replica.
            expect(sentinels[0].cli("sentinel", "failover", "shop"), "OK")
            until(lambda: "role:master" in second.cli("info", "replication"), "the failover", 60)
            until(lambda: "master_link_status:up" in first.cli("info", "replication"), "the new replica", 60)
            load.run(200)
            # A crash, without a replica to wait for: writes go on without being acknowledged.
            until(lambda: all(f"address=127.0.0.1:{second.ports['port']}" in one.cli("info", "sentinel") for one in sentinels), "the news", 60)
            load.pause, time_of_death = 0.0, time.monotonic()
            second.end(signal.SIGKILL)
            until(lambda: "role:master" in first.cli("info", "replication"), "the second failover", 60)
            failover = time.monotonic() - time_of_death
            assert second.start(), second.said()
            load.until_after(time.monotonic(), 200)
            load.finish()
            load.report("sentinel", failover)
        with Driven(program, *arguments, "repl") as client:
            load.check(client.ready())


def test_cluster(program: str, folder: pathlib.Path):
    with cluster(folder) as nodes:
        arguments = ["--cluster", "--node", f"127.0.0.1:{nodes[1].ports['port']}", f"redis://127.0.0.1:{nodes[0].ports['port']}"]
        with Driven(program, *arguments, "repl") as client:
            client.ready()
            expect(client.ask("pipe SET foo 1 ; SET bar 2 ; SET hello 3 ; GET foo ; GET bar ; GET hello"),
                   '"OK"; "OK"; "OK"; "1"; "2"; "3"')
            expect(client.ask("tx INCR {a}1 ; INCR {a}2"), "1; 1")
            expect(client.ask("tx INCR foo ; INCR bar"), "problem the keys of a transaction have to be in one slot")
            assert client.ask("MGET foo bar").startswith("problem CROSSSLOT"), "two slots"
            expect(client.ask("script counter 5"), "5")
        with Driven(program, *arguments, "load", "8") as client:
            load = Load(client)
            load.run(400)
            # Slots move while commands run: nobody notices.
            ids = {node: node.cli("cluster", "myid") for node in nodes[:3]}
            for source, target in ((nodes[0], nodes[1]), (nodes[1], nodes[2])):
                until(lambda: "All nodes agree" in nodes[0].cli("--cluster", "check", f"127.0.0.1:{nodes[0].ports['port']}"), "one view")
                done = source.cli("--cluster", "reshard", f"127.0.0.1:{source.ports['port']}", "--cluster-from", ids[source],
                                  "--cluster-to", ids[target], "--cluster-slots", "500", "--cluster-yes")
                assert "ERR" not in done, done
            load.run(400)
            expect(load.failed, [])
            # A master dies; its replica takes over.
            load.pause, time_of_death = 0.0, time.monotonic()
            nodes[2].end(signal.SIGKILL)
            until(lambda: all("cluster_state:ok" in node.cli("cluster", "info") for node in alive(nodes))
                  and sum("role:master" in node.cli("info", "replication") for node in alive(nodes)) == 3, "the failover", 60)
            failover = time.monotonic() - time_of_death
            assert nodes[2].start(), nodes[2].said()
            until(lambda: "master_link_status:up" in nodes[2].cli("info", "replication"), "the return", 60)
            load.until_after(time.monotonic(), 400)
            load.finish()
            load.report("cluster", failover)
        with Driven(program, *arguments, "repl") as client:
            load.check(client.ready())


def main(program: str, *names: str) -> int:
    if not found("redis-server") or not found("redis-cli"):
        print("skipped: redis-server or redis-cli is not installed")
        return SKIP
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(1))  # ends the servers, too
    tests = {name.removeprefix("test_"): test for name, test in globals().items() if name.startswith("test_")}
    for name in names or tests:
        with tempfile.TemporaryDirectory() as folder:
            tests[name](program, pathlib.Path(folder))
        print(f"{name}: ok", flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
