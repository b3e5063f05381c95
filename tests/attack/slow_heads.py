#!/usr/bin/env python3
# Hundreds of connections send half a head, then a byte now and then: other clients are served
# quickly meanwhile, and each slow one gets 408 after its timeout.
import time

from harness import Reader, Server, arguments, ask, check, for_each_backend


def attack(options, backend):
    with Server(options, backend) as server:
        ask(server)
        before = server.rss_kib()
        slow = [server.connect() for _ in range(options.connections)]
        for sock in slow:
            sock.sendall(b"GET / HTTP/1.1\r\nHost: a\r\nX-Slow: ")
        end = time.monotonic() + (12 if options.long else options.seconds)
        slowest, asked = 0.0, 0
        while time.monotonic() < end:
            for sock in slow[asked % 10::10]:
                try:
                    sock.sendall(b"a")
                except OSError:
                    pass
            answer, seconds = ask(server)
            check(answer and answer[0] == 200, f"{backend}: another client is not served")
            slowest = max(slowest, seconds)
            asked += 1
            time.sleep(0.05)
        growth = server.rss_kib() - before
        print(f"{backend}: {len(slow)} half heads, {asked} others waited at most "
              f"{slowest * 1000:.1f} ms, grew {growth} KiB", flush=True)
        check(slowest < 1.0, f"{backend}: others waited {slowest:.2f} s")
        check(growth < 64 * len(slow), f"{backend}: the server grew by {growth} KiB")
        if options.long:  # Timeouts::head is 10 s
            told = [Reader(sock).answer() for sock in slow]
            late = sum(1 for answer in told if answer is None or answer[0] != 408)
            check(late == 0, f"{backend}: {late} slow connections did not get 408")
        for sock in slow:
            sock.close()


OPTIONS = arguments(connections=500, seconds=2.0)
for_each_backend(OPTIONS, attack)
