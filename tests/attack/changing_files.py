#!/usr/bin/env python3
# Files that are truncated, replaced, removed or made unreadable while they are downloaded: the server lives, no byte within
# the announced content is wrong, and the client can tell when content is missing.
import os
import pathlib
import tempfile
import zlib

import h2
from harness import arguments, check
from serving import Served, can_serve, for_each_backend, parse_head, read_all, request

SIZES = {"small": 1000, "medium": 100 * 1024, "large": 10 * 1024 * 1024}
LINE = 32
PAGE = os.sysconf("SC_PAGE_SIZE")
PIECE = 2 * 1024 * 1024  # the largest piece (folio) in which Linux keeps a file in memory


def text(version, size):
    """Text whose every line says which version it is of and where, so that no other byte may be in its place."""
    lines = (f"{version}{number:0{LINE - 2}d}\n" for number in range(size // LINE + 1))
    return "".join(lines).encode()[:size]


VERSIONS = {name: (text("A", size), text("B", size)) for name, size in SIZES.items()}


def truncate(path, _):
    os.truncate(path, path.stat().st_size // 3)


def replace(path, second):
    other = path.with_name("other")
    other.write_bytes(second)
    other.rename(path)


def remove(path, _):
    path.unlink()


def hide(path, _):
    path.chmod(0)


def empty(path, _):
    os.truncate(path, 0)


CHANGES = (truncate, replace, remove, hide, empty)


def is_part(content, size):
    if any(content == version[:len(content)] for version in VERSIONS[size]):
        return True
    # The kernel clears the rest of a piece of a file (one page or more) when the file is truncated in its midst: what was sent
    # of that piece may be zeros, because sendfile passes on the memory of the file itself, and what is read meanwhile may be
    # zeros from any byte of the piece. The head of the response is gone by then, so the server cannot tell the client.
    first = VERSIONS[size][0]
    begin = len(os.path.commonprefix([content, first]))
    end = len(content) - len(content[begin:].lstrip(b"\0"))
    is_cleared = any(cut <= begin < (cut // PIECE + 1) * PIECE for cut in (0, SIZES[size] // 3))
    return is_cleared and content[end:] == first[end:len(content)] and (end == len(content) or end % PAGE == 0)


def check_part(content, size, name):
    """Checks that a download is of one version, or of what a cut left of it."""
    if is_part(content, size):
        return
    right = max((os.path.commonprefix([content, version]) for version in VERSIONS[size]), key=len)
    at = len(right)
    check(False, f"{name}: wrong bytes at {at} of {len(content)}: {content[at:at + 40]!r}...{content[-40:]!r}")


class Download:
    """Over HTTP/1, with a window so small that most of a large file is still to be sent."""

    field = ()

    def __init__(self, server, path):
        self.sock = server.connect(receive_bytes=65536)
        self.sock.sendall(request(b"GET", path, b"", *self.field))
        self.data = self.sock.recv(200)

    def finish(self, name, size):
        """Returns whether all of the announced content has come."""
        data = self.data + read_all(self.sock)
        self.sock.close()
        head, end, content = data.partition(b"\r\n\r\n")
        check(end, f"{name}: no head: {data!r}")
        status, fields = parse_head(head)
        if status != 200:
            check(status in (403, 404, 500), f"{name}: status {status}")
            return True
        return self.is_whole(name, size, fields, content)

    @staticmethod
    def is_whole(name, size, fields, content):
        announced = int(fields["content-length"])
        check(len(content) <= announced, f"{name}: {len(content)} of {announced} bytes")
        check_part(content, size, name)
        return len(content) == announced


class Compressed(Download):
    field = (b"Accept-Encoding: gzip",)

    def is_whole(self, name, size, fields, content):
        if fields.get("transfer-encoding") != "chunked":
            return super().is_whole(name, size, fields, content) if "content-encoding" not in fields else True
        coded, is_ended = b"", False
        while content and not is_ended:
            length, end, content = content.partition(b"\r\n")
            if not end:
                break
            length = int(length, 16)
            is_ended = length == 0
            coded, content = coded + content[:length], content[length + 2:]
        decoder = zlib.decompressobj(31)
        plain = decoder.decompress(coded)
        check_part(plain, size, name)
        check(not is_ended or (decoder.eof and len(plain) in (SIZES[size], SIZES[size] // 3)), f"{name}: a cut that cannot be told")
        return is_ended


class Http2:
    def __init__(self, server, path):
        self.peer = h2.Peer(server.port, h2.setting(4, 1 << 14), timeout=20)
        self.peer.send(h2.request(1, b"GET", path))
        self.head = None
        while self.head is None:
            frame = self.peer.frame()
            check(frame is not None, "HTTP/2: no answer")
            if frame[0] == h2.HEADERS:
                self.head = frame

    def finish(self, name, size):
        self.peer.send(h2.frame(h2.WINDOW_UPDATE, 0, 0, (1 << 30).to_bytes(4, "big")) +
                       h2.frame(h2.WINDOW_UPDATE, 0, 1, (1 << 30).to_bytes(4, "big")))
        # 8 is the index of `:status: 200`, RFC 7541 appendix A.
        if self.head[3][0] != 0x88:
            return True
        content, flags = b"", self.head[1]
        while not flags & h2.END_STREAM:
            frame = self.peer.frame()
            if frame is None or frame[0] in (h2.RST_STREAM, h2.GOAWAY):
                break
            if frame[0] == h2.DATA:
                content, flags = content + frame[3], frame[1]
        self.peer.sock.close()
        check_part(content, size, name)
        is_ended = bool(flags & h2.END_STREAM)
        whole = {SIZES[size], SIZES[size] // 3, 0}
        check(not is_ended or len(content) in whole, f"{name}: {len(content)} bytes and a clean end")
        return is_ended


def attack_one(server, name, kind, change, size, path, count):
    first, second = VERSIONS[size]
    path.chmod(0o644) if path.exists() else None
    path.write_bytes(first)
    target = ("/" + path.name).encode()
    downloads = [kind(server, target) for _ in range(count)]
    change(path, second)
    late = [kind(server, target) for _ in range(count // 2)]
    whole = [download.finish(name, size) for download in downloads + late]
    check(server.is_alive(), f"{name}: the server is gone")
    path.unlink(missing_ok=True)
    return whole.count(False)


def attack(options, backend):
    count = 20 if options.long else 2
    with tempfile.TemporaryDirectory() as temporary:
        folder = pathlib.Path(temporary)
        for label, kinds, flags in (("plain", (Download, Http2), ()), ("compressed", (Compressed,), ("--compress",)),
                                    ("TLS", (Download,), ("--tls-self-signed",))):
            if not can_serve(options, folder, backend, *flags):
                print(f"{backend}, {label}: skipped, this skua cannot do it", flush=True)
                continue
            with Served(options, folder, *flags, backend=backend) as server:
                cuts = downloads = 0
                for kind in kinds:
                    for change in CHANGES:
                        for size in SIZES:
                            name = f"{backend}, {label}, {kind.__name__}, {change.__name__}, {size}"
                            cuts += attack_one(server, name, kind, change, size, folder / f"{size}.txt", count)
                            downloads += count + count // 2
                code = server.stop()
                check(code == 0, f"{backend}, {label}: exit code {code}")
                print(f"{backend}, {label}: {downloads} downloads of changing files, {cuts} cut off", flush=True)


OPTIONS = arguments()
with tempfile.TemporaryDirectory() as empty_folder:
    for_each_backend(OPTIONS, attack, empty_folder)
