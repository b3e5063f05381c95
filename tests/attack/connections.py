#!/usr/bin/env python3
# Very many idle connections at once: each gets responses, and they cost the server little memory.
import resource
import time

from harness import GET, Reader, Server, arguments, ask, check, for_each_backend


def attack(options, backend):
    limit = resource.getrlimit(resource.RLIMIT_NOFILE)[1]
    resource.setrlimit(resource.RLIMIT_NOFILE, (limit, limit))
    wanted = min(options.count * (10 if options.long else 1), limit - 100)
    with Server(options, backend, files=limit) as server:
        ask(server)
        before = server.rss_kib()
        begin = time.monotonic()
        socks = [server.connect() for _ in range(wanted)]
        errors = 0
        for _ in range(2):
            for sock in socks:
                sock.sendall(GET)
            for sock in socks:
                answer = Reader(sock).answer()
                errors += not (answer and answer[0] == 200)
        took = time.monotonic() - begin
        growth = server.rss_kib() - before
        descriptors = server.descriptors()
        for sock in socks:
            sock.close()
        print(f"{backend}: {wanted} connections, {2 * wanted} requests, {errors} errors in "
              f"{took:.1f} s, {descriptors} descriptors, grew {growth} KiB "
              f"({growth * 1024 // wanted} bytes each)", flush=True)
        check(errors == 0, f"{backend}: {errors} errors")
        check(growth * 1024 < 2048 * wanted + 8 * 1024 * 1024, f"{backend}: grew {growth} KiB")


OPTIONS = arguments(count=1000)
for_each_backend(OPTIONS, attack)
