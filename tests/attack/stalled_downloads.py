#!/usr/bin/env python3
# Peers that ask `skua serve` for a listing of a large folder (PROPFIND), or for a large file that is compressed while it is
# sent, and read nothing: each costs a bounded amount of memory, others are served, and nothing is left when they are gone.
import pathlib
import tempfile
import time

from harness import arguments, check, settle
from serving import Served, for_each_backend, read_answer, request

PROPFIND = request(b"PROPFIND", b"/many/", b"", b"Depth: 1")
COMPRESSED = request(b"GET", b"/large.txt", b"", b"Accept-Encoding: gzip, br, zstd")
ENTRIES = 5_000
PLACES = 16  # files compressed at a time


def memory_kib(server):
    for line in pathlib.Path(f"/proc/{server.process.pid}/status").read_text().splitlines():
        if line.startswith("VmRSS:"):
            return int(line.split()[1])
    return 0


def descriptors(server):
    return len(list(pathlib.Path(f"/proc/{server.process.pid}/fd").iterdir()))


def stall(server, count, asked):
    peers = []
    for _ in range(count):
        sock = server.connect(receive_bytes=4096)
        sock.sendall(asked)
        check(sock.recv(1), "a peer was not answered")
        peers.append(sock)
    settle(server)  # has filled the buffers of the peers
    return peers


def coding(server):
    with server.connect() as sock:
        sock.sendall(COMPRESSED.replace(b"GET", b"HEAD", 1))
        return read_answer(sock, True)[1].get("content-encoding")


def leave(server, peers, idle):
    for sock in peers:
        sock.close()
    while descriptors(server) > idle:
        time.sleep(0.01)


def attack(options, backend, folder):
    with Served(options, folder, "--webdav", "--compress", backend=backend) as server:
        check(server.ask(PROPFIND)[0] == 207, f"{backend}: PROPFIND is not answered")
        check(coding(server), f"{backend}: the file is not compressed")
        idle, before = descriptors(server), memory_kib(server)
        listings = stall(server, options.peers, PROPFIND)
        per_listing = (memory_kib(server) - before) / options.peers
        check(server.ask(PROPFIND)[2].count(b"<D:response>") == ENTRIES + 1, f"{backend}: another client is not served")
        leave(server, listings, idle)
        before = memory_kib(server)
        files = stall(server, PLACES, COMPRESSED)
        check(coding(server) is None, f"{backend}: more than {PLACES} files are compressed at a time")
        files += stall(server, options.peers, COMPRESSED)
        taken = memory_kib(server) - before
        leave(server, files, idle)
        check(coding(server), f"{backend}: the places are not given back")
        print(f"{backend}: {options.peers} listings that nobody reads take {per_listing:.0f} KiB each; {PLACES} files that are "
              f"compressed, and {options.peers} that are not, take {taken / 1024:.1f} MiB", flush=True)
        check(per_listing < 512, f"{backend}: a listing takes {per_listing:.0f} KiB")
        check(taken < PLACES * 8 * 1024 + options.peers * 128, f"{backend}: files take {taken} KiB")
        check(server.is_alive(), f"{backend}: the server is gone")


OPTIONS = arguments(peers=50)
with tempfile.TemporaryDirectory() as temporary:
    root = pathlib.Path(temporary)
    (root / "many").mkdir()
    for number in range(ENTRIES):
        (root / "many" / f"{number}").touch()
    (root / "large.txt").write_text("".join(f"{number * 2654435761 % 2**32}\n" for number in range(1_000_000)))
    for_each_backend(OPTIONS, lambda options, backend: attack(options, backend, root), root)
