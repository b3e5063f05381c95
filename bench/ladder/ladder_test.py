# SPDX-License-Identifier: MIT
"""Tests the rungs of the ladder over real sockets: ladder_test.py FOLDER_OF_PROGRAMS PAGE [--no-counts]

PAGE is docs/ladder.md, whose table of system calls and allocations has to be right; --no-counts is for sanitizers, which
add calls of their own.
"""

import contextlib
import pathlib
import random
import select
import socket
import sys
import unittest

import rungs
import tables

COUNTS_FLAG = "--no-counts"
HELLO = b"Hello, World!"
PADDING = b"X-Padding: " + b"x" * 65000 + b"\r\n"
MAX_BODY = 10 * 1024 * 1024


def get(*fields):
    return b"GET / HTTP/1.1\r\nHost: a\r\n" + b"".join(fields) + b"\r\n"


def post(body, *fields):
    return b"POST / HTTP/1.1\r\nHost: a\r\nContent-Length: %d\r\n" % len(body) + b"".join(fields) + b"\r\n" + body


# Requests, and the statuses that refuse them. The library has reasons of its own.
REFUSED = {
    b"\r\n\r\n": 400,
    b"nonsense\r\n\r\n": 400,
    b"GET /\r\n\r\n": 400,
    b"GET / a HTTP/1.1\r\nHost: a\r\n\r\n": 400,
    b"GET / HTTP/2.7\r\nHost: a\r\n\r\n": 505,
    b"GET / JTTP/1.1\r\nHost: a\r\n\r\n": 400,
    b"DELETE / HTTP/1.1\r\nHost: a\r\n\r\n": 405,
    get(b"no colon\r\n"): 400,
    get(b": no name\r\n"): 400,
    get(b"Name : blank\r\n"): 400,
    get(b"A: b\r\n folded\r\n"): 400,
    get(b"A: b\rC: d\r\n"): 400,
    get(b"A: b\nContent-Length: 5\r\n"): 400,
    get(b"A: \0\r\n"): 400,
    get(b"Content-Length: abc\r\n"): 400,
    get(b"Content-Length: \r\n"): 400,
    get(b"Content-Length: -1\r\n"): 400,
    get(b"Content-Length: +5\r\n"): 400,
    get(b"Content-Length: 5 5\r\n"): 400,
    get(b"Content-Length: 0x5\r\n"): 400,
    get(b"Content-Length: 5\r\n", b"Content-Length: 6\r\n"): 400,
    get(b"Content-Length: 10485761\r\n"): 413,
    get(b"Content-Length: 9223372036854775808\r\n"): 413,
    get(b"Transfer-Encoding: nonsense\r\n"): 501,
    get(b"A: " + b"x" * 66000 + b"\r\n"): 431,
    b"GET / HTTP/1.1\r\nA: " + b"x" * 200000: 431,
    b"x" * 200000: 431,
}


def everything(connection):
    """Returns what arrives until the end; a reset raises ConnectionResetError."""
    data = b""
    while piece := connection.recv(1 << 16):
        data += piece
    return data


class EachRung:
    """The tests of a rung; NAME is set by the classes below."""

    @classmethod
    def setUpClass(cls):
        rungs.allow_many_files()
        try:
            cls.rung = rungs.Rung(BINARIES, cls.NAME)
            cls.rung.__enter__()
        except rungs.Unavailable as missing:
            raise unittest.SkipTest(str(missing)) from missing

    @classmethod
    def tearDownClass(cls):
        cls.rung.__exit__()

    def tearDown(self):
        self.assertTrue(self.rung.is_alive())

    def answer(self, *pieces):
        """Sends pieces and returns (status, content) of the only answer; None if there is none."""
        with self.rung.connect() as connection:
            for piece in pieces:
                connection.sendall(piece)
            connection.shutdown(socket.SHUT_WR)
            answers = rungs.Answers(connection)
            first = answers.next()
            self.assertIsNone(answers.next())
            return first and (first[0], first[2])

    def largest_body(self):
        # A system call for each byte: all of 10 MiB take half a minute.
        return b"x" * (MAX_BODY // 64 if self.NAME == "naive" else MAX_BODY)

    def test_the_three_workloads(self):
        body = self.largest_body()
        self.assertEqual(self.answer(get()), (200, HELLO))
        self.assertEqual(self.answer(get(PADDING)), (200, HELLO))
        self.assertEqual(self.answer(post(body, PADDING)), (200, b"%d" % len(body)))

    def test_a_request_in_single_bytes(self):
        for request, expected in ((get(), HELLO), (post(b"y" * 100), b"100")):
            self.assertEqual(self.answer(*(request[i : i + 1] for i in range(len(request)))), (200, expected))

    def test_a_request_in_two_pieces(self):
        request = post(b"12345")
        for at in range(1, len(request)):
            self.assertEqual(self.answer(request[:at], request[at:]), (200, b"5"), at)
        head = post(b"", PADDING).replace(b"Content-Length: 0", b"Content-Length: 70000")
        self.assertEqual(self.answer(head, b"x" * 70000), (200, b"70000"))
        self.assertEqual(self.answer(head[:-2], b"\r\n" + b"x" * 70000), (200, b"70000"))

    def test_the_limits_themselves(self):
        whole = 64 * 1024
        head = get(b"A: %s\r\n" % (b"x" * (whole - len(get(b"A: \r\n")))))
        self.assertEqual(len(head), whole)
        self.assertEqual(self.answer(head), (200, HELLO))
        # The body doesn't count, even if it comes in one piece with the head.
        fields = len(post(b"z" * 4000)) - 4000
        padding = b"A: %s\r\n" % (b"x" * (whole - fields - len(b"A: \r\n")))
        self.assertEqual(self.answer(post(b"z" * 4000, padding)), (200, b"4000"))

    def test_a_client_that_waits_for_100_continue(self):
        with self.rung.connect() as connection:
            connection.sendall(post(b"12345", b"Expect: 100-continue\r\n")[:-5])
            data = b""
            while b"\r\n\r\n" not in data:
                data += connection.recv(100)
            self.assertTrue(data.startswith(b"HTTP/1.1 100 "), data)
            connection.sendall(b"12345")
            status, _, content = rungs.Answers(connection).next()
            self.assertEqual((status, content), (200, b"5"))

    def test_hostile_requests_are_refused(self):
        for request, expected in REFUSED.items():
            answer = self.answer(request)
            if self.NAME == "skua":
                self.assertTrue(answer is None or answer[0] >= 400, request[:100])
            else:
                self.assertEqual(answer, (expected, b""), request[:100])
        for digits in (b"18446744073709551615", b"9" * 100):
            self.assertIn(self.answer(get(b"Content-Length: ", digits, b"\r\n"))[0], (400, 413))
        self.assertEqual(self.answer(get()), (200, HELLO))

    def test_a_refusal_reaches_a_client_that_still_sends(self):
        with self.rung.connect() as connection:
            connection.sendall(get(b"Content-Length: 20000000\r\n"))
            connection.sendall(b"x" * 1_000_000)
            data = everything(connection)  # without a reset
            self.assertTrue(data.startswith(b"HTTP/1.1 413 "), data)
            self.assertEqual(data.count(b"HTTP/1.1"), 1)

    def test_clients_that_leave_early(self):
        request = post(b"x" * 1000)
        for size in (0, 1, 10, len(request) - 1000, len(request) - 1):
            with self.rung.connect() as connection:
                connection.sendall(request[:size])
        for size in (1, 10, len(request) - 1):
            with self.rung.connect() as connection:
                connection.sendall(request[:size])
                connection.shutdown(socket.SHUT_WR)
                data = everything(connection)
                self.assertNotIn(b" 200 ", data)
        self.assertEqual(self.answer(get()), (200, HELLO))

    def test_damaged_requests(self):
        chance = random.Random(self.NAME)
        for _ in range(100):
            request = bytearray(post(b"12345", b"Expect: 100-continue\r\n", b"Connection: a, b\r\n"))
            for _ in range(chance.randrange(1, 8)):
                request[chance.randrange(len(request))] = chance.choice(b"\r\n\0 :,0129ax\x7f\xff")
            with self.rung.connect() as connection:
                connection.sendall(request)
                connection.shutdown(socket.SHUT_WR)
                everything(connection)
        self.assertEqual(self.answer(get()), (200, HELLO))

    def test_the_page_states_its_costs(self):
        if not HAS_COUNTS:
            self.skipTest("a sanitizer adds calls of its own")
        try:
            costs = rungs.costs(BINARIES, self.NAME)
        except rungs.Unavailable as missing:
            self.skipTest(str(missing))
        self.assertEqual(tables.counts(PAGE.read_text()).get(self.NAME), costs)


class ClosesEachConnection(EachRung):
    def test_the_answer_says_so(self):
        with self.rung.connect() as connection:
            connection.sendall(get() * 2)
            status, head, _ = rungs.Answers(connection).next()
            self.assertEqual(status, 200)
            self.assertIn(b"\r\nConnection: close", head)
            self.assertEqual(connection.recv(1), b"")  # no reset, though a request is unread


class KeepsConnections(EachRung):
    def test_many_requests_on_a_connection(self):
        with self.rung.connect() as connection:
            answers = rungs.Answers(connection)
            for number in range(100):
                connection.sendall(post(b"x" * number, PADDING) + get())
                self.assertEqual(answers.next()[2], b"%d" % number)
                self.assertEqual(answers.next()[2], HELLO)

    def test_pipelined_requests_in_every_two_pieces(self):
        requests = get() + post(b"12345") + get(b"Connection: keep-alive, CLOSE\r\n") + get()
        for at in range(1, len(requests)):
            with self.rung.connect() as connection:
                connection.sendall(requests[:at])
                connection.sendall(requests[at:])
                answers = rungs.Answers(connection)
                self.assertEqual([answers.next()[2] for _ in range(3)], [HELLO, b"5", HELLO], at)
                # A server need not wait for a request after `close`, which may then reset the connection.
                is_late = at >= len(requests) - len(get())
                with contextlib.suppress(*[ConnectionResetError] * is_late):
                    self.assertIsNone(answers.next())

    def test_http_1_0_ends_after_its_answer(self):
        self.assertEqual(self.answer(b"GET / HTTP/1.0\r\nHost: a\r\n\r\n" * 2), (200, HELLO))

    def test_silent_clients_stop_nobody(self):
        silent = [self.rung.connect() for _ in range(50)]
        try:
            for connection in silent[::2]:
                connection.sendall(b"GET / HTTP/1.1\r\n")
            self.assertEqual(self.answer(get()), (200, HELLO))
        finally:
            for connection in silent:
                connection.close()

    def test_a_client_that_reads_late_gets_every_answer(self):
        count = 50_000
        data, sent, answers = get() * count, 0, 0
        with self.rung.connect() as connection:
            connection.setblocking(False)
            rest = b""
            while answers < count:
                # Reads only if nothing can be written, so that the rung meets full buffers.
                if select.select([], [connection] if sent < len(data) else [], [], 0.05)[1]:
                    sent += connection.send(data[sent:])
                    continue
                self.assertTrue(select.select([connection], [], [], 10)[0], f"{answers} of {count} answers")
                rest += connection.recv(1 << 20)
                answers += rest.count(HELLO)
                rest = rest[-len(HELLO) + 1 :]
            self.assertEqual(answers, count)


class ThePage(unittest.TestCase):
    def test_has_each_rung(self):
        self.assertEqual(tuple(tables.counts(PAGE.read_text())), rungs.NAMES)

    def test_keeps_its_text_when_a_table_is_replaced(self):
        page = "a\n<!-- counts -->\nold\n<!-- end of counts -->\nb\n"
        new = tables.replaced(page, "counts", tables.table(["rung", "n"], [["naive", "1"], ["skua", "20"]]))
        self.assertTrue(new.startswith("a\n") and new.endswith("\nb\n"))
        self.assertEqual(tables.counts(new), {"naive": ["1"], "skua": ["20"]})
        with self.assertRaises(ValueError):
            tables.replaced(page, "figures", "")


for rung_name in rungs.NAMES:
    base = ClosesEachConnection if rung_name in rungs.CLOSES else KeepsConnections
    class_name = rung_name.title().replace("-", "")
    globals()[class_name] = type(class_name, (base, unittest.TestCase), {"NAME": rung_name})

if __name__ == "__main__":
    HAS_COUNTS = COUNTS_FLAG not in sys.argv
    BINARIES, PAGE = (pathlib.Path(word) for word in sys.argv[1:3])
    unittest.main(argv=[sys.argv[0], *(word for word in sys.argv[3:] if word != COUNTS_FLAG)])
