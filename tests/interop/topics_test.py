#!/usr/bin/env python3
"""Topics on several processes that share a Redis: nothing is lost, doubled or out of order, whatever dies meanwhile.

Usage: topics_test.py EXAMPLE_REDIS_CHAT [TEST...]
"""
import contextlib
import http.client
import json
import os
import pathlib
import signal
import socket
import subprocess
import sys
import tempfile
import threading
import time

from redis_servers import Redis
from served import SKIP, TIMEOUT
from servers import found, until

PAGE = pathlib.Path(__file__).resolve().parents[2] / "examples" / "chat"
STREAM = "skua:{topics}:t:lobby"
DURABLE = "port @port@\nappendonly yes\nappendfsync always\n"


class Node:
    """A process of the chat."""

    def __init__(self, program: str, redis: Redis, **environment: str):
        self.command = [program, "0", f"redis://127.0.0.1:{redis.ports['port']}"]
        self.environment = {**os.environ, "CHAT_FOLDER": str(PAGE), **environment}

    def __enter__(self):
        self.process = subprocess.Popen(self.command, stdout=subprocess.PIPE, text=True, env=self.environment)
        self.port, self.admin_port = (int(self.process.stdout.readline().split(":")[-1]) for _ in range(2))
        return self

    def ask(self, method: str, target: str, body: str | None = None, port: int = 0, **fields: str) -> tuple[int, str]:
        connection = http.client.HTTPConnection("127.0.0.1", port or self.port, timeout=TIMEOUT)
        with contextlib.closing(connection):
            connection.request(method, target, body, {name.replace("_", "-"): value for name, value in fields.items()})
            response = connection.getresponse()
            return response.status, response.read().decode()

    def say(self, text: str, once: str = "") -> tuple[int, str]:
        return self.ask("POST", "/rooms/lobby", json.dumps({"name": "Ada", "text": text}), **({"Idempotency_Key": once} if once else {}))

    def status(self) -> str:
        return json.loads(self.ask("GET", "/status")[1])["bus"]

    def people(self) -> list[str]:
        return json.loads(self.ask("GET", "/rooms/lobby/people")[1])

    def end(self, kind: int = signal.SIGTERM) -> int:
        self.process.send_signal(kind)
        return self.process.wait(TIMEOUT)

    def __exit__(self, *_):
        self.process.kill()  # does nothing if it has ended
        self.process.wait(TIMEOUT)
        self.process.stdout.close()


class Events:
    """A reader of server-sent events that comes back as browsers do, each time to the next node."""

    def __init__(self, *nodes: Node, last: str = ""):
        self.nodes, self.last = nodes, last
        self.ids, self.texts, self.gaps, self.connections = [], [], [], 0
        self.is_over, self.socket = False, None
        self.thread = threading.Thread(target=self.run, daemon=True)

    def __enter__(self):
        self.thread.start()
        until(lambda: self.last, "the first id")
        return self

    def run(self):
        while not self.is_over:
            with contextlib.suppress(OSError, http.client.HTTPException, ValueError):
                self.read(self.nodes[self.connections % len(self.nodes)])
            self.connections += 1
            time.sleep(0.01)

    def read(self, node: Node):
        connection = http.client.HTTPConnection("127.0.0.1", node.port, timeout=TIMEOUT)
        with contextlib.closing(connection):
            connection.request("GET", "/rooms/lobby/events", headers={"Last-Event-ID": self.last} if self.last else {})
            self.socket = connection.sock
            response, event = connection.getresponse(), {}
            while line := response.readline():
                name, _, value = line.decode().rstrip("\n").partition(": ")
                if name:
                    event[name] = value
                    continue
                self.take(event)
                event = {}

    def take(self, event: dict[str, str]):
        if "id" not in event:
            return
        self.last = event["id"]
        if event.get("event") == "gap":
            self.gaps.append((len(self.ids), self.last))
        elif "data" in event:
            self.ids.append(self.last)
            self.texts.append(json.loads(event["data"])["text"])

    def cut(self):
        with contextlib.suppress(OSError):
            self.socket.shutdown(socket.SHUT_RDWR)

    def __exit__(self, *_):
        self.is_over = True
        self.cut()
        self.thread.join(TIMEOUT)


def stored(redis: Redis) -> list[str]:
    """The ids of the stream, in order."""
    lines = redis.cli("xrange", STREAM, "-", "+").split("\n")
    return [line for line, following in zip(lines, lines[1:]) if following == "p"]


def number(id_: str) -> tuple[int, ...]:
    return tuple(int(part) for part in id_.split("-"))


def publish(node: Node, name: str, count: int, said: list[str]):
    """Says `NAME.0`, `NAME.1`, ...; what is refused is said again, as a client does that got no answer."""
    for i in range(count):
        text = f"{name}.{i}"
        for _ in range(1000):
            try:
                status, _ = node.say(text, once=text)
            except (OSError, http.client.HTTPException):
                status = 0
            if status == 200:
                break
            time.sleep(0.02)
        said.append(text)


class Publishers:
    """Threads that publish on several nodes at once."""

    def __init__(self, nodes: list[Node], count: int):
        self.said = [[] for _ in nodes]
        self.threads = [threading.Thread(target=publish, args=(node, str(i), count, self.said[i]), daemon=True)
                        for i, node in enumerate(nodes)]
        for thread in self.threads:
            thread.start()

    def are_done(self) -> bool:
        return not any(thread.is_alive() for thread in self.threads)

    def all(self) -> list[str]:
        return [text for said in self.said for text in said]


def check(events: Events, publishers: Publishers, redis: Redis):
    """The reader got each message once, in the order of the stream, and of each publisher."""
    wanted = publishers.all()
    until(lambda: len(events.texts) >= len(wanted), f"the end of {len(wanted)} messages", 60)
    assert sorted(events.texts) == sorted(wanted), f"lost {set(wanted) - set(events.texts)}, {len(events.texts)} instead of {len(wanted)}"
    assert events.ids == sorted(events.ids, key=number) and len(set(events.ids)) == len(events.ids), "out of order"
    kept = stored(redis)
    assert events.ids[-len(kept):] == kept, "not the order of the stream"
    for i, said in enumerate(publishers.said):
        assert [text for text in events.texts if text.startswith(f"{i}.")] == said, f"publisher {i} is out of order"
    assert not events.gaps, events.gaps


def test_two_nodes(program: str, folder: pathlib.Path):
    """Connections are cut everywhere: those of the reader, and those of the nodes to Redis."""
    with Redis(folder, "port @port@\n") as redis, Node(program, redis) as one, Node(program, redis) as two:
        with Events(one, two) as events:
            publishers = Publishers([one, two], 300)
            cuts = 0
            while not publishers.are_done():
                events.cut()
                redis.cli("client", "kill", "type", "normal")
                cuts += 1
                time.sleep(0.05)
            check(events, publishers, redis)
        assert int(redis.cli("xlen", STREAM)) == 600
        print(f"two nodes: 600 messages, {cuts} cuts, {events.connections} connections of the reader")


def test_a_node_dies(program: str, folder: pathlib.Path):
    with Redis(folder, "port @port@\n") as redis, Node(program, redis) as one, Node(program, redis) as two:
        with Events(two, one) as events:
            publishers = Publishers([one], 200)
            until(lambda: len(events.texts) > 50, "some messages")
            two.end(signal.SIGKILL)
            until(publishers.are_done, "the publishers", 60)
            check(events, publishers, redis)


def test_trimmed(program: str, folder: pathlib.Path):
    """What is no longer kept is a gap, and nothing after it is missing."""
    with Redis(folder, "port @port@\n") as redis, Node(program, redis, CHAT_HISTORY="100") as one:
        with Events(one) as events:
            publish(one, "a", 1, [])
            until(lambda: events.texts == ["a.0"], "the first message")
        publish(one, "b", 500, [])
        kept = stored(redis)
        assert 100 <= len(kept) < 400, len(kept)
        with Events(one, last=events.ids[-1]) as late:
            until(lambda: len(late.ids) == len(kept), "all that is kept")
            assert late.ids == kept
            assert len(late.gaps) == 1 and late.gaps[0][0] == 0, late.gaps
            assert number(late.gaps[0][1]) < number(kept[0])
        polled = json.loads(one.ask("GET", f"/rooms/lobby/poll?after={events.ids[-1]}")[1])
        assert polled["gap"] and polled["messages"][0]["id"] == kept[0], polled
        # The id of the gap itself is good for resuming: nothing else is missing.
        polled = json.loads(one.ask("GET", f"/rooms/lobby/poll?after={late.gaps[0][1]}")[1])
        assert not polled["gap"] and polled["messages"][0]["id"] == kept[0], polled


def test_durable_restart(program: str, folder: pathlib.Path):
    """Redis is killed, and comes back with all that it has acknowledged."""
    with Redis(folder, DURABLE) as redis, Node(program, redis) as one, Node(program, redis) as two:
        with Events(one, two) as events:
            publishers = Publishers([one, two], 200)
            for _ in range(2):
                before = len(events.texts)
                until(lambda: len(events.texts) > before + 30 or publishers.are_done(), "some messages")
                redis.end(signal.SIGKILL)
                assert redis.start(), redis.said()
            until(publishers.are_done, "the publishers", 60)
            check(events, publishers, redis)


def test_forgetful_restart(program: str, folder: pathlib.Path):
    """Redis is away for a while and forgets all: publishers get errors, readers a gap."""
    with Redis(folder, "port @port@\n") as redis, Node(program, redis) as one:
        with Events(one) as events:
            publish(one, "a", 3, [])
            until(lambda: len(events.texts) == 3, "three messages")
            redis.end(signal.SIGKILL)
            until(lambda: one.status() != "ok", "the news")
            status, text = one.say("lost")
            assert status == 503 and "Redis did not take the message in time" in text, (status, text)
            assert redis.start(), redis.said()
            until(lambda: one.status() == "ok", "the return")
            publish(one, "b", 1, [])
            until(lambda: len(events.texts) == 4, "the fourth message")
            assert [at for at, _ in events.gaps] == [3], events.gaps
            assert "lost" not in events.texts


def test_members(program: str, folder: pathlib.Path):
    """The people of a node that is killed vanish, those of others stay; a Redis that forgets them is told again."""
    sys.path.insert(0, str(PAGE.parent))
    from examples_test import WebSocket
    with Redis(folder, "port @port@\n") as redis, contextlib.ExitStack() as stack:
        one, two = (stack.enter_context(Node(program, redis, CHAT_HEARTBEAT="1")) for _ in range(2))
        sockets = {}
        for name, node in (("Ada", one), ("Ben", two)):
            sockets[name] = WebSocket(node.port, "/chat")
            sockets[name].send({"type": "join", "room": "lobby", "name": name})
        until(lambda: one.people() == ["Ada", "Ben"] == two.people(), "both")

        def wait_for(names: list[str]):  # without asking
            said = {}
            while said.get("names") != names:
                said = sockets["Ada"].receive()

        wait_for(["Ada", "Ben"])
        two.end(signal.SIGKILL)
        wait_for(["Ada"])
        assert one.people() == ["Ada"]
        redis.cli("flushall")
        until(lambda: one.people() == ["Ada"], "Ada again")
        # A process died just before the clock of Redis was set back by an hour.
        redis.cli("zadd", "skua:{topics}:nodes", str(int((time.time() + 3600) * 1000)), "dead")
        redis.cli("hset", "skua:{topics}:p:lobby", "dead:1", "3:Eve")
        assert one.people() == ["Ada", "Eve"]
        until(lambda: one.people() == ["Ada"], "the end of Eve")
        for one_socket in sockets.values():
            one_socket.close()
        until(lambda: one.people() == [], "an empty room")


def test_drain(program: str, folder: pathlib.Path):
    """A node that is told to end is no longer ready, serves on for a while, and ends well."""
    with Redis(folder, "port @port@\n") as redis, Node(program, redis, CHAT_DRAIN_DELAY="5", CHAT_NODE="first") as one:
        def ready() -> int:
            return one.ask("GET", "/readyz", port=one.admin_port)[0]
        assert ready() == 200 and one.ask("GET", "/livez", port=one.admin_port)[0] == 200
        with Events(one):
            assert "skua_topics_subscriptions 1" in one.ask("GET", "/metrics", port=one.admin_port)[1]
            one.process.send_signal(signal.SIGTERM)
            until(lambda: ready() == 503, "the beginning of the end")
            assert one.say("still here")[0] == 200
            assert one.process.wait(TIMEOUT) == 0


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
