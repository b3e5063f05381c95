# SPDX-License-Identifier: MIT
"""Tests the raw servers over real sockets: python3 raw_test.py PATH_OF_SKUA_BENCH_SERVER"""

import json
import os
import select
import signal
import socket
import struct
import subprocess
import sys
import threading
import unittest

BINARY = sys.argv.pop(1)
REQUEST = b"GET / HTTP/1.1\r\nHost: a\r\n\r\n"
NOT_BUILT_IN = 2


class RawServer:
    """Runs one mode on a port chosen by the system; stops it with SIGTERM."""

    def __init__(self, mode, threads):
        self.command = [BINARY, mode, "--threads", str(threads)]

    def __enter__(self):
        self.process = subprocess.Popen(self.command, stdout=subprocess.PIPE, text=True)
        line = self.process.stdout.readline()
        if not line.startswith("listening on http://127.0.0.1:"):
            code = self.process.wait(10)
            self.process.stdout.close()
            if code == NOT_BUILT_IN:
                raise unittest.SkipTest("not built in")
            raise AssertionError(f"first line {line!r}, exit code {code}")
        self.port = int(line.rsplit(":", 1)[1])
        return self

    def __exit__(self, *_):
        self.process.send_signal(signal.SIGTERM)
        try:
            code = self.process.wait(10)
        finally:
            self.process.kill()  # does nothing if it has exited
            self.process.stdout.close()
        if code != 0:
            raise AssertionError(f"{self.command} ended with code {code}")

    def connect(self):
        connection = socket.create_connection(("127.0.0.1", self.port), 10)
        connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        return connection


def receive(connection, size):
    data = b""
    while len(data) < size:
        piece = connection.recv(1 << 20)
        if not piece:
            break
        data += piece
    return data


class RawServers(unittest.TestCase):
    def each(self):
        for mode in ("raw-epoll", "raw-io_uring"):
            for threads in (1, 3):
                with self.subTest(mode=mode, threads=threads), RawServer(mode, threads) as server:
                    with server.connect() as connection:
                        connection.sendall(REQUEST)
                        data = connection.recv(65536)
                        while not data.endswith(b"Hello, World!"):
                            data += connection.recv(65536)
                        yield connection, data

    def test_an_answer_carries_date_server_type_and_length(self):
        for _, answer in self.each():
            self.assertTrue(answer.startswith(b"HTTP/1.1 200 OK\r\n"))
            for field in (
                b"Server: ",
                b"Date: ",
                b"Content-Type: text/plain\r\n",
                b"Content-Length: 13\r\n",
            ):
                self.assertIn(b"\r\n" + field, answer)

    def test_a_head_in_single_bytes_gets_one_answer(self):
        for connection, answer in self.each():
            for i in range(len(REQUEST)):
                connection.sendall(REQUEST[i : i + 1])
            connection.sendall(REQUEST)
            self.assertEqual(len(receive(connection, 2 * len(answer))), 2 * len(answer))

    def test_a_hundred_pipelined_requests_get_a_hundred_answers_and_then_the_end(self):
        for connection, answer in self.each():
            connection.sendall(REQUEST * 100)
            connection.shutdown(socket.SHUT_WR)
            data = receive(connection, 1 << 30)
            self.assertEqual(data.count(b"Hello, World!"), 100)
            self.assertEqual(len(data), 100 * len(answer))

    def test_a_peer_that_reads_late_gets_every_answer(self):
        for connection, answer in self.each():
            data, want, got = REQUEST * 100000, 100000 * len(answer), 0
            sent = 0
            connection.setblocking(False)
            while got < want:
                # Reads only if nothing can be written, so that the server meets full buffers.
                writable = select.select([], [connection] if sent < len(data) else [], [], 0.1)[1]
                if writable:
                    sent += connection.send(data[sent:])
                    continue
                self.assertTrue(
                    select.select([connection], [], [], 10)[0], f"{got} of {want} bytes"
                )
                got += len(connection.recv(1 << 20))
            self.assertEqual(got, want)


UPGRADE = b"GET /ws HTTP/1.1\r\nHost: a\r\nUpgrade: websocket\r\nConnection: Upgrade\r\nSec-WebSocket-Version: 13\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n\r\n"


def frame(payload, mask=None):
    """Returns one binary frame, masked (as from a client) or not."""
    bit, size = (0x80 if mask else 0), len(payload)
    length = bytes([size | bit]) if size < 126 else struct.pack(">BH", 126 | bit, size) if size < 65536 else struct.pack(">BQ", 127 | bit, size)
    body = bytes(byte ^ mask[i % 4] for i, byte in enumerate(payload)) if mask else payload
    return b"\x82" + length + (mask or b"") + body


class RawWebSocket(unittest.TestCase):
    def setUp(self):
        self.server = RawServer("raw-ws", 1)
        self.server.__enter__()
        self.addCleanup(self.server.__exit__)

    def upgraded(self):
        connection = self.server.connect()
        self.addCleanup(connection.close)
        connection.sendall(UPGRADE)
        head = connection.recv(4096)
        self.assertTrue(head.startswith(b"HTTP/1.1 101 "), head)
        self.assertIn(b"\r\nSec-WebSocket-Accept: s3pPLMBiTxaQ9kYGzzhZRbK+xOo=\r\n", head)
        return connection

    def test_a_frame_comes_back_without_its_mask(self):
        connection = self.upgraded()
        for size in (0, 1, 125, 126, 65535, 65536, 300000):
            payload = os.urandom(size)
            connection.sendall(frame(payload, os.urandom(4)))
            expected = frame(payload)
            self.assertEqual(receive(connection, len(expected)), expected, size)

    def test_a_frame_in_single_bytes_comes_back(self):
        connection = self.upgraded()
        for payload in (b"hello", b"x" * 200):
            for byte in frame(payload, b"\x01\x02\x03\x04"):
                connection.sendall(bytes([byte]))
            self.assertEqual(receive(connection, len(frame(payload))), frame(payload))

    def test_many_frames_at_once_come_back_in_order(self):
        connection = self.upgraded()
        payloads = [os.urandom(number % 300) for number in range(2000)]
        connection.sendall(b"".join(frame(payload, b"\x09\x08\x07\x06") for payload in payloads))
        expected = b"".join(map(frame, payloads))
        self.assertEqual(receive(connection, len(expected)), expected)

    def test_a_frame_without_a_mask_is_the_end(self):
        connection = self.upgraded()
        connection.sendall(frame(b"hello"))
        self.assertEqual(connection.recv(100), b"")

    def test_the_load_generator_counts_right_answers_and_refuses_others(self):
        load = os.path.join(os.path.dirname(BINARY), "skua-bench-ws-load")
        with RawServer("raw-epoll", 1) as other:
            for port, size, code in ((self.server.port, 16, 0), (self.server.port, 70000, 0), (other.port, 16, 1)):
                command = [load, "--port", str(port), "--size", str(size), "--seconds", "1", "--connections", "5"]
                done = subprocess.run(command, capture_output=True, text=True, timeout=30)
                self.assertEqual(done.returncode, code, done.stderr)
                if code:
                    self.assertIn("the handshake failed: HTTP/1.1 200 OK", done.stderr)
                else:
                    self.assertGreater(json.loads(done.stdout)["requests"], 5)


class RawEcho(unittest.TestCase):
    def setUp(self):
        self.server = RawServer("raw-echo", 1)
        self.server.__enter__()
        self.addCleanup(self.server.__exit__)

    def test_bytes_come_back_and_then_the_end(self):
        with self.server.connect() as connection:
            for size in (1, 13, 300000):
                message = os.urandom(size)
                connection.sendall(message)
                self.assertEqual(receive(connection, size), message)
            connection.shutdown(socket.SHUT_WR)
            self.assertEqual(connection.recv(1), b"")

    def test_a_peer_that_reads_late_gets_every_byte(self):
        with self.server.connect() as connection:
            connection.settimeout(0.2)
            sent = 0
            try:
                while True:  # until all buffers are full
                    sent += connection.send(b"x" * 65536)
            except TimeoutError:
                connection.settimeout(10)
            self.assertEqual(receive(connection, sent), b"x" * sent)

    def test_the_load_generator_counts_echoes_and_refuses_other_bytes(self):
        def lie():
            connection, _ = liar.accept()
            with connection:
                connection.sendall(b"?" * len(connection.recv(13)))

        load = os.path.join(os.path.dirname(BINARY), "skua-bench-echo-load")
        with socket.create_server(("127.0.0.1", 0)) as liar:
            lying = threading.Thread(target=lie)
            lying.start()
            for port, size, said in ((self.server.port, 13, ""), (self.server.port, 100000, ""), (liar.getsockname()[1], 13, "wrong bytes")):
                command = [load, "--port", str(port), "--size", str(size), "--seconds", "1", "--connections", "1" if said else "5"]
                done = subprocess.run(command, capture_output=True, text=True, timeout=30)
                self.assertEqual(done.returncode, 1 if said else 0, done.stderr)
                self.assertIn(said, done.stderr)
                if not said:
                    self.assertGreater(json.loads(done.stdout)["requests"], 5)
            lying.join()


if __name__ == "__main__":
    unittest.main()
