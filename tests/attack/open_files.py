#!/usr/bin/env python3
# Nearly as many connections as the process may have open files, and more: every connected client still gets its file,
# and none gets 503. Connections beyond the cap wait until others close.
import os
import resource
import select
import socket
import tempfile
import time

import h2
from harness import Server, arguments, check, for_each_backend

BODY = b"x" * 100_000  # more than the server caches in memory
PATIENCE = 30  # seconds
# RFC 9113 section 6.5.2: INITIAL_WINDOW_SIZE
WINDOW = h2.setting(4, 1 << 20)
HELLO = h2.PREFACE + h2.frame(h2.SETTINGS, 0, 0, WINDOW) + h2.frame(h2.WINDOW_UPDATE, 0, 0, (1 << 20).to_bytes(4, "big"))


def raise_own_limit():
    hard = resource.getrlimit(resource.RLIMIT_NOFILE)[1]
    resource.setrlimit(resource.RLIMIT_NOFILE, (hard, hard))
    return hard


class Client:
    """Requests the file, and reads data as it arrives."""

    def __init__(self, port):
        self.sock = socket.create_connection(("127.0.0.1", port))
        self.sock.setblocking(False)
        self.data = b""
        self.verdict = None  # True: the whole file arrived; False: anything else

    def read(self):
        try:
            piece = self.sock.recv(1 << 18)
        except BlockingIOError:
            return
        except ConnectionResetError:
            piece = b""
        self.data += piece
        self.verdict = self.judge()
        if self.verdict is None and not piece:
            self.verdict = False


class Http1(Client):
    def ask(self):
        self.sock.send(b"GET /file HTTP/1.1\r\nHost: a\r\n\r\n")

    def judge(self):
        head, end, content = self.data.partition(b"\r\n\r\n")
        if not end:
            return None
        if not head.startswith(b"HTTP/1.1 200 "):
            return False
        return True if content == BODY else None


class Http2(Client):
    content_bytes = 0

    def ask(self):
        self.sock.send(HELLO + h2.request(1, b"GET", b"/file"))

    def judge(self):
        while len(self.data) >= 9 and len(self.data) >= 9 + (size := int.from_bytes(self.data[:3], "big")):
            kind, is_last = self.data[3], self.data[4] & h2.END_STREAM
            self.data = self.data[9 + size:]
            if kind == h2.DATA:
                self.content_bytes += size
            if kind in (h2.RST_STREAM, h2.GOAWAY):
                return False
            if kind in (h2.DATA, h2.HEADERS) and is_last:
                return self.content_bytes == len(BODY)
        return None


def read_until(clients, enough, closes):
    """Reads until `enough` clients have a verdict; `closes`: closes those that do."""
    poll, waiting, end = select.poll(), {}, time.monotonic() + PATIENCE
    for client in clients:
        if client.verdict is None:
            waiting[client.sock.fileno()] = client
            poll.register(client.sock, select.POLLIN)
        elif closes:
            client.sock.close()
    while len(clients) - len(waiting) < enough and time.monotonic() < end:
        for descriptor, _ in poll.poll(1000):
            client = waiting[descriptor]
            client.read()
            if client.verdict is None:
                continue
            poll.unregister(descriptor)
            del waiting[descriptor]
            if closes:
                client.sock.close()
    return sum(client.verdict is True for client in clients), sum(client.verdict is False for client in clients)


def attack(options, backend):
    with tempfile.TemporaryDirectory() as folder:
        with open(os.path.join(folder, "file"), "wb") as file:
            file.write(BODY)
        for kind, files, count, least in ((Http1, 256, 200, 200), (Http2, 256, 200, 200), (Http1, 1024, 1500, 880)):
            name = f"{backend}, {kind.__name__}, ulimit -n {files}, {count} connections"
            with Server(options, backend, mode="files", folder=folder, files=files, threads=2) as server:
                clients = [kind(server.port) for _ in range(count)]
                for client in clients:
                    client.ask()
                served, refused = read_until(clients, least, closes=False)
                check(served >= least, f"{name}: {served} were served, not {least}")
                served, refused = read_until(clients, count, closes=True)
                print(f"{name}: {served} served, {refused} refused", flush=True)
                check(served == count, f"{name}: {refused} were refused, {count - served - refused} never served")
                check(server.is_alive(), f"{name}: the server is gone")


OPTIONS = arguments()
if raise_own_limit() >= 2000:
    for_each_backend(OPTIONS, attack)
else:
    print("skipped: this process may not open 2000 files")
