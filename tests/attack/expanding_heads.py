#!/usr/bin/env python3
# Peers that send one long field and a hundred requests that refer to it on each connection, so that 12 kB stand for 6 MB, and
# that take no byte of a response, or never end their requests. What they make a server or a gateway hold is what the same
# requests without the field cost, and a little more; others are served, and nothing is kept once they have left. HTTP/2, also
# over TLS.
import os
import pathlib
import ssl
import subprocess
import tempfile
import time

import h2
from harness import BACKENDS, Server, arguments, check, settle
from serving import Served, can_serve

STREAMS, REFERENCES, FIELD = 100, 15, b"l" * 3900
REFERENCE = b"\xbe"  # the newest field of the dynamic table
CONNECTIONS = (20, 100)
# What a stream costs whose response waits for its window; in a gateway, with the request that it passes on.
STREAM_KIB, PASSED_ON_KIB = 4, 16
# Heads of requests that have been answered cost a connection nothing but the field itself. Handlers that wait keep theirs: 64 KiB
# for each connection, and 32 MiB for the whole server (Limits::head_bytes and server_head_bytes), besides what a gateway writes.
MORE_KIB, BUDGET_KIB, ROUNDING = 64, 32 * 1024, 1.5
KEPT_KIB, PATIENCE = 8 * 1024, 10


class Gateway(Server):
    """A `skua proxy` with one thread, in front of one server that it speaks HTTP/2 to."""

    def __init__(self, options, backend, port):
        binary = os.path.join(options.build, "bin", "skua")
        self.start([binary, "proxy", f"h2c://127.0.0.1:{port}", "--host", "127.0.0.1", "--port", "0", "--threads", "1",
                    "--quiet", "--backend", backend], backend, subprocess.DEVNULL)  # it tells of requests that were refused


def memory_kib(server):
    for line in pathlib.Path(f"/proc/{server.process.pid}/status").read_text().splitlines():
        if line.startswith("VmRSS:"):
            return int(line.split()[1])
    return 0


def tls_context():
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    context.check_hostname = False
    context.verify_mode = ssl.CERT_NONE
    context.set_alpn_protocols(["h2"])
    return context


def requests(method, references):
    """The requests of a connection, each of which is `references` times the long field."""
    flags = h2.END_HEADERS | (h2.END_STREAM if method == b"GET" else 0)
    frames = []
    for number in range(STREAMS):
        fields = h2.head(method, b"/plaintext")
        if references:
            fields += h2.indexed(b"x-long", FIELD) + REFERENCE * (references - 1) if number == 0 else REFERENCE * references
        frames.append(h2.frame(h2.HEADERS, flags, 2 * number + 1, fields))
    return b"".join(frames)


def served(server, method, context):
    """Sends one request as others do, and returns the seconds until its response is there."""
    begin = time.monotonic()
    with h2.Peer(server.port, context=context) as peer:
        content = h2.frame(h2.DATA, h2.END_STREAM, 1, b"text")
        flags = h2.END_HEADERS | (h2.END_STREAM if method == b"GET" else 0)
        peer.send(h2.request(1, method, b"/plaintext", flags=flags) + (content if method != b"GET" else b""))
        while (got := peer.frame()) is not None:
            if got[0] == h2.HEADERS:
                check(b"\x88" in got[3][:4], f"another client did not get 200, but {got[3]!r}")
            if got[0] == h2.DATA and got[1] & h2.END_STREAM:
                return time.monotonic() - begin
    return check(False, "another client got no response")


def play(server, name, method, count, references, context):
    """Attacks with `count` connections. Returns what the server holds meanwhile, and what it keeps, in KiB."""
    served(server, method, context)
    before = memory_kib(server)
    peers = [h2.Peer(server.port, h2.setting(4, 0), context=context) for _ in range(count)]
    data = requests(method, references)
    for peer in peers:
        check(peer.send(data), f"{name}: the server did not take the requests")
    settle(server)
    held = memory_kib(server) - before
    seconds = served(server, method, context)
    for peer in peers:
        peer.sock.close()
    until = time.monotonic() + PATIENCE
    while (kept := memory_kib(server) - before) > KEPT_KIB and time.monotonic() < until:
        time.sleep(0.1)
    print(f"{name}: {count} connections, {references} references: held {held / count:.0f} KiB each, kept {kept / 1024:.1f} MiB, "
          f"another client waited {seconds * 1000:.0f} ms", flush=True)
    check(kept <= KEPT_KIB, f"{name}: {kept} KiB were not released")
    check(server.process.poll() is None, f"{name}: the server is gone")
    return held


def attack(start, name, method=b"GET", stream_kib=STREAM_KIB, waits=False, context=None):
    for count in CONNECTIONS:
        with start() as server:  # a new one, as memory that is kept would serve the next attack
            plain = play(server, name, method, count, 0, context)
        with start() as server:
            held = play(server, name, method, count, REFERENCES, context)
        check(plain < count * STREAMS * stream_kib, f"{name}: {count} connections cost {plain} KiB")
        most = ROUNDING * (count * MORE_KIB + BUDGET_KIB) if waits else count * MORE_KIB
        check(held - plain < most, f"{name}: {count} connections make the server hold {held - plain} KiB more")


def run(options, backend, folder):
    attack(lambda: Server(options, backend), f"{backend}, server")
    attack(lambda: Server(options, backend, "sink"), f"{backend}, server that waits", b"POST", waits=True)
    if not os.path.exists(os.path.join(options.build, "bin", "skua")):
        return
    with Server(options, backend, "suite") as upstream:
        attack(lambda: Gateway(options, backend, upstream.port), f"{backend}, gateway", stream_kib=PASSED_ON_KIB, waits=True)
    if backend != "poll" and can_serve(options, folder, backend, "--tls-self-signed"):
        attack(lambda: Served(options, folder, "--tls-self-signed", backend=backend), f"{backend}, TLS", context=tls_context())


OPTIONS = arguments()
with tempfile.TemporaryDirectory() as temporary:
    (pathlib.Path(temporary) / "plaintext").write_text("Hello, World!")
    # Heads are above the back ends.
    for one in [OPTIONS.backend] if OPTIONS.backend else BACKENDS if OPTIONS.long else BACKENDS[:1]:
        run(OPTIONS, one, temporary)
