#!/usr/bin/env python3
# Hundreds of clients of a gateway read a large response slowly, and others send large content to an upstream server that is slow
# to read it, over HTTP/1 and HTTP/2: each costs the gateway a bounded amount of memory, however long it stays, and no byte is
# lost. Another client is served meanwhile, and the memory of those that have left serves the next ones.
import os
import pathlib
import random
import resource
import socket
import tempfile
import time

import h2
from harness import BACKENDS, Reader, Server, arguments, check, settle

SIZE = 10_000_000  # of a response, or of a request's content
STEPS, STEP = 32, 16384  # how often the slow side goes on before each measurement, and by how many bytes
SEGMENT = 1400  # as on a network: the system keeps much more for a connection of the loopback device
LARGEST_WINDOW = 2**31 - 1
STREAMS = 100  # of a connection that has several
CONTENT = random.Random(1).randbytes(SIZE)
SPARE_KIB = 16 * 1024  # beside what each client takes
# While nothing but time passes, memory may grow by SPARE_KIB and an eighth: texts that grow leave gaps between them.
FLAT = 8
# For a client that reads there is what its socket has not taken, with its HTTP/2 frames, and what has arrived since.
READING_KIB, READING_STREAM_KIB = 448, 320
# For one that sends, likewise; over HTTP/2 also the stream's window, which may grow by 4 MiB while the server is quick.
SENDING_KIB, SENDING_STREAM_KIB = 384, 4 * 1024 + 384

# What may still arrive when a connection has stopped receiving is 1 MiB, and texts grow by doubling.
BATCH_KIB = {"io_uring": 2048}


class Gateway(Server):
    """A `skua proxy` with one thread, in front of one server."""

    def __init__(self, options, backend, port):
        binary = os.path.join(options.build, "bin", "skua")
        self.start([binary, "proxy", f"http://127.0.0.1:{port}", "--host", "127.0.0.1", "--port", "0", "--threads", "1", "--backend", backend], backend)


def slow_socket():
    """Returns a socket for which both systems keep little."""
    sock = socket.socket()
    sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_MAXSEG, SEGMENT)
    sock.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 16384)
    sock.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, 16384)
    sock.settimeout(30)
    return sock


def connect(gateway):
    sock = slow_socket()
    sock.connect(("127.0.0.1", gateway.port))
    return sock


# Clients that read ------------------------------------------------------------------------------------------------------------


class Reading:
    """A client of HTTP/1 that reads a response."""

    streams = 1

    def __init__(self, gateway, _):
        self.sock = connect(gateway)
        self.sock.sendall(b"GET /large HTTP/1.1\r\nHost: a\r\n\r\n")
        self.head, self.received = b"", 0

    def read(self, size):
        data = self.sock.recv(size)
        check(data, "a slow client was cut off")
        if not self.head.endswith(b"\r\n\r\n"):
            end = (self.head + data).find(b"\r\n\r\n") + 4
            check(end > 3, "a slow client got no head at once")
            self.head, data = (self.head + data)[:end], (self.head + data)[end:]
            check(self.head.startswith(b"HTTP/1.1 200 "), f"a slow client got {self.head[:40]}")
        check(data == CONTENT[self.received:self.received + len(data)], "a slow client got other bytes")
        self.received += len(data)


class ReadingStreams:
    """A connection of HTTP/2 that reads a response on each of its streams.

    Every other client has windows that hold back nothing, so that the gateway's socket does; the windows of the others are small.
    """

    def __init__(self, gateway, number, streams=1):
        self.sock, self.streams, self.data = connect(gateway), streams, b""
        self.is_open = number % 2 == 0
        window = h2.setting(4, LARGEST_WINDOW) if self.is_open else b""
        more = h2.frame(h2.WINDOW_UPDATE, 0, 0, (LARGEST_WINDOW - 65535).to_bytes(4, "big"))
        self.received = dict.fromkeys(range(1, 2 * streams, 2), 0)
        self.sock.sendall(h2.PREFACE + h2.frame(h2.SETTINGS, 0, 0, window) + more +
                          b"".join(h2.request(stream, b"GET", b"/large") for stream in self.received))

    def read(self, size):
        data = self.sock.recv(size * self.streams)
        check(data, "a slow client was cut off")
        self.data += data
        while len(self.data) >= 9 and len(self.data) >= (end := 9 + int.from_bytes(self.data[:3], "big")):
            kind, flags, stream, payload = self.data[3], self.data[4], int.from_bytes(self.data[5:9], "big"), self.data[9:end]
            self.data = self.data[end:]
            self.handle(kind, flags, stream, payload)

    def handle(self, kind, flags, stream, payload):
        check(kind not in (h2.GOAWAY, h2.RST_STREAM), "a slow client was cut off")
        if kind == h2.SETTINGS and not flags & h2.ACK:
            self.sock.sendall(h2.frame(h2.SETTINGS, h2.ACK, 0))
        if kind == h2.DATA:
            at = self.received[stream]
            check(payload == CONTENT[at:at + len(payload)], "a slow client got other bytes")
            self.received[stream] += len(payload)
            if payload and not self.is_open:
                self.sock.sendall(h2.frame(h2.WINDOW_UPDATE, 0, stream, len(payload).to_bytes(4, "big")))


def reading_many(gateway, number):
    return ReadingStreams(gateway, number, STREAMS)


# Clients that send ------------------------------------------------------------------------------------------------------------


class Sending:
    """A client of HTTP/1 that sends content as fast as it is taken."""

    streams = 1

    def __init__(self, gateway, number):
        self.sock, self.sent = connect(gateway), 0
        self.sock.setblocking(False)
        self.waiting = b"POST /%d HTTP/1.1\r\nHost: a\r\nContent-Length: %d\r\n\r\n" % (number, SIZE)

    def go_on(self):
        """Reports whether anything could be sent."""
        has_sent = False
        try:
            while self.waiting or self.more():
                self.waiting = self.waiting[self.sock.send(self.waiting):]
                has_sent = True
        except BlockingIOError:
            pass
        return has_sent

    def more(self):
        self.waiting = CONTENT[self.sent:self.sent + 16384]
        self.sent += len(self.waiting)
        return bool(self.waiting)

    def answer(self):
        self.sock.settimeout(30)
        return Reader(self.sock).answer()[2]


class SendingStream(Sending):
    """The same over HTTP/2, as far as the windows of the stream and of the connection permit."""

    def __init__(self, gateway, number):
        super().__init__(gateway, number)
        self.data, self.windows, self.initial, self.answered = b"", {0: 65535, 1: 65535}, 65535, b""
        self.waiting = b""
        self.sock.settimeout(30)
        self.sock.sendall(h2.PREFACE + h2.frame(h2.SETTINGS, 0, 0))
        while not self.waiting:  # the acknowledgement of the gateway's settings, which tells it how far away the client is
            self.receive()
        self.sock.setblocking(False)
        self.waiting += h2.request(1, b"POST", b"/%d" % number, (b"content-length", b"%d" % SIZE), flags=h2.END_HEADERS)

    def go_on(self):
        return self.receive() or super().go_on()

    def more(self):
        size = min(16384, SIZE - self.sent, *self.windows.values())
        if size <= 0:
            return False
        payload = CONTENT[self.sent:self.sent + size]
        self.sent += size
        self.windows = {stream: left - size for stream, left in self.windows.items()}
        self.waiting = h2.frame(h2.DATA, h2.END_STREAM if self.sent == SIZE else 0, 1, payload)
        return True

    def receive(self):
        """Reports whether anything could be received."""
        try:
            data = self.sock.recv(65536)
        except BlockingIOError:
            return False
        check(data, "a client that sends was cut off")
        self.data += data
        while len(self.data) >= 9 and len(self.data) >= (end := 9 + int.from_bytes(self.data[:3], "big")):
            kind, flags, stream, payload = self.data[3], self.data[4], int.from_bytes(self.data[5:9], "big"), self.data[9:end]
            self.data = self.data[end:]
            check(kind not in (h2.GOAWAY, h2.RST_STREAM), "a client that sends was cut off")
            if kind == h2.WINDOW_UPDATE:
                self.windows[stream] += int.from_bytes(payload, "big")
            elif kind == h2.SETTINGS and not flags & h2.ACK:
                self.waiting += h2.frame(h2.SETTINGS, h2.ACK, 0)
                for at in range(0, len(payload), 6):
                    if payload[at:at + 2] == b"\0\4":  # SETTINGS_INITIAL_WINDOW_SIZE
                        initial = int.from_bytes(payload[at + 2:at + 6], "big")
                        self.windows[1] += initial - self.initial
                        self.initial = initial
            elif kind == h2.DATA:
                self.answered += payload
        return True

    def answer(self):
        self.sock.settimeout(30)
        while not self.answered:
            self.receive()
        return self.answered


class Upstream:
    """A server that reads content only when it is told to."""

    def __init__(self):
        self.listener = slow_socket()
        self.listener.bind(("127.0.0.1", 0))
        self.listener.listen(4096)
        self.listener.setblocking(False)
        self.port = self.listener.getsockname()[1]
        self.connections = []

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.leave()
        self.listener.close()

    def leave(self):
        for connection in self.connections:
            connection.sock.close()
        self.connections = []

    def accept(self):
        """Reports whether somebody has connected."""
        before = len(self.connections)
        try:
            while True:
                self.connections.append(Receiving(self.listener.accept()[0]))
        except BlockingIOError:
            return len(self.connections) > before


class Receiving:
    """A connection of the gateway to the upstream server."""

    def __init__(self, sock):
        self.sock, self.head, self.received = sock, b"", 0
        sock.setblocking(False)

    def read(self, size):
        """Takes up to so many bytes."""
        try:
            data = self.sock.recv(size)
        except BlockingIOError:
            return
        check(data, "the gateway has ended a request")
        if not self.head.endswith(b"\r\n\r\n"):
            self.head += data
            if (end := self.head.find(b"\r\n\r\n") + 4) < 4:
                return
            self.head, data = self.head[:end], self.head[end:]
        check(data == CONTENT[self.received:self.received + len(data)], "the upstream server got other bytes")
        self.received += len(data)

    def answer(self):
        self.sock.setblocking(True)
        text = b"%d" % self.received
        self.sock.sendall(b"HTTP/1.1 200 OK\r\nContent-Length: %d\r\n\r\n" % len(text) + text)


# Attacks ----------------------------------------------------------------------------------------------------------------------


def wait_until_left(gateway, idle):
    until = time.monotonic() + 30
    while gateway.descriptors() > idle:
        check(time.monotonic() < until, "the gateway keeps connections of clients that have left")
        time.sleep(0.01)


def download(gateway):
    with gateway.connect(60) as sock:
        sock.sendall(b"GET /large HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n")
        head, _, content = b"".join(iter(lambda: sock.recv(1 << 20), b"")).partition(b"\r\n\r\n")
        check(head.startswith(b"HTTP/1.1 200 ") and content == CONTENT, "another client got something else")


def read_slowly(gateway, make, count):
    """Returns the memory that is taken once the clients have read a little, and once they have read some more."""
    clients = [make(gateway, number) for number in range(count)]
    taken = []
    for _ in range(2):
        for _ in range(STEPS):
            for client in clients:
                client.read(STEP)
        settle(gateway)
        taken.append(gateway.rss_kib())
    download(gateway)
    for client in clients:
        client.sock.close()
    return taken


def send_slowly(gateway, upstream, make, count):
    """Returns the memory that is taken once the upstream server has read a little, and once it has read some more."""
    clients = [make(gateway, number) for number in range(count)]

    def go_on():
        return any([upstream.accept(), *(client.go_on() for client in clients)])

    settle(gateway, lambda: go_on() or len(upstream.connections) < count)
    check(len(upstream.connections) == count, f"{len(upstream.connections)} of {count} requests are passed on")
    taken = []
    for _ in range(2):
        for _ in range(STEPS):
            for connection in upstream.connections:
                connection.read(STEP)
            go_on()
        settle(gateway, go_on)
        taken.append(gateway.rss_kib())
    finish(upstream, clients)
    for client in clients:
        client.sock.close()
    return taken


def finish(upstream, clients):
    """Lets the first client come to its end."""
    for connection in upstream.connections:
        while not connection.head.endswith(b"\r\n\r\n"):
            connection.read(STEP)
    connection = next(one for one in upstream.connections if one.head.startswith(b"POST /0 "))
    while connection.received < SIZE:
        clients[0].go_on()
        connection.read(1 << 20)
    connection.answer()
    check(clients[0].answer() == b"%d" % SIZE, "the client that has sent everything got another answer")


def is_flat(before, after):
    return after - before < SPARE_KIB + before // FLAT


def attack(what, gateway, wave, clients, per_client_kib, is_steady=True):
    """Runs an attack twice; `wave` performs it once. If it is not steady, only the bound holds."""
    before, idle = gateway.rss_kib(), gateway.descriptors()
    found = []
    for _ in range(2):
        found.append(wave())
        wait_until_left(gateway, idle + 2)  # one to the upstream server may wait for the next request
    most = max(map(max, found)) - before
    print(f"{what}: {clients} clients take {most / 1024:.1f} MiB, {most / clients:.0f} KiB each; then "
          f"{', '.join(f'{second - first:+} KiB' for first, second in found)}; the second time {found[1][1] - found[0][1]:+} KiB", flush=True)
    check(most < clients * per_client_kib + SPARE_KIB, f"{what}: {most} KiB for {clients} clients")
    check(not is_steady or all(is_flat(first, second) for first, second in found), f"{what}: memory grows with time: {found}")
    check(not is_steady or is_flat(found[0][1], found[1][1]), f"{what}: memory is not given back: {found}")
    check(gateway.is_alive(), f"{what}: the gateway is gone")


def downloads(options, backend, folder, count):
    for what, make, connections, streams, most in (("HTTP/1", Reading, count, 1, READING_KIB), ("HTTP/2", ReadingStreams, count, 1, READING_KIB),
                                                   (f"HTTP/2, {STREAMS} streams each", reading_many, count // STREAMS, STREAMS, READING_STREAM_KIB)):
        with Server(options, backend, "files", str(folder)) as upstream, Gateway(options, backend, upstream.port) as gateway:
            download(gateway)
            attack(f"{backend}, down, {what}", gateway, lambda: read_slowly(gateway, make, connections), connections * streams, most + BATCH_KIB.get(backend, 0),
                   backend not in BATCH_KIB)


def uploads(options, backend, count):
    for what, make, most, is_steady in (("HTTP/1", Sending, SENDING_KIB, True), ("HTTP/2", SendingStream, SENDING_STREAM_KIB, False)):
        with Upstream() as upstream, Gateway(options, backend, upstream.port) as gateway:
            def wave():
                taken = send_slowly(gateway, upstream, make, count)
                upstream.leave()
                return taken

            attack(f"{backend}, up, {what}", gateway, wave, count, most + BATCH_KIB.get(backend, 0), is_steady and backend not in BATCH_KIB)


def main():
    options = arguments(clients=500, senders=125)
    limit = resource.getrlimit(resource.RLIMIT_NOFILE)[1]
    resource.setrlimit(resource.RLIMIT_NOFILE, (limit, limit))
    with tempfile.TemporaryDirectory() as temporary:
        folder = pathlib.Path(temporary)
        (folder / "large").write_bytes(CONTENT)
        for backend in [options.backend] if options.backend else BACKENDS:
            is_main = options.long or backend == BACKENDS[0] or options.backend  # the others have a tenth
            downloads(options, backend, folder, options.clients if is_main else max(STREAMS, options.clients // 10))
            uploads(options, backend, options.senders if is_main else options.senders // 10)


main()
