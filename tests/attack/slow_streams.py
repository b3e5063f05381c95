#!/usr/bin/env python3
# A thousand peers read an endless stream slowly: each costs no more memory than its high-water mark, and
# a fast client is not slowed down.
import socket
import time

from harness import GET, Reader, Server, arguments, check, for_each_backend, settle

STREAM = b"GET /stream HTTP/1.1\r\nHost: a\r\n\r\n"


def p99(server, count, readers=()):
    """The p99 in seconds of requests on a kept connection, while `readers` read a little each."""
    took = []
    with server.connect() as sock:
        reader = Reader(sock)
        for i in range(count):
            for slow in readers[i * 2 % 1000:][:2]:
                slow.recv(1024)
            begin = time.perf_counter()
            sock.sendall(GET)
            check(reader.answer(), "a fast client was not answered")
            took.append(time.perf_counter() - begin)
    return sorted(took)[count * 99 // 100]


def slow_reader(server):
    sock = socket.socket()
    sock.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
    sock.settimeout(10)
    sock.connect(("127.0.0.1", server.port))
    sock.sendall(STREAM)
    return sock


def attack(options, backend):
    with Server(options, backend, "stream") as server:
        p99(server, 500)
        before = server.rss_kib()
        readers = []
        quiet, busy = [], []
        for _ in range(options.rounds):  # alternately without and with slow readers
            quiet.append(p99(server, 500))
            readers = [slow_reader(server) for _ in range(options.peers)]
            for sock in readers:
                check(sock.recv(1024), f"{backend}: a slow reader was rejected")
            settle(server)  # has filled the buffers of the slow readers
            busy.append(p99(server, 500, readers))
            growth = server.rss_kib() - before
            for sock in readers:
                check(sock.recv(1024), f"{backend}: a slow reader was cut off")
            for sock in readers:
                sock.close()
            while server.descriptors() > 40:
                time.sleep(0.01)
        ratio = sorted(b / q for b, q in zip(busy, quiet))[options.rounds // 2]
        most = options.peers * 128 // 1024 + 16  # MiB: twice the 64 KiB mark, which includes overhead
        print(f"{backend}: {options.peers} slow readers, grew {growth / 1024:.1f} MiB, p99 of a fast client "
              f"{sorted(quiet)[options.rounds // 2] * 1e6:.0f} us without them, {ratio:.2f}x with them", flush=True)
        check(growth < most * 1024, f"{backend}: grew by {growth} KiB")
        # Other work on the machine distorts a p99, so --long should run on an idle one.
        check(max(busy) < 0.5, f"{backend}: a fast client waits for {max(busy):.3f} s")
        is_bound = options.long and backend != "poll"  # poll scans every descriptor on every turn
        check(not is_bound or ratio < 2, f"{backend}: a fast client waits {ratio:.1f} times as long")
        check(server.is_alive(), f"{backend}: the server is gone")


OPTIONS = arguments(peers=1000, rounds=3)
for_each_backend(OPTIONS, attack)
