#!/usr/bin/env python3
# More connections than the server has descriptors: it does not spin, and recovers by itself.
import time

from harness import Server, arguments, ask, check, for_each_backend


def attack(options, backend):
    with Server(options, backend, files=64) as server:
        ask(server)
        socks = [server.connect() for _ in range(200)]
        time.sleep(0.3)
        begin_cpu, begin = server.cpu_seconds(), time.monotonic()
        time.sleep(options.seconds * (5 if options.long else 1))
        share = (server.cpu_seconds() - begin_cpu) / (time.monotonic() - begin)
        open_count = server.descriptors()
        for sock in socks:
            sock.close()
        begin, answer = time.monotonic(), None
        while time.monotonic() - begin < 5 and not (answer and answer[0] == 200):
            try:
                answer, _ = ask(server)
            except OSError:
                time.sleep(0.05)
        took = time.monotonic() - begin
        print(f"{backend}: {open_count} of 64 descriptors open, {share * 100:.1f} % of a core, "
              f"served again after {took * 1000:.0f} ms", flush=True)
        check(server.is_alive(), f"{backend}: the server is gone")
        check(share < 0.05, f"{backend}: {share * 100:.1f} % of a core while short of descriptors")
        check(answer and answer[0] == 200, f"{backend}: it did not recover")


OPTIONS = arguments(seconds=2.0)
for_each_backend(OPTIONS, attack)
