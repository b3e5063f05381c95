# SPDX-License-Identifier: MIT
"""Checks what each peer answers, and how it is built and found.

Usage, in bench/: python3 -B -m suite.peers_test [--build] [TEST...]
With --build, every peer is built and every route it offers is requested; without, only of those that are built already. The
builds are in build/release/tools.
"""

import contextlib
import http.client
import json
import os
import pathlib
import select
import signal
import socket
import ssl
import subprocess
import sys
import tempfile
import traceback
import unittest

from . import peers, place
from .process import USUAL, Server
from .websocket_client import WebSocket

CACHE = peers.BENCH.parent / "build/release/tools"
BIG_HEAD = 65_535
UPLOAD = os.urandom(1 << 20) * 10
FILES = {"small.txt": b"a small file\n", "large.bin": os.urandom(300_000)}
JSON = {"Content-Type": "application/json", **place.JSON_FIELDS}
PATIENCE_SECONDS = 60
should_build = False


class Modules(unittest.TestCase):
    def test_each_folder_is_a_peer(self):
        folders = {path.name for path in peers.SOURCES.iterdir() if path.is_dir()}
        self.assertEqual(folders, set(peers.PEERS) | set(peers.CLIENTS))

    def test_a_change_of_a_file_changes_where_the_build_lies(self):
        with tempfile.TemporaryDirectory() as folder, substituted(peers, SOURCES=pathlib.Path(folder)):
            file = pathlib.Path(folder, "go/main.go")
            file.parent.mkdir()
            file.write_text("package main")
            made = peers._made(peers.PEERS["go"], CACHE)
            self.assertEqual(peers._made(peers.PEERS["go"], CACHE), made)
            file.write_text("package main\n")
            self.assertNotEqual(peers._made(peers.PEERS["go"], CACHE), made)

    def test_a_missing_compiler_is_named(self):
        kind = peers.Kind(("no-such-compiler",), "install it", (), ())
        with substituted(peers, PEERS={"go": peers.Peer("go", frozenset(), kind)}):
            with self.assertRaisesRegex(peers.Unavailable, "^go: no no-such-compiler: install it$"):
                peers.command("go", CACHE)

    def test_a_missing_header_names_its_package(self):
        lacking = peers.Peer("go", frozenset(), peers.Kind((), "", (), ()), headers=(("no/such.h", "no-such-dev"),))
        with substituted(peers, PEERS={"go": lacking}):
            with self.assertRaisesRegex(peers.Unavailable, "^go: install no-such-dev "):
                peers.command("go", CACHE)

    def test_a_feature_that_is_not_offered_is_refused(self):
        with self.assertRaisesRegex(peers.Unavailable, "^may_minihttp: it does not offer tls$"):
            peers.command("may_minihttp", CACHE, tls=("chain.pem", "key.pem"))

    def test_a_build_that_fails_is_unavailable(self):
        kind = peers.Kind((), "", ("echo broken; false",), ())
        with tempfile.TemporaryDirectory() as cache, substituted(peers, PEERS={"go": peers.Peer("go", frozenset(), kind)}):
            with self.assertRaisesRegex(peers.Unavailable, "^go: .*broken$"):
                peers.command("go", cache)
            self.assertEqual(list(pathlib.Path(cache).iterdir()), [])

    def test_a_build_that_is_interrupted_ends_its_compilers(self):
        def interrupt(_, frame):  # once the build is waited for
            if any(at.f_code.co_name == "communicate" for at, _ in traceback.walk_stack(frame)):
                raise KeyboardInterrupt

        self.addCleanup(signal.signal, signal.SIGUSR1, signal.signal(signal.SIGUSR1, interrupt))
        kind = peers.Kind((), "", (f"echo $$ > {{cache}}/pid; while kill -USR1 {os.getpid()}; do sleep 0.01; done",), ())
        with tempfile.TemporaryDirectory() as cache, substituted(peers, PEERS={"go": peers.Peer("go", frozenset(), kind)}):
            with self.assertRaises(KeyboardInterrupt):
                peers.command("go", cache)
            (said,) = pathlib.Path(cache).iterdir()
            self.assertTrue(ends_at_once(int(said.read_text())), "its shell goes on")


def ends_at_once(process: int) -> bool:
    """Reports whether a process has ended, or does so long before its time. Its new parent may not have noticed yet."""
    try:
        descriptor = os.pidfd_open(process)
    except ProcessLookupError:
        return True
    try:
        return bool(select.select([descriptor], [], [], PATIENCE_SECONDS / 3)[0])
    finally:
        os.close(descriptor)


@contextlib.contextmanager
def substituted(module, **values):
    before = {name: getattr(module, name) for name in values}
    vars(module).update(values)
    try:
        yield
    finally:
        vars(module).update(before)


@contextlib.contextmanager
def running(name, **options):
    server = Server(name, peers.command(name, CACHE, **options))
    try:
        server.start(max(os.sched_getaffinity(0)), policy=USUAL, patience=PATIENCE_SECONDS)
        yield server
    finally:
        ended = server.stop() if server.process else None
    if ended not in (0, -15):
        raise AssertionError(f"{name} ended with {ended} on SIGTERM")


class Answers:
    """The requests to one peer; a subclass for each names it."""

    name = ""

    @classmethod
    def setUpClass(cls):
        cls.offers = peers.PEERS[cls.name].offers
        if not should_build and not peers.is_built(cls.name, CACHE):
            raise unittest.SkipTest(f"{cls.name} is not built: use --build")
        cls.folder = cls.enterClassContext(tempfile.TemporaryDirectory(prefix="bench-peers-"))
        files = pathlib.Path(cls.folder, "files")
        files.mkdir()
        for name, content in FILES.items():
            (files / name).write_bytes(content)
        given = {"files": files} if "files" in cls.offers else {}
        try:
            cls.server = cls.enterClassContext(running(cls.name, **given))
            if "tls" in cls.offers:
                cls.tls_server = cls.enterClassContext(running(cls.name, tls=place.certificate(cls.folder), **given))
        except peers.Unavailable as reason:
            raise unittest.SkipTest(str(reason)) from reason

    def need(self, *features):
        if absent := set(features) - self.offers:
            self.skipTest(f"{self.name} does not offer {' and '.join(sorted(absent))}")

    def contexts(self):
        """Returns nothing for TCP, and a client's context for TLS if the peer offers it."""
        return [None, *([ssl._create_unverified_context()] if "tls" in self.offers else [])]

    def raw_connection(self, tls):
        connection = socket.create_connection(("127.0.0.1", (self.tls_server if tls else self.server).port), PATIENCE_SECONDS)
        return tls.wrap_socket(connection) if tls else connection

    def connect(self, tls=None):
        if tls is None:
            connection = http.client.HTTPConnection("127.0.0.1", self.server.port, timeout=PATIENCE_SECONDS)
        else:
            connection = http.client.HTTPSConnection("127.0.0.1", self.tls_server.port, timeout=PATIENCE_SECONDS, context=tls)
        self.addCleanup(connection.close)
        return connection

    def expect(self, connection, method, path, body, sent=None, fields=None, **expected):
        """Sends a request; requires 200, `body`, Content-Length and fields, and an open connection."""
        connection.request(method, path, sent, fields or {})
        answer = connection.getresponse()
        received = answer.read()
        self.assertEqual(answer.status, 200, f"{path}: {received[:200]}")
        self.assertTrue(received == body, f"{path}: {len(received)} bytes {received[:80]} instead of {len(body)} bytes {body[:80]}")
        self.assertEqual(answer.getheader("Content-Length"), str(len(body)), path)
        self.assertIsNone(answer.getheader("Content-Encoding"), path)
        self.assertIsNotNone(connection.sock, f"{path}: the connection was closed")
        for name, value in expected.items():
            self.assertEqual(answer.getheader(name), value, path)

    def expect_all(self, connection):
        """Requests each route that the peer offers, twice, on one connection."""
        for _ in range(2):
            self.expect(connection, "GET", "/", b"Hello, World!", **{"Content-Type": "text/plain"})
            if "json" in self.offers:
                self.expect(connection, "GET", "/json", place.JSON, **JSON)
            if "routes" in self.offers:
                for number in (0, 1, 99, 199):
                    self.expect(connection, "GET", f"/r{number}/items/id-{number}", f"id-{number}".encode())
            if "echo" in self.offers:
                for size in (0, 1, 1000, 100_000, len(UPLOAD)):
                    self.expect(connection, "POST", "/echo", UPLOAD[:size], UPLOAD[:size], **{"Content-Type": "application/octet-stream"})
            if "upload" in self.offers:
                for size in (1, 100_000, len(UPLOAD)):
                    self.expect(connection, "POST", "/upload", str(size).encode(), UPLOAD[:size])
            if "files" in self.offers:
                for name, content in FILES.items():
                    self.expect(connection, "GET", f"/files/{name}", content)

    def test_http(self):
        self.expect_all(self.connect())

    def test_a_body_in_chunks(self):
        self.need("upload", "echo")
        if self.name == "may_minihttp":
            self.skipTest(f"{self.name} reads no chunks")
        connection = self.connect()
        self.expect(connection, "POST", "/upload", b"70000", iter([b"a" * 30_000, b"b" * 40_000]))
        self.expect(connection, "POST", "/echo", b"a" * 30_000 + b"b", iter([b"a" * 30_000, b"b"]))

    def test_a_date_is_sent(self):
        connection = self.connect()
        connection.request("GET", "/")
        answer = connection.getresponse()
        answer.read()
        self.assertIsNotNone(answer.getheader("Date"))

    def test_a_connection_is_closed_on_request(self):
        if self.name == "may_minihttp":
            self.skipTest(f"{self.name} closes no connection")
        for tls in self.contexts():
            with self.raw_connection(tls) as connection:
                connection.sendall(b"GET / HTTP/1.1\r\nHost: 127.0.0.1\r\nConnection: close\r\n\r\n")
                received = b""
                while piece := connection.recv(65536):
                    received += piece
                head, _, body = received.partition(b"\r\n\r\n")
                self.assertEqual(body, b"Hello, World!")
                self.assertIn(b"connection: close", head.lower())

    def test_a_head_of_64_kib(self):
        self.need("big-head")
        connection = self.connect()
        count = 8
        fixed = len("GET / HTTP/1.1\r\nHost: 127.0.0.1:\r\nAccept-Encoding: identity\r\n\r\n") + len(str(self.server.port))
        size, rest = divmod(BIG_HEAD - fixed - count * len("X-Large-0: \r\n"), count)
        fields = {f"X-Large-{number}": "x" * (size + rest * (number == 0)) for number in range(count)}
        self.expect(connection, "GET", "/", b"Hello, World!", fields=fields)
        self.expect(connection, "GET", "/", b"Hello, World!")

    def test_tls_1_2_and_1_3(self):
        self.need("tls")
        for version in (ssl.TLSVersion.TLSv1_2, ssl.TLSVersion.TLSv1_3):
            trusting = ssl._create_unverified_context()
            trusting.minimum_version = trusting.maximum_version = version
            self.expect_all(self.connect(trusting))

    def test_a_tls_session_is_resumed(self):
        self.need("tls")
        trusting = ssl._create_unverified_context()
        first, second = self.connect(trusting), self.connect(trusting)
        self.expect(first, "GET", "/", b"Hello, World!")  # reads the tickets, too
        raw = http.client.HTTPConnection("127.0.0.1", self.tls_server.port, timeout=PATIENCE_SECONDS)
        raw.connect()
        raw.sock = trusting.wrap_socket(raw.sock, session=first.sock.session)
        self.addCleanup(raw.close)
        self.expect(raw, "GET", "/", b"Hello, World!")
        self.assertTrue(raw.sock.session_reused)

    def curl(self, scheme, port, path, *options):
        """Returns the body of a response over HTTP/2."""
        done = subprocess.run(["curl", "-sSk", "--max-time", str(PATIENCE_SECONDS), "-w", "%{stderr}%{http_version} %{http_code}", *options,
                               f"{scheme}://127.0.0.1:{port}{path}"], capture_output=True, check=False)
        self.assertEqual(done.stderr.decode(), "2 200", path)
        return done.stdout

    def expect_http2(self, scheme, port, option):
        upload = pathlib.Path(self.folder, "upload")
        upload.write_bytes(UPLOAD)
        sent = ("--data-binary", f"@{upload}", "-H", "Content-Type: application/octet-stream")
        self.assertEqual(self.curl(scheme, port, "/", option), b"Hello, World!")
        head = pathlib.Path(self.folder, "head")
        self.assertEqual(self.curl(scheme, port, "/json", option, "-D", str(head)), b'{"message":"Hello, World!"}')
        fields = head.read_text()
        for name, value in JSON.items():
            self.assertIn(f"{name.lower()}: {value}", fields)
        self.assertEqual(self.curl(scheme, port, "/upload", option, *sent), str(len(UPLOAD)).encode())
        self.assertTrue(self.curl(scheme, port, "/echo", option, *sent) == UPLOAD)
        if "routes" in self.offers:
            self.assertEqual(self.curl(scheme, port, "/r42/items/7", option), b"7")
        if "files" in self.offers:
            self.assertTrue(self.curl(scheme, port, "/files/large.bin", option) == FILES["large.bin"])
        if "big-head" in self.offers and self.name != "ntex":  # which takes smaller ones over HTTP/2
            large = [word for number in range(6) for word in ("-H", f"X-Large-{number}: {'x' * 10_000}")]
            self.assertEqual(self.curl(scheme, port, "/", option, *large), b"Hello, World!")

    def test_http2_by_alpn(self):
        self.need("h2")
        self.expect_http2("https", self.tls_server.port, "--http2")

    def test_http2_with_prior_knowledge(self):
        self.need("h2c")
        self.expect_http2("http", self.server.port, "--http2-prior-knowledge")

    def open(self, path, tls=None):
        port = self.tls_server.port if tls else self.server.port
        connection = socket.create_connection(("127.0.0.1", port), PATIENCE_SECONDS)
        return self.enterContext(WebSocket(tls.wrap_socket(connection) if tls else connection, path))

    def test_messages_are_echoed(self):
        self.need("websocket")
        for tls in self.contexts():
            echo = self.open("/ws", tls)
            for kind in (echo.TEXT, echo.BINARY):
                for size in (0, 1, 125, 126, 65_535, 65_536, 1 << 20):
                    message = b"x" * size if kind == echo.TEXT else UPLOAD[:size]
                    echo.send(kind, message)
                    self.assertTrue(echo.receive() == (kind, message), f"{size} bytes")

    def test_messages_are_published(self):
        self.need("publish")
        subscribers = [self.open("/subscribe") for _ in range(3)]
        subscribers.pop().close()
        publisher = self.open("/publish")
        for message in ((WebSocket.TEXT, b"hello"), (WebSocket.BINARY, UPLOAD[:70_000]), (WebSocket.TEXT, b"")):
            publisher.send(*message)
            for subscriber in subscribers:
                self.assertTrue(subscriber.receive() == message)

    def test_two_threads(self):
        self.need("threads")
        with running(self.name, threads=2) as server:
            connection = http.client.HTTPConnection("127.0.0.1", server.port, timeout=PATIENCE_SECONDS)
            self.addCleanup(connection.close)
            self.expect(connection, "GET", "/", b"Hello, World!")


for peer_name in peers.PEERS:
    class_name = f"Peer_{peer_name.replace('-', '_')}"
    globals()[class_name] = type(class_name, (Answers, unittest.TestCase), {"name": peer_name})


class Clients(unittest.TestCase):
    def test_clients_count_requests_and_bytes(self):
        if not should_build and not all(peers.is_built(name, CACHE) for name in ("go", *peers.CLIENTS)):
            self.skipTest("the clients and their server are not built: use --build")
        with running("go") as server:
            for name in peers.CLIENTS:
                told = ["--url", f"http://127.0.0.1:{server.port}/", "--connections", "3", "--requests", "50"]
                done = subprocess.run([*peers.client_command(name, CACHE), *told], capture_output=True, text=True,
                                      timeout=PATIENCE_SECONDS, check=True)
                result = json.loads(done.stdout)
                self.assertEqual((result["requests"], result["bytes"]), (50, 50 * 13))
                self.assertGreater(result["user"] + result["system"], 0)
                self.assertGreater(result["seconds"], 0)


if __name__ == "__main__":
    should_build = "--build" in sys.argv
    unittest.main(argv=[word for word in sys.argv if word != "--build"])
