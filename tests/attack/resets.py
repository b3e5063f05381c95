#!/usr/bin/env python3
# Connections come and go, many of them reset in the middle of a head, a body, a batch or a
# response: nothing breaks, nothing leaks. Best run with --build build/asan.
import random
import socket
import struct
import time

from harness import GET, Server, arguments, ask, check, for_each_backend

POST = b"POST /echo HTTP/1.1\r\nHost: a\r\nContent-Length: 20000\r\n\r\n" + b"x" * 20000
CHUNKED = (b"POST /echo HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n" +
           b"3e8\r\n" + b"y" * 1000 + b"\r\n0\r\nX-T: a\r\n\r\n")
MESSAGES = [GET, GET * 50, POST, POST * 60, CHUNKED, CHUNKED + GET, b"garbage\r\n\r\n"]


def one(server, rng):
    sock = server.connect()
    sock.setblocking(False)
    message = rng.choice(MESSAGES)
    cut = rng.randrange(len(message) + 1) if rng.random() < 0.7 else len(message)
    try:
        sock.send(message[:cut])
        if rng.random() < 0.3:
            time.sleep(rng.random() * 0.002)
        if rng.random() < 0.3:
            sock.recv(rng.randrange(1, 5000))
        if rng.random() < 0.2:
            sock.shutdown(socket.SHUT_WR)
    except OSError:
        pass
    if rng.random() < 0.6:
        sock.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
    sock.close()


def attack(options, backend):
    rng = random.Random(options.seed)
    with Server(options, backend, mode="echo") as server:
        ask(server)
        time.sleep(0.2)  # for that connection to close
        idle = server.descriptors()
        count = 0
        end = time.monotonic() + options.seconds * (10 if options.long else 1)
        while time.monotonic() < end:
            one(server, rng)
            count += 1
            if count % 500 == 0:
                check(server.is_alive(), f"{backend}: the server is gone after {count}")
        deadline = time.monotonic() + 20  # lingering connections take 2 s
        while server.descriptors() > idle and time.monotonic() < deadline:
            time.sleep(0.05)
        left = server.descriptors() - idle
        check(left <= 0, f"{backend}: {left} descriptors leaked: {server.descriptors_by_number()}")
        check(ask(server)[0][0] in (200, 404), f"{backend}: no answer afterwards")
        code, seconds = server.terminate(20)
        print(f"{backend}: {count} connections, exit code {code} after {seconds:.2f} s, "
              f"seed {options.seed}", flush=True)
        check(code == 0, f"{backend}: exit code {code}")


OPTIONS = arguments(seconds=3.0, seed=1)
for_each_backend(OPTIONS, attack)
