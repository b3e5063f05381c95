#!/usr/bin/env python3
# File serving: unread pipelined downloads do not use up the descriptors, a file that shrinks while it
# is sent ends only its connection, and no path escapes the folder.
import os
import socket
import tempfile
import time

from harness import Reader, Server, arguments, ask, check, for_each_backend

LARGE = 8 * 1024 * 1024


def get(path):
    return b"GET " + path + b" HTTP/1.1\r\nHost: a\r\n\r\n"


def hoard(server, backend):
    before = server.descriptors()
    socks = []
    for _ in range(5):
        sock = server.connect()
        sock.setblocking(False)
        try:
            sock.send(get(b"/large.bin") * 1000)
        except BlockingIOError:
            pass
        socks.append(sock)
    time.sleep(0.5)
    check(ask(server, get(b"/small.txt"))[0][0] == 200, f"{backend}: others are not served")
    held = server.descriptors() - before
    for sock in socks:
        sock.close()
    return held


def shrink(server, backend, folder):
    path = os.path.join(folder, "shrinks.bin")
    with open(path, "wb") as file:
        file.truncate(LARGE * 4)
    with server.connect() as sock:
        sock.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 65536)
        sock.sendall(get(b"/shrinks.bin"))
        got = len(sock.recv(1000))
        os.truncate(path, 10_000)
        try:
            while piece := sock.recv(1 << 20):
                got += len(piece)
        except ConnectionResetError:
            pass
    check(got < LARGE * 4, f"{backend}: a file that shrank was sent whole")
    check(ask(server, get(b"/small.txt"))[0][0] == 200, f"{backend}: no answer afterwards")


def escape(server, backend):
    for path in (b"/../secret", b"/%2e%2e/secret", b"/a/..%2f..%2fsecret", b"/..%5csecret",
                 b"/%2e%2e%2fsecret", b"/link", b"/folder/../../secret", b"/.hidden", b"/up/secret",
                 b"/small.txt%00.html", b"/folder/%2e%2e/%2e%2e/secret", b"//../secret"):
        answer, _ = ask(server, get(path))
        check(answer and answer[0] in (400, 403, 404) and b"SECRET" not in answer[2],
              f"{backend}: {path!r}: {answer!r}")


def conditions(server, backend):
    for field in (b"If-Modified-Since", b"If-Unmodified-Since", b"If-Range", b"If-None-Match",
                  b"Range", b"Accept"):
        for value in (b"Monday", b"Sun,", b"", b",", b"W/", b"\"", b"bytes=", b"bytes=-", b"q=", b";q="):
            request = (b"GET /small.txt HTTP/1.1\r\nHost: a\r\nRange: bytes=0-1\r\n" +
                       field + b": " + value + b"\r\n\r\n")
            answer, _ = ask(server, request)
            check(answer is not None, f"{backend}: no answer to {field!r}: {value!r}")


def attack(options, backend):
    with tempfile.TemporaryDirectory() as outside:
        folder = os.path.join(outside, "site")
        os.makedirs(os.path.join(folder, "folder"))
        with open(os.path.join(outside, "secret"), "w") as file:
            file.write("SECRET")
        for name, text in (("small.txt", "small"), (".hidden", "SECRET")):
            with open(os.path.join(folder, name), "w") as file:
                file.write(text)
        os.symlink("../secret", os.path.join(folder, "link"))
        os.symlink("..", os.path.join(folder, "up"))
        with open(os.path.join(folder, "large.bin"), "wb") as file:
            file.truncate(LARGE)
        with Server(options, backend, mode="files", folder=folder) as server:
            ask(server, get(b"/small.txt"))
            held = hoard(server, backend)
            shrink(server, backend, folder)
            escape(server, backend)
            conditions(server, backend)
            print(f"{backend}: 5000 unread downloads held {held} descriptors", flush=True)
            check(held <= 5 * 8, f"{backend}: {held} descriptors held")
            code, _ = server.terminate()
            check(code == 0, f"{backend}: exit code {code}")


for_each_backend(arguments(), attack)
