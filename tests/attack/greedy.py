#!/usr/bin/env python3
# A peer pipelines requests forever and reads no responses: the server stops reading from it, memory
# stays bounded, and other clients are still served.
import time

from harness import GET, Server, arguments, ask, check, for_each_backend


def attack(options, backend):
    wanted = options.megabytes * 1_000_000
    with Server(options, backend) as server:
        ask(server)
        before = server.rss_kib()
        sock = server.connect()
        sock.setblocking(False)
        batch = GET * 2000
        sent, slowest, stuck_since = 0, 0.0, None
        while sent < wanted:
            try:
                sent += sock.send(batch[sent % len(GET):])
                stuck_since = None
            except BlockingIOError:
                stuck_since = stuck_since or time.monotonic()
                if time.monotonic() - stuck_since > options.patience:
                    break
                answer, seconds = ask(server)
                check(answer and answer[0] == 200, f"{backend}: another client is not served")
                slowest = max(slowest, seconds)
                time.sleep(0.02)
        growth = server.rss_kib() - before
        sock.close()
        check(server.is_alive(), f"{backend}: the server is gone")
        print(f"{backend}: took {sent / 1e6:.1f} MB before it stopped reading, grew {growth} KiB, "
              f"others waited at most {slowest * 1000:.1f} ms", flush=True)
        check(growth < 8192, f"{backend}: the server grew by {growth} KiB")
        check(ask(server)[0][0] == 200, f"{backend}: no answer afterwards")


OPTIONS = arguments(megabytes=150, patience=2.0)
for_each_backend(OPTIONS, attack)
