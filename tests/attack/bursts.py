#!/usr/bin/env python3
# Bursts of every kind that make a server hold memory: heads, streams, bodies, messages, topics, sockets, handshakes, uploads
# through a gateway, logins. Each holds as much as it can at once and then leaves: ten seconds later the memory is back with the
# system. While strangers try passwords, a user's archive takes as long as without them.
import base64
import multiprocessing
import os
import pathlib
import resource
import socket
import statistics
import struct
import subprocess
import tempfile
import time

import h2
from harness import Server, arguments, check, settle
from serving import Served, request

KEPT_KIB, PATIENCE = 20 * 1024, 10
# What a burst has to hold at least: with less, memory that is never given back would not be found.
HELD_KIB = KEPT_KIB + 2 * 1024
UPGRADE = (b"GET %s HTTP/1.1\r\nHost: a\r\nUpgrade: websocket\r\nConnection: Upgrade\r\nSec-WebSocket-Version: 13\r\n"
           b"Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n\r\n")
# "open sesame", by bcrypt: a hash of it takes some 50 ms.
USER, PASSWORD, HASH = "ada", "open sesame", "$2b$10$abcdefghijklmnopqrstuu4SuEsu2LsUrAYUpWQHLMMc4GV5pZTxK"


class Gateway(Server):
    """A `skua proxy` with two threads, in front of one server."""

    def __init__(self, options, backend, port):
        binary = os.path.join(options.build, "bin", "skua")
        self.start([binary, "proxy", f"http://127.0.0.1:{port}", "--host", "127.0.0.1", "--port", "0", "--threads", "2",
                    "--quiet", "--backend", backend], backend, subprocess.DEVNULL)


def memory_kib(server):
    for line in pathlib.Path(f"/proc/{server.process.pid}/status").read_text().splitlines():
        if line.startswith("VmRSS:"):
            return int(line.split()[1])
    return 0


def connect(server, count, receive_bytes=None):
    peers = []
    for _ in range(count):
        sock = socket.socket()
        sock.settimeout(20)
        if receive_bytes:
            sock.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, receive_bytes)
        sock.connect(("127.0.0.1", server.port))
        peers.append(sock)
    return peers


def send_until_stuck(peers, data, most):
    """Sends each peer's data again and again, up to `most` bytes, as long as the server takes them; reads nothing."""
    left = {sock: most for sock in peers}
    for sock in peers:
        sock.setblocking(False)
    stuck_since = time.monotonic()
    while left and time.monotonic() < stuck_since + 1:
        for sock in list(left):
            try:
                left[sock] -= sock.send(data[:left[sock]])
                stuck_since = time.monotonic()
            except BlockingIOError:
                continue
            except OSError:  # the server has cut it off
                left[sock] = 0
            if left[sock] <= 0:
                del left[sock]


def heads(server):
    """Requests whose heads never end."""
    peers = connect(server, 800)
    send_until_stuck(peers, b"GET / HTTP/1.1\r\nHost: a\r\n" + b"".join(b"X-%d: %s\r\n" % (n, b"h" * 990) for n in range(60)), 58_000)
    return peers


def streams(server):
    """Requests whose responses nobody takes."""
    peers = [h2.Peer(server.port, h2.setting(4, 0)) for _ in range(150)]
    asked = b"".join(h2.request(stream, b"GET", b"/plaintext") for stream in range(1, 200, 2))
    for peer in peers:
        check(peer.send(asked), "streams were refused")
    return [peer.sock for peer in peers]


def bodies(server):
    """Contents that are kept until they are whole, and never are."""
    peers = connect(server, 60)
    for sock in peers:
        sock.sendall(b"POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 9000000\r\n\r\n")
    send_until_stuck(peers, bytes(100_000), 1_000_000)
    return peers


def sockets_of(server, path, count, receive_bytes=None):
    peers = connect(server, count, receive_bytes)
    for sock in peers:
        sock.sendall(UPGRADE % path)
        check(sock.recv(4096).startswith(b"HTTP/1.1 101 "), "there is no WebSocket")
    return peers


def messages(server):
    """Messages that never end."""
    peers = sockets_of(server, b"/ws", 60)
    for sock in peers:
        sock.sendall(struct.pack("!BBQ", 0x82, 0xFF, 16 << 20) + bytes(4))
    send_until_stuck(peers, bytes(100_000), 1_000_000)
    return peers


def topics(server):
    """Messages that are published to subscribers of which none reads, different ones for each."""
    subscribers = sockets_of(server, b"/subscribe", 300, 4096)
    (publisher,) = sockets_of(server, b"/publish", 1)
    for number in range(400):
        text = b"%08d" % number + b"t" * 60_000
        publisher.sendall(struct.pack("!BBH", 0x82, 0xFE, len(text)) + bytes(4) + text)
    publisher.sendall(b"\x89\x80" + bytes(4))
    check(publisher.recv(2) == b"\x8a\x00", "the publisher is not served")
    return [*subscribers, publisher]


def sockets(server):
    """Connections of a protocol of the server's own that send and read nothing."""
    peers = connect(server, 100, 4096)
    send_until_stuck(peers, bytes(64_000), 4_000_000)
    return peers


def handshakes(server):
    """Connections over TLS that have had a response, and wait."""
    peers = []
    for _ in range(1_600):
        peers.append(server.connect())
        peers[-1].sendall(b"GET /a.txt HTTP/1.1\r\nHost: localhost\r\n\r\n")
        check(peers[-1].recv(12)[9:12] == b"200", "a request was not answered")
    return peers


def uploads(server, upstream):
    """Contents that the server behind a gateway does not read. It ends, too: a gateway that reads nothing from a client because of
    that is not told that the client has gone."""
    peers = connect(server, 400)
    for sock in peers:
        sock.sendall(b"POST /stalled HTTP/1.1\r\nHost: a\r\nContent-Length: 9000000\r\n\r\n")
    send_until_stuck(peers, bytes(100_000), 4_000_000)
    return [*peers, upstream]


def log_in(server, user, password, source):
    """Sends a login from an address of this machine; returns its connection."""
    sock = socket.socket()
    sock.settimeout(20)
    sock.bind((source, 0))
    sock.connect(("127.0.0.1", server.port))
    token = base64.b64encode(f"{user}:{password}".encode())
    sock.sendall(b"GET /a.txt HTTP/1.1\r\nHost: localhost\r\nAuthorization: Basic " + token + b"\r\n\r\n")
    return sock


def source(number):
    """One of many addresses, as failures of each are counted."""
    return f"127.0.{number // 250 % 250 + 1}.{number % 250 + 1}"


def logins(server):
    """Wrong passwords of many users from many addresses, with as much as a password may be."""
    peers = []
    for number in range(2_000):
        peers.append(log_in(server, f"user{number}" + "u" * 2_000, "p" * 4_000, source(number)))
        if len(peers) == 500:
            for sock in peers:
                check(sock.recv(12)[9:12] in (b"401", b"429", b"503"), "a login was not refused")
                sock.close()
            peers.clear()
    return peers


def released(server, before):
    """Waits until the memory is back; returns what is kept, in KiB."""
    until = time.monotonic() + PATIENCE
    while (kept := memory_kib(server) - before) > KEPT_KIB and time.monotonic() < until:
        time.sleep(0.1)
    return kept


def burst(server, play, name, least_kib):
    settle(server)
    before = memory_kib(server)
    peers = play(server)
    settle(server)
    held = memory_kib(server) - before
    for sock in peers:
        sock.close()
    kept = released(server, before)
    print(f"{name}: held {held / 1024:.1f} MiB, kept {kept / 1024:.1f} MiB", flush=True)
    check(held >= least_kib, f"{name}: {held} KiB are too little to show anything")
    check(kept <= KEPT_KIB, f"{name}: {kept} KiB were not released")
    check(server.process.poll() is None, f"{name}: the server is gone")


# Passwords beside work ---------------------------------------------------------------------------------------------------------


class Port:
    """What log_in() needs of a server in another process."""

    def __init__(self, port):
        self.port = port


def try_passwords(port, is_over, refused):
    """64 wrong logins a second, from as many addresses; counts the answers."""
    number, begin, peers = 0, time.monotonic(), []
    while not is_over.is_set():
        if number < 64 * (time.monotonic() - begin):
            peers.append(log_in(Port(port), f"user{number % 20}", f"wrong{number}", source(number)))
            number += 1
        else:
            time.sleep(0.005)
        if len(peers) > 128:
            with peers.pop(0) as sock:
                refused.value += sock.recv(12)[9:12] in (b"401", b"429", b"503")


def archive_ms(server):
    token = base64.b64encode(f"{USER}:{PASSWORD}".encode())
    begin = time.monotonic()
    answer = server.ask(request(b"GET", b"/small/?archive=zip", b"", b"Authorization: Basic " + token))
    check(answer and answer[0] == 200 and b"PK" in answer[2][:16], f"instead of an archive {answer and answer[0]}")
    return (time.monotonic() - begin) * 1000


def archives(server, name):
    """A user's archives take as long as without strangers who try passwords."""
    archive_ms(server)  # the login of the user is verified
    alone = [archive_ms(server) for _ in range(15)]
    is_over, refused = multiprocessing.Event(), multiprocessing.Value("i")
    attacker = multiprocessing.Process(target=try_passwords, args=(server.port, is_over, refused))
    attacker.start()
    beside, until = [], time.monotonic() + 40
    while len(beside) < 45 and time.monotonic() < until:
        before = refused.value
        if before >= 64:  # the queue of hashes is full, and stays so
            beside.append(archive_ms(server))
        while refused.value == before and time.monotonic() < until:
            time.sleep(0.001)
    is_over.set()
    attacker.join()
    print(f"{name}: an archive takes {statistics.median(alone):.1f} ms, beside {refused.value} refused logins "
          f"{statistics.median(beside or [0]):.1f} ms", flush=True)
    check(len(beside) == 45, f"{name}: only {refused.value} logins were refused in 40 s")
    # In a queue with hashes, each archive would wait for several of them; the quickest ones tell that from a busy machine.
    check(min(beside) <= 2 * statistics.median(alone), f"{name}: an archive takes {min(beside):.1f} ms at least")


def run(options, backend, folder):
    for play, mode in ((heads, "plaintext"), (streams, "plaintext"), (bodies, "echo"), (messages, "conformance"),
                       (topics, "ws-echo"), (sockets, "tcp-echo")):
        with Server(options, backend, mode) as server:
            burst(server, play, f"{backend}: {play.__name__}", HELD_KIB if play is not topics else 0)
    if not os.path.exists(os.path.join(options.build, "bin", "skua")):
        return
    with socket.create_server(("127.0.0.1", 0), backlog=1000) as upstream:  # accepts nothing
        with Gateway(options, backend, upstream.getsockname()[1]) as server:
            burst(server, lambda gateway: uploads(gateway, upstream), f"{backend}: uploads", HELD_KIB)
    with Served(options, folder, "--tls-self-signed", backend=backend) as server:
        burst(server, handshakes, f"{backend}: handshakes", HELD_KIB)
    passwords = pathlib.Path(folder).parent / "passwords"
    passwords.write_text(f"{USER}:{HASH}\n")
    with Served(options, folder, "--auth", str(passwords), "--archive", backend=backend) as server:
        burst(server, logins, f"{backend}: logins", 0)
        archives(server, f"{backend}: archives")


OPTIONS = arguments()
FEW, MANY = resource.getrlimit(resource.RLIMIT_NOFILE)
resource.setrlimit(resource.RLIMIT_NOFILE, (max(FEW, min(4096, MANY)), MANY))
with tempfile.TemporaryDirectory() as temporary:
    site = pathlib.Path(temporary) / "site"
    (site / "small").mkdir(parents=True)
    (site / "small" / "a.txt").write_text("abc")
    (site / "a.txt").write_text("abc")
    for one in [OPTIONS.backend] if OPTIONS.backend else ("epoll", "io_uring"):
        run(OPTIONS, one, site)
