#!/usr/bin/env python3
# A server with little memory, and unfinished uploads that want all of it. It may refuse or abort them, but
# keeps running, and another client's connection is unaffected. Then unfinished heads, which use up the last
# of the memory: no client can be served meanwhile, but all can be afterwards.
import resource
import select
import time

import h2
from harness import GET, Reader, Server, arguments, check, for_each_backend

UPLOADS = 40
HEADS = 2500
BODY = 9_000_000
PIECE = b"0" * 16_000
HEAD = b"POST / HTTP/1.1\r\nHost: a\r\nContent-Length: %d\r\n\r\n" % BODY
SPARE_BYTES = 24 * 1024 * 1024  # less than the server's own budget for content, more than a thread's stack


class Upload:
    """Sends content as fast as the server takes it, except the last byte."""

    def __init__(self, sock, head):
        self.sock, self.left, self.waiting = sock, BODY - 1, head
        sock.setblocking(False)

    def send(self):
        """Reports whether there is more to send."""
        try:
            if not self.waiting:
                self.waiting = self.more()
            self.waiting = self.waiting[self.sock.send(self.waiting):]
        except BlockingIOError:
            pass
        except OSError:  # the server aborted it
            return False
        return bool(self.waiting) or self.left > 0

    def more(self):
        piece = PIECE[:self.left]
        self.left -= len(piece)
        return piece


class StreamUpload(Upload):
    """An upload over HTTP/2 that fills the stream's initial window."""

    def __init__(self, server):
        self.peer = h2.Peer(server.port, timeout=10)
        super().__init__(self.peer.sock, h2.request(1, b"POST", b"/", flags=h2.END_HEADERS))
        self.left = 65_000

    def more(self):
        return h2.frame(h2.DATA, 0, 1, super().more())


def unfinished_head(server):
    sock = server.connect()
    fields = b"".join(b"X-%d: %s\r\n" % (number, b"x" * 150) for number in range(90))
    sock.sendall(b"GET / HTTP/1.1\r\nHost: a\r\n" + fields)
    return sock


def over_http1(server):
    return Upload(server.connect(), HEAD)


def opened(begin, server, count):
    """Begins up to `count` connections; returns those that the server accepted."""
    uploads = []
    for _ in range(count):
        try:
            uploads.append(begin(server))
        except OSError:  # closed at once
            continue
    return uploads


def answer(sock, request):
    sock.sendall(request)
    return Reader(sock).answer()


def starve(server, uploads):
    going = list(uploads)
    while going:
        _, ready, _ = select.select([], [upload.sock for upload in going], [], 1)
        if not ready:
            return
        going = [upload for upload in going if upload.sock not in ready or upload.send()]


def exhaust(options, backend):
    with Server(options, backend, "conformance") as server:
        limit = server.memory_kib("VmSize:") * 1024 + SPARE_BYTES
        resource.prlimit(server.process.pid, resource.RLIMIT_AS, (limit, limit))
        heads = opened(unfinished_head, server, HEADS)
        for head in heads:
            head.close()
        served = None
        until = time.monotonic() + 10
        while served is None and server.is_alive() and time.monotonic() < until:
            try:
                with server.connect() as sock:
                    served = answer(sock, GET)
            except OSError:  # still out of memory
                pass
        check(server.is_alive(), f"{backend}, heads: the server is gone")
        check(served and served[0] == 200, f"{backend}, heads: afterwards another client got {served}")
        print(f"{backend}, {len(heads)} heads: all clients are served afterwards", flush=True)


def attack(options, backend):
    exhaust(options, backend)
    for what, begin in (("HTTP/1", over_http1), ("HTTP/2", StreamUpload)):
        with Server(options, backend, "conformance") as server:
            if what == "HTTP/2" and not h2.is_spoken_at(server.port):
                return
            with server.connect() as other:
                check(answer(other, GET), f"{backend}: no answer before")
                limit = server.memory_kib("VmSize:") * 1024 + SPARE_BYTES
                resource.prlimit(server.process.pid, resource.RLIMIT_AS, (limit, limit))
                count = UPLOADS if what == "HTTP/1" else 10 * UPLOADS
                uploads = opened(begin, server, count)
                starve(server, uploads)
                check(server.is_alive(), f"{backend}, {what}: the server is gone")
                got = answer(other, GET)
                check(got and got[0] == 200, f"{backend}, {what}: another client got {got}")
                told, _, _ = select.select([upload.sock for upload in uploads], [], [], 0)
                if what == "HTTP/1":
                    check(told, f"{backend}: there was memory for everything")
                for upload in uploads:
                    upload.sock.close()
                got = answer(other, b"POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 5\r\n\r\nsmall")
                check(got and got[2] == b"small", f"{backend}, {what}: afterwards a small upload got {got}")
            print(f"{backend}, {what}: {len(told)} of {len(uploads)} uploads got a response, other clients unaffected", flush=True)


_, most = resource.getrlimit(resource.RLIMIT_NOFILE)
resource.setrlimit(resource.RLIMIT_NOFILE, (most, most))
OPTIONS = arguments()
for_each_backend(OPTIONS, attack)
