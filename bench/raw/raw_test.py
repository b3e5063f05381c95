# SPDX-License-Identifier: MIT
"""Behaviour of the raw servers over a real socket: python3 raw_test.py PATH_OF_SKUA_BENCH_SERVER"""

import select
import signal
import socket
import subprocess
import sys
import unittest

BINARY = sys.argv.pop(1)
REQUEST = b"GET / HTTP/1.1\r\nHost: a\r\n\r\n"
NOT_BUILT_IN = 2


class RawServer:
    """Runs one mode on a port that the system picks; stops it by SIGTERM."""

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
        code = self.process.wait(10)
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
                # Reads only when nothing can be written: the server must meet full buffers.
                writable = select.select([], [connection] if sent < len(data) else [], [], 0.1)[1]
                if writable:
                    sent += connection.send(data[sent:])
                    continue
                self.assertTrue(
                    select.select([connection], [], [], 10)[0], f"{got} of {want} bytes"
                )
                got += len(connection.recv(1 << 20))
            self.assertEqual(got, want)


if __name__ == "__main__":
    unittest.main()
