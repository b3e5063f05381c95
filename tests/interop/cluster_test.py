#!/usr/bin/env python3
"""A chat of three nodes behind HAProxy (examples/cluster), under load: rolling deploys, a node that is killed, and a Redis
Cluster that loses a master. Every message has a number; none is lost or doubled.

Usage: cluster_test.py EXAMPLE_REDIS_CHAT [--deploys 10] [--clients 200] [TEST...]
"""
import argparse
import asyncio
import collections
import contextlib
import json
import os
import pathlib
import random
import re
import signal
import struct
import subprocess
import sys
import tempfile
import time

from loads import Address, Bench, running
from redis_servers import Redis, alive, cluster
from served import SKIP
from servers import found, until

ROOT = pathlib.Path(__file__).resolve().parents[2]
FOLDER = ROOT / "examples" / "cluster"
STREAM = "skua:{topics}:t:lobby"
SECONDS = 60
NODES = ("one", "two", "three")
NODE_TIMEOUT = 3000  # ms, of the Redis Cluster
RATE = 12            # of posts a minute
OPCODE_TEXT, OPCODE_CLOSE, OPCODE_PING, OPCODE_PONG = 1, 8, 9, 10


class Cluster:
    """What examples/cluster/run has started."""

    def __init__(self, program: str, folder: pathlib.Path, *options: str, **environment: str):
        self.folder = folder
        self.command = [sys.executable, str(FOLDER / "run"), "--port", "0", "--folder", str(folder), *options, program]
        self.environment = {**os.environ, **environment}

    def __enter__(self):
        self.log = (self.folder / "run.log").open("w+")
        self.process = subprocess.Popen(self.command, stdout=self.log, stderr=self.log, env=self.environment)
        try:
            self.port = int(until(lambda: re.search(r"listening on \S+:(\d+)", self.said()) or self.has_ended(), "the start")[1])
        except BaseException:
            self.__exit__()
            raise
        return self

    def said(self) -> str:
        return (self.folder / "run.log").read_text()

    def has_ended(self):
        assert self.process.poll() is None, self.said()

    def process_of(self, node: str) -> int:
        return int((self.folder / f"{node}.pid").read_text() or 0)

    def __exit__(self, *_):
        self.process.terminate()
        self.process.wait(SECONDS)
        self.log.close()


class Failure(Exception):
    """A request that was not answered as it should be."""


class Connection:
    """HTTP/1.1 through HAProxy. `node` is the one that answered last."""

    async def open(self, port: int, address: str | None = None):
        self.node, self.is_kept = "", True
        self.input, self.output = await asyncio.open_connection("127.0.0.1", port, local_addr=(address, 0) if address else None)
        return self

    async def head(self, method: str, target: str, wanted: int, body: str = "", **fields: str) -> dict[str, str]:
        lines = [f"{method} {target} HTTP/1.1", "Host: localhost", f"Content-Length: {len(body)}" if body else ""]
        lines += [f"{name.replace('_', '-')}: {value}" for name, value in fields.items()]
        self.output.write(("\r\n".join(filter(None, lines)) + "\r\n\r\n" + body).encode())
        status, *rest = (await self.input.readuntil(b"\r\n\r\n")).decode().rstrip().split("\r\n")
        answer = {name.lower(): value for name, value in (line.split(": ", 1) for line in rest)}
        self.node, self.is_kept = answer.get("server", ""), answer.get("connection", "").lower() != "close"
        self.status = int(status.split()[1])
        if self.status != wanted:
            raise Failure(f"{method} {target}: {status}")
        return answer

    async def ask(self, method: str, target: str, body: str = "", **fields: str) -> bytes:
        answer = await self.head(method, target, 200, body, **fields)
        return await self.input.readexactly(int(answer["content-length"]))

    def close(self):
        self.output.close()


class Client:
    """A task that goes on until it is stopped. What fails is noted."""

    def __init__(self, load: "Load", name: str):
        self.load, self.name, self.is_over = load, name, False
        self.failures: list[str] = []
        self.task = asyncio.create_task(self.run())

    async def run(self):
        while not self.is_over:
            connection = Connection()
            try:
                await asyncio.wait_for(connection.open(self.load.port, self.address()), SECONDS)
                await self.work(connection)
            except (OSError, EOFError, Failure, asyncio.TimeoutError) as error:
                self.failures.append(f"{self.name}: {type(error).__name__} {error}")
                await asyncio.sleep(0.1)
            finally:
                with contextlib.suppress(AttributeError):
                    connection.close()

    def address(self) -> str | None:
        return None

    async def work(self, connection: Connection):
        raise NotImplementedError


class Asking(Client):
    """Gets the page and posts messages, on one connection or on one for each. What failed is posted again, as the same."""

    def __init__(self, load: "Load", name: str, keeps: bool):
        self.keeps, self.count, self.done, self.said = keeps, 0, 0, ""
        super().__init__(load, name)

    def address(self) -> str | None:
        return self.load.address()

    async def work(self, connection: Connection):
        while connection.is_kept and not self.is_over:
            await asyncio.sleep(random.uniform(0.5, 1.5) * self.load.pause)
            fields = {} if self.keeps else {"Connection": "close"}
            await asyncio.wait_for(self.one(connection, fields), SECONDS)
            self.done += 1

    async def one(self, connection: Connection, fields: dict[str, str]):
        if not self.said and random.random() > self.load.posts:
            return await connection.ask("GET", "/status", **fields)
        if not self.said:
            self.said, self.count = f"{self.name}.{self.count}", self.count + 1
        body = json.dumps({"name": self.name, "text": self.said})
        answer = await connection.ask("POST", "/rooms/lobby", body, Idempotency_Key=self.said, **fields)
        self.load.acknowledge(self.said, json.loads(answer)["id"])
        self.said = ""


class Subscriber(Client):
    """Comes back after the last id that it has seen, to any node."""

    def __init__(self, load: "Load", name: str):
        self.last, self.ids, self.texts, self.gaps = "", [], [], 0
        self.nodes: list[str] = []  # of each connection
        self.cuts = 0  # connections that were lost without a word
        super().__init__(load, name)

    async def work(self, connection: Connection):
        await self.begin(connection)
        self.nodes.append(connection.node)
        has_ended = False
        with contextlib.suppress(OSError, EOFError):
            has_ended = await self.read(connection)
        self.cuts += not has_ended
        await asyncio.sleep(random.uniform(0, 0.1))

    def take(self, id_: str, text: str | None, is_gap: bool):
        self.last = id_
        self.gaps += is_gap
        if text is not None:
            self.ids.append(id_)
            self.texts.append(text)

    async def begin(self, connection: Connection):
        raise NotImplementedError

    async def read(self, connection: Connection) -> bool:
        """Returns true if the node has ended it."""
        raise NotImplementedError


class Events(Subscriber):
    async def begin(self, connection: Connection):
        await asyncio.wait_for(connection.head("GET", "/rooms/lobby/events", 200, **({"Last_Event_ID": self.last} if self.last else {})), SECONDS)

    async def read(self, connection: Connection) -> bool:
        text = ""
        while True:
            size = int(await connection.input.readuntil(b"\r\n"), 16)
            text += (await connection.input.readexactly(size + 2))[:size].decode()
            if size == 0:
                return True
            *events, text = text.split("\n\n")
            for event in events:
                fields = dict(line.split(": ", 1) for line in event.split("\n") if not line.startswith(":"))
                if "id" in fields:
                    is_gap = fields.get("event") == "gap"
                    said = json.loads(fields["data"])["text"] if "data" in fields and not is_gap else None
                    self.take(fields["id"], said, is_gap)


class Socket(Subscriber):
    @staticmethod
    def send(connection: Connection, opcode: int, payload: bytes):
        mask = os.urandom(4)
        connection.output.write(bytes([0x80 | opcode, 0x80 | len(payload)]) + mask + bytes(byte ^ mask[i % 4] for i, byte in enumerate(payload)))

    async def begin(self, connection: Connection):
        await asyncio.wait_for(connection.head("GET", "/chat", 101, Connection="Upgrade", Upgrade="websocket",
                                               Sec_WebSocket_Version="13", Sec_WebSocket_Key="dGhlIHNhbXBsZSBub25jZQ=="), SECONDS)
        join = {"type": "join", "room": "lobby", "name": self.name, "after": self.last}
        self.send(connection, OPCODE_TEXT, json.dumps(join).encode())

    async def read(self, connection: Connection) -> bool:
        while True:
            first, size = await connection.input.readexactly(2)
            if size > 125:
                size, = struct.unpack(*((">H", await connection.input.readexactly(2)) if size == 126 else (">Q", await connection.input.readexactly(8))))
            payload = await connection.input.readexactly(size)
            if first & 15 == OPCODE_PING:
                self.send(connection, OPCODE_PONG, payload)
            elif first & 15 == OPCODE_CLOSE:
                code, = struct.unpack(">H", payload[:2])
                self.send(connection, OPCODE_CLOSE, payload[:2])
                if code != 1001:
                    self.failures.append(f"{self.name}: closed with {code}")
                return True
            elif (message := json.loads(payload))["type"] in ("said", "gap", "start"):
                self.take(message["id"], message.get("text"), message["type"] == "gap")
            elif message["type"] == "error":
                self.failures.append(f"{self.name}: {message['text']}")


class Load:
    """`clients` clients: subscribers of both kinds, and some that ask, on one connection or on many."""

    def __init__(self, port: int, pause: float = 0.1, posts: float = 0.2, own_addresses: bool = False):
        self.port, self.pause, self.posts, self.own_addresses = port, pause, posts, own_addresses
        self.acknowledged: dict[str, str] = {}  # texts and their ids
        self.times: list[float] = []  # of them
        self.addresses = 0
        self.subscribers: list[Subscriber] = []
        self.asking: list[Asking] = []

    def address(self) -> str | None:
        """A client of its own for each connection, if limits shall not hold them up."""
        self.addresses += 1
        return f"127.1.{self.addresses >> 8}.{self.addresses & 255}" if self.own_addresses else None

    def acknowledge(self, text: str, id_: str):
        self.acknowledged[text] = id_
        self.times.append(time.monotonic())

    async def start(self, clients: int):
        count = max(2, clients * 3 // 10)
        self.pause = self.pause * max(1, clients / 20)  # the messages stay as many
        self.subscribers = [kind(self, f"{kind.__name__}-{i}") for i in range(count) for kind in (Events, Socket)]
        await self.until(lambda: all(one.last for one in self.subscribers), "all subscribers")
        self.asking = [Asking(self, f"asking-{i}", i % 2 == 1 and not self.own_addresses) for i in range(max(2, clients - 2 * count))]

    async def until(self, condition, what: str):
        end = time.monotonic() + SECONDS
        while not condition():
            assert time.monotonic() < end, f"{what} did not happen within {SECONDS} s"
            await asyncio.sleep(0.01)

    async def more(self, count: int):
        wanted = len(self.acknowledged) + count
        await self.until(lambda: len(self.acknowledged) >= wanted, f"{count} more messages")

    async def stop_asking(self):
        for one in self.asking:
            one.is_over = True
        await asyncio.wait_for(asyncio.gather(*(one.task for one in self.asking)), SECONDS)

    async def stop(self):
        for one in self.subscribers:
            one.is_over = True
            one.task.cancel()
        await asyncio.gather(*(one.task for one in self.subscribers), return_exceptions=True)

    def failures(self) -> list[str]:
        return [failure for one in [*self.subscribers, *self.asking] for failure in one.failures]

    def requests(self) -> int:
        return sum(one.done for one in self.asking)

    def reconnects(self) -> int:
        return sum(len(one.nodes) - 1 for one in self.subscribers)


def number(id_: str) -> tuple[int, ...]:
    return tuple(int(part) for part in id_.split("-"))


async def settled(load: Load, wanted: set[str]) -> tuple[int, int]:
    """Waits until each subscriber has what it must have, for a while; returns how many messages were lost and doubled."""
    with contextlib.suppress(AssertionError):
        await load.until(lambda: all(wanted <= set(one.texts) for one in load.subscribers), "all messages")
    lost = sum(len(wanted - set(one.texts)) for one in load.subscribers)
    doubled = sum(len(one.texts) - len(set(one.texts)) for one in load.subscribers)
    for one in load.subscribers:
        assert one.ids == sorted(set(one.ids), key=number), f"{one.name}: out of order"
        assert one.gaps == 0, f"{one.name}: {one.gaps} gaps"
    return lost, doubled


async def command(*words: str) -> str:
    process = await asyncio.create_subprocess_exec(*words, stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
    said = (await process.communicate())[0].decode()
    assert process.returncode == 0, said
    return said


async def test_deploys(options: argparse.Namespace, folder: pathlib.Path):
    with Cluster(options.program, folder) as nodes:
        load, begin = Load(nodes.port), time.monotonic()
        await load.start(options.clients)
        await load.more(20)
        skua = pathlib.Path(options.program).with_name("skua")
        with running([Bench(str(skua), Address(nodes.port, False), "--rate", "500")] if skua.exists() else []):
            for _ in range(options.deploys):
                await command(sys.executable, str(FOLDER / "deploy"), str(folder))
        await load.more(20)
        cuts = sum(one.cuts for one in load.subscribers)
        failures, requests, reconnects = load.failures(), load.requests(), load.reconnects()
        print(f"deploys: {options.deploys} with {options.clients} clients in {time.monotonic() - begin:.0f} s: {requests} requests, "
              f"{len(load.acknowledged)} messages to {len(load.subscribers)} subscribers, {reconnects} reconnects; "
              f"{len(failures)} failed, {cuts} cut", flush=True)
        assert not failures, "\n".join(failures[:20])
        assert cuts == 0, "a node ended without a word"
        assert reconnects >= len(load.subscribers) * options.deploys, "the nodes were not replaced"
        await kill_a_node(load, nodes)
        await load.stop_asking()
        lost, doubled = await settled(load, set(load.acknowledged))
        await load.stop()
        print(f"in all {len(load.acknowledged)} messages: {lost} lost, {doubled} doubled", flush=True)
        assert lost == doubled == 0


async def kill_a_node(load: Load, nodes: Cluster):
    """Only its clients come back, and requests that it had begun fail, which is why a message can be posted again."""
    victim = collections.Counter(one.nodes[-1] for one in load.subscribers).most_common(1)[0][0]
    before = {one: len(one.nodes) for one in load.subscribers}
    hit = [one for one in load.subscribers if one.nodes[-1] == victim]
    old, failed = nodes.process_of(victim), len(load.failures())
    os.kill(old, signal.SIGKILL)
    await load.until(lambda: all(len(one.nodes) > before[one] for one in hit), "the return of its clients")
    await load.until(lambda: nodes.process_of(victim) not in (0, old), "a new process")
    await load.more(20)
    failures = load.failures()[failed:]
    print(f"a node killed: {len(hit)} of {len(load.subscribers)} subscribers came back, {len(failures)} requests failed", flush=True)
    for one in load.subscribers:
        assert len(one.nodes) == before[one] + (one in hit), f"{one.name} was on {one.nodes[before[one] - 1:]}, and {victim} was killed"
    assert len(failures) <= len(load.asking), failures


def master_of(servers: list[Redis], key: str) -> Redis | None:
    """The master that serves a key; others say MOVED."""
    return next((one for one in alive(servers) if one.cli("exists", key).isdigit() and "role:master" in one.cli("info", "replication")), None)


def address_on(servers: list[Redis], master: Redis) -> str:
    """A client whose requests this master counts."""
    return next(address for i in range(1, 255) if master_of(servers, f"skua:rate:posts:{(address := f'127.2.1.{i}')}") is master)


async def post_at_once(port: int, address: str, count: int) -> list[tuple[int, float]]:
    """Posts messages of one client; returns the statuses, and when they came."""
    async def post(i: int) -> tuple[int, float]:
        connection = await Connection().open(port, address)
        with contextlib.suppress(Failure):
            await connection.ask("POST", "/rooms/other", json.dumps({"name": "Eve", "text": str(i)}))
        connection.close()
        return connection.status, time.monotonic()
    return await asyncio.wait_for(asyncio.gather(*map(post, range(count))), SECONDS)


async def await_shared_limit(port: int, network: str):
    """All nodes together let as many through as the limit says; not at once, if Redis has just been slow."""
    for i in range(1, 20):
        begin = time.monotonic()
        allowed = sum(status != 429 for status, _ in await post_at_once(port, f"{network}.{i}", 3 * RATE))
        if RATE <= allowed <= RATE + 1 + (time.monotonic() - begin) * RATE / 60:
            return
    raise AssertionError(f"{allowed} posts instead of {RATE}")


async def test_redis(options: argparse.Namespace, folder: pathlib.Path):
    """A master is killed. What is acknowledged before the replica has it may be lost by Redis, and nothing else: each message that
    the replica had by the time of a WAIT is there, and each that is still in the stream got to all subscribers once."""
    with contextlib.ExitStack() as stack:
        servers = stack.enter_context(cluster(folder, node_timeout=NODE_TIMEOUT))
        places = [f"127.0.0.1:{server.ports['port']}" for server in servers]
        nodes = stack.enter_context(Cluster(options.program, folder, "--redis", f"redis://{places[0]}", CHAT_CLUSTER=",".join(places),
                                            CHAT_RATE=str(RATE)))
        load = Load(nodes.port, posts=0.5, own_addresses=True)
        await load.start(min(options.clients, 40))
        await load.more(20)
        await await_shared_limit(nodes.port, "127.2.0")
        master = await asyncio.to_thread(master_of, servers, STREAM)
        address = await asyncio.to_thread(address_on, servers, master)
        await load.more(1)
        safe = dict(load.acknowledged)
        waited = subprocess.run(["redis-cli", "-p", str(master.ports["port"])], input="set {topics}mark 1\nwait 1 10000\n",
                                capture_output=True, text=True, timeout=SECONDS).stdout.split()
        assert waited == ["OK", "1"], waited
        killed = time.monotonic()
        master.end(signal.SIGKILL)

        local = asyncio.create_task(post_at_once(nodes.port, address, 6 * RATE))
        while not (heir := await asyncio.to_thread(master_of, servers, STREAM)):
            assert time.monotonic() < killed + SECONDS, "no failover"
        failover = time.monotonic() - killed
        await load.until(lambda: load.times[-1] > killed + failover, "the first message")
        back = max(later - earlier for earlier, later in zip(load.times, load.times[1:]) if later > killed)
        refused = [when - killed for status, when in await local if status == 429]
        assert 2 * RATE <= len(refused) <= 5 * RATE, f"{len(refused)} of {6 * RATE} refused"
        await load.more(20)
        await await_shared_limit(nodes.port, "127.2.2")
        await load.stop_asking()

        kept = set(heir.cli("xrange", STREAM, "-", "+").split("\n"))
        gone = {text for text, id_ in load.acknowledged.items() if id_ not in kept}
        lost, doubled = await settled(load, set(load.acknowledged) - gone)
        unknown = sum(len(set(one.ids) - kept) for one in load.subscribers)  # delivered, and lost by Redis; may come again
        failures = load.failures()
        await load.stop()
        print(f"a master killed: a failover of {failover:.1f} s, the first message after {back:.1f} s, {len(refused)} of {6 * RATE} posts "
              f"refused after {max(refused):.1f} s; {len(failures)} requests failed; {len(load.acknowledged)} messages "
              f"acknowledged, {len(gone)} lost by Redis, {lost} by us, {doubled} doubled; {load.reconnects()} reconnects", flush=True)
        assert max(refused) < failover, "nobody counted while Redis was away"
        assert back < failover + 5
        assert not gone & set(safe), f"the replica had them: {gone & set(safe)}"
        assert lost == 0 and doubled <= unknown
        assert all("503" in failure for failure in failures), failures[:20]
        assert load.reconnects() == 0, "clients noticed"


async def test_page(_: argparse.Namespace, __: pathlib.Path):
    """docs/scaling.md shows the configuration that is in use."""
    shown = re.search(r"^```\n(backend nodes\n.*?)^```$", (ROOT / "docs" / "scaling.md").read_text(), re.M | re.S)[1]
    assert shown in (FOLDER / "haproxy.cfg").read_text(), "docs/scaling.md: not what examples/cluster/haproxy.cfg says"


def main() -> int:
    parser = argparse.ArgumentParser()
    parser.add_argument("program")
    parser.add_argument("tests", nargs="*")
    parser.add_argument("--deploys", type=int, default=1)
    parser.add_argument("--clients", type=int, default=20)
    options = parser.parse_args()
    if missing := [name for name in ("haproxy", "redis-server", "redis-cli") if not found(name)]:
        print(f"skipped: {', '.join(missing)} is not installed")
        return SKIP
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(1))  # ends the servers, too
    tests = {name.removeprefix("test_"): test for name, test in globals().items() if name.startswith("test_")}
    for name in options.tests or tests:
        with tempfile.TemporaryDirectory() as folder:
            asyncio.run(tests[name](options, pathlib.Path(folder)))
        print(f"{name}: ok", flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())
