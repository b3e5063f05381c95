#!/usr/bin/env python3
# Paths in hundreds of disguises, with every method, against `skua serve --upload`: nothing outside the folder is read,
# created, changed or removed. Everything around the folder is compared byte by byte afterwards.
import itertools
import os
import pathlib
import tempfile

from harness import Reader, arguments, check
from serving import Served, for_each_backend, request, snapshot

METHODS = (b"GET", b"HEAD", b"PUT", b"POST", b"DELETE", b"MOVE", b"COPY", b"MKCOL", b"PATCH", b"OPTIONS", b"PROPFIND")
SECRET = b"SECRET of the folder's neighbour"

DOTS = (b"..", b"%2e%2e", b"%2E.", b".%2e", b"%252e%252e", b"%25252e%25252e", b"%c0%ae%c0%ae", b"%e0%80%ae%e0%80%ae",
        b"%f0%80%80%ae%f0%80%80%ae", b"%uff0e%uff0e", b"%ef%bc%8e%ef%bc%8e", b"%e2%80%a5", b"%e2%80%a4%e2%80%a4", b"..%00",
        b"..%20", b"..;", b"..;a=b", b"...", b"....", b"..%09", b"..%0d%0a", b".%00.", b"%2e%2e%2e", b". .", b"..%c2%a0", b"..%3f",
        b"..%23")
SLASHES = (b"/", b"%2f", b"%2F", b"%5c", b"\\", b"%252f", b"%255c", b"%c0%af", b"%e0%80%af", b"%c1%9c", b"//", b"/./", b"/%2e/",
           b"%ef%bc%8f", b"%e2%88%95", b"%ef%bc%bc", b"/;/", b"/%00/")
PREFIXES = (b"/", b"/folder/", b"/folder/none/", b"//")


def disguised():
    for dots, slash in itertools.product(DOTS, SLASHES):
        yield b"/" + dots + slash + b"secret"
    for prefix, dots in itertools.product(PREFIXES, DOTS):
        yield prefix + (dots + b"/") * 3 + b"secret"
    yield from (b"/up/secret", b"/up/new", b"/up/deep/new", b"/link", b"/absolute", b"/absolute/secret", b"/absolute/new", b"/loop/secret",
                b"/dangling", b"/folder/up/new", b"/pipe", b"/.hidden", b"/folder/.hidden/new", b"/.skua-upload-0123456789abcdef",
                b"/.SKUA-UPLOAD-0123456789abcdef", b"/folder/.skua-upload-new", b"/.well-known/../../secret")
    yield from (b"/C:/secret", b"/C:secret", b"/c%3a%5csecret", b"/%5c%5cserver%5cshare%5csecret", b"//server/share/secret", b"/secret::$DATA",
                b"/CON", b"/nul.txt", b"/COM1", b"/secret.", b"/secret%20", b"/folder./../secret", b"/%5c..%5csecret", b"/~/secret",
                b"/%7eroot/secret", b"/%3f/%3f/C:/secret", b"/?/../secret", b"/#/../secret", b"/proc/self/root/etc/passwd")
    yield from (b"http://localhost/../secret", b"http://localhost/%2e%2e/secret", b"HTTP://localhost//../secret", b"file:///etc/passwd",
                b"http://localhost/..\\secret", b"http:../secret", b"http://localhost", b"secret", b"../secret", b"..", b"*", b"\\..\\secret")
    yield from (b"/" + b"../" * 2000 + b"secret", b"/" + b"%2e%2e/" * 900 + b"secret", b"/" + b"folder/../" * 500 + b"../secret",
                b"/" + b"a" * 255, b"/" + b"a" * 256, b"/" + b"b/" * 2500 + b"new", b"/" + b"%00" * 300, b"/folder" + b"/" * 4000 + b"../../secret")


def build(outside):
    site = outside / "site"
    (site / "folder").mkdir(parents=True)
    (outside / "deep").mkdir()
    (outside / "cwd").mkdir()
    (outside / "secret").write_bytes(SECRET)
    (outside / "site.secret").write_bytes(SECRET)  # whose name begins like the folder's
    (site / "own").write_bytes(b"own")
    (site / ".hidden").write_bytes(SECRET)
    (site / "folder" / "up").symlink_to("../..")
    for name, target in (("up", ".."), ("link", "../secret"), ("absolute", outside), ("loop", "loop"), ("dangling", "../new"),
                         ("inside", "folder"), ("beside", "../site.secret")):
        (site / name).symlink_to(target)
    os.mkfifo(site / "pipe")
    return site


def fields_for(method, target):
    if method in (b"MOVE", b"COPY"):
        return (b"Destination: " + (target if b"\\" not in target else b"/x"), b"Overwrite: T")
    if method == b"POST":
        return (b"Content-Type: multipart/form-data; boundary=x",)
    if method == b"PATCH":
        return (b"Content-Type: application/partial-upload", b"Upload-Offset: 0", b"Upload-Complete: ?1")
    return ()


def content_for(method, target):
    name = target.rsplit(b"/", 1)[-1][:200].replace(b'"', b"")
    if method == b"POST":
        return b'--x\r\nContent-Disposition: form-data; name="f"; filename="..' + target[:300] + b"\\" + name + b'"\r\n\r\nEVIL\r\n--x--\r\n'
    return b"EVIL" if method in (b"PUT", b"PATCH") else b""


class Client:
    """Sends on one connection for as long as the server keeps it."""

    def __init__(self, server):
        self.server, self.sock, self.reader = server, None, None

    def ask(self, text, is_head):
        for _ in range(2):
            if self.sock is None:
                self.sock = self.server.connect()
                self.reader = Reader(self.sock)
            try:
                self.sock.sendall(text)
                answer = self.head() if is_head else self.reader.answer()
            except ConnectionError:
                answer = None
            if answer is None or b"onnection: close" in answer[1]:
                self.sock.close()
                self.sock = None
            if answer is not None:
                return answer
        return None

    def head(self):
        while b"\r\n\r\n" not in self.reader.data:
            if not self.reader.more():
                return None
        head, _, self.reader.data = self.reader.data.partition(b"\r\n\r\n")
        return int(head.split(b" ", 2)[1]), head, b""


def attack_folder(options, backend, outside, targets):
    site = build(outside)
    around = snapshot_around(outside)
    count = 0
    with Served(options, site, "--upload", "--upload-overwrite", backend=backend, working=outside / "cwd") as server:
        client = Client(server)
        for method, target in itertools.product(METHODS, targets):
            text = request(method, target, content_for(method, target), *fields_for(method, target)).replace(b"Connection: close\r\n", b"")
            answer = client.ask(text, method == b"HEAD")
            count += 1
            check(server.is_alive(), f"{backend}: {method} {target[:200]!r}: the server is gone")
            check(answer is not None, f"{backend}: {method} {target[:200]!r}: no answer")
            check(SECRET not in answer[2], f"{backend}: {method} {target[:200]!r} reveals the secret")
        check(server.stop() == 0, f"{backend}: the exit code is not 0")
    now = snapshot_around(outside)
    check(now == around, f"{backend}: changed outside: {sorted(set(now.items()) ^ set(around.items()))}")
    inside = snapshot(site)
    kept = {b"up": "link to ..", b"link": "link to ../secret", b"loop": "link to loop", b"dangling": "link to ../new"}
    check({name: inside.get(name) for name in kept} == kept, f"{backend}: links were changed")
    check((site / ".hidden").read_bytes() == SECRET, f"{backend}: a hidden file was changed")
    return count


def snapshot_around(outside):
    return {name: state for name, state in snapshot(outside).items() if not name.startswith(b"site/")}


def attack(options, backend):
    targets = list(dict.fromkeys(disguised()))
    check(len(targets) >= 200, "the corpus has shrunk")
    with tempfile.TemporaryDirectory() as temporary:
        count = attack_folder(options, backend, pathlib.Path(temporary), targets)
    print(f"{backend}: {count} requests for {len(targets)} disguised paths", flush=True)


OPTIONS = arguments()
with tempfile.TemporaryDirectory() as empty_folder:
    for_each_backend(OPTIONS, attack, empty_folder)
