#!/usr/bin/env python3
# Unauthorized uploads: two hundred HTTP/1 connections, then a hundred requests on one HTTP/2 connection,
# 10 MB each. All are answered before they send any content, and content sent anyway costs no memory.
import h2
from harness import Reader, Server, arguments, check, for_each_backend

MOST_KIB = 20 * 1024
BODY = 10_000_000
PIECE = b"0" * 64_000


def many_connections(server):
    head = b"POST /guarded HTTP/1.1\r\nHost: a\r\nContent-Length: %d\r\n\r\n" % BODY
    sockets = [server.connect(20) for _ in range(200)]
    for sock in sockets:
        sock.sendall(head)
    for sock in sockets:
        answer = Reader(sock).answer()
        check(answer and answer[0] == 401, f"the answer was {answer}")
    for sock in sockets:
        sock.setblocking(False)
        try:
            while sock.send(PIECE):
                pass
        except OSError:  # the server does not read, or has closed
            pass
    return sockets


def one_connection(server):
    with h2.Peer(server.port, timeout=20) as peer:
        for stream in range(1, 201, 2):
            peer.send(h2.request(stream, b"POST", b"/guarded", flags=h2.END_HEADERS))
        waiting = set(range(1, 201, 2))
        while waiting:
            got = peer.frame()
            check(got is not None, f"the connection ended before {len(waiting)} answers")
            kind, _, stream, _ = got
            if kind == h2.HEADERS:
                waiting.discard(stream)


def attack(options, backend):
    with Server(options, backend, "refuse") as server:
        start = server.rss_kib()
        sockets = many_connections(server)
        one_connection(server)
        cost = server.peak_kib() - start
        print(f"{backend}: 200 uploads and 100 over HTTP/2 were refused, at most {cost / 1024:.1f} MiB", flush=True)
        check(cost < MOST_KIB, f"{backend}: it took {cost} KiB")
        for sock in sockets:
            sock.close()


OPTIONS = arguments()
for_each_backend(OPTIONS, attack)
