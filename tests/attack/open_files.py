#!/usr/bin/env python3
# Nearly as many connections as the process may open files, and more: files are still opened for each client that is
# connected, and nobody hears 503. Those beyond the cap wait, and have their turn when others go.
import os
import resource
import select
import socket
import tempfile
import time

from harness import Server, arguments, check, for_each_backend

BODY = b"x" * 100_000  # more than what is kept in memory


def raise_own_limit():
    hard = resource.getrlimit(resource.RLIMIT_NOFILE)[1]
    resource.setrlimit(resource.RLIMIT_NOFILE, (hard, hard))
    return hard


def read_answer(sock, seconds):
    """The status and the length of the content; nothing where nothing came."""
    text, end = b"", time.monotonic() + seconds
    while b"\r\n\r\n" not in text or len(text.split(b"\r\n\r\n", 1)[1]) < len(BODY):
        if not select.select([sock], [], [], max(end - time.monotonic(), 0))[0]:
            break
        piece = sock.recv(65536)
        if not piece:
            break
        text += piece
        if text.startswith(b"HTTP/1.1 ") and not text.startswith(b"HTTP/1.1 200"):
            break
    return (int(text[9:12]), len(text)) if text else None


def ask_all(server, count, within_cap):
    socks = []
    for _ in range(count):
        sock = socket.create_connection(("127.0.0.1", server.port))
        socks.append(sock)
    served, refused, waiting = 0, 0, []
    for sock in socks:
        sock.sendall(b"GET /file HTTP/1.1\r\nHost: a\r\n\r\n")
    for sock in socks:
        answer = read_answer(sock, 10 if served < within_cap else 0.05)
        if answer is None:
            waiting.append(sock)
        elif answer[0] == 200 and answer[1] > len(BODY):
            served += 1
        else:
            refused += 1
    for sock in socks:
        if sock not in waiting:
            sock.close()
    later = sum(1 for sock in waiting if (read_answer(sock, 10) or (0, 0))[0] == 200)
    left = len(waiting)
    for sock in waiting:
        sock.close()
    return served, refused, left, later


def attack(options, backend):
    with tempfile.TemporaryDirectory() as folder:
        with open(os.path.join(folder, "file"), "wb") as file:
            file.write(BODY)
        for files, count, least in ((256, 200, 200), (1024, 1500, 880)):
            with Server(options, backend, mode="files", folder=folder, files=files, threads=2) as server:
                served, refused, waited, later = ask_all(server, count, least)
                print(f"{backend}: ulimit -n {files}, {count} connections: {served} served at once, {refused} refused, "
                      f"{waited} waited, {later} of them served later", flush=True)
                check(refused == 0, f"{backend}: {refused} of {count} were refused")
                check(served >= least, f"{backend}: {served} were served, not {least}")
                check(later == waited, f"{backend}: {waited - later} were never served")
                check(server.is_alive(), f"{backend}: the server is gone")


OPTIONS = arguments()
if raise_own_limit() >= 2000:
    for_each_backend(OPTIONS, attack)
else:
    print("skipped: this process may not open 2000 files")
