#!/usr/bin/env python3
# Floods that are cheap for the attacker and costly for the server. Each runs on one connection after the
# other while another client sends requests as usual. The server disconnects every attacker, its memory
# stays bounded, and the other client is served.
import itertools
import multiprocessing
import select
import time

import h2
from harness import Reader, Server, arguments, check, GET, BACKENDS

# A flood is sent in batches of this many frames or requests.
BATCH = 200


def rapid_reset(number):  # CVE-2023-44487
    streams = range(1 + 2 * BATCH * number, 1 + 2 * BATCH * (number + 1), 2)
    return b"".join(h2.request(s) + h2.frame(h2.RST_STREAM, 0, s, b"\0\0\0\x08") for s in streams)


def provoked_reset(number):  # CVE-2025-8671: the server resets, as the content is too short
    streams = range(1 + 2 * BATCH * number, 1 + 2 * BATCH * (number + 1), 2)
    return b"".join(h2.request(s, b"POST", b"/", (b"content-length", b"5"), flags=h2.END_HEADERS) +
                    h2.frame(h2.DATA, h2.END_STREAM, s, b"x") for s in streams)


def continuation(number):  # CVE-2024-27316 and relatives: a header section that never ends
    more = h2.frame(h2.CONTINUATION, 0, 1, h2.literal(b"a", b"b") * 100) * BATCH
    return h2.request(1, flags=0) + more if number == 0 else more


def empty_continuation(number):
    more = h2.frame(h2.CONTINUATION, 0, 1) * BATCH
    return h2.request(1, flags=0) + more if number == 0 else more


def ping(_):  # CVE-2019-9512
    return h2.frame(h2.PING, 0, 0, b"12345678") * BATCH


def settings(_):  # CVE-2019-9515
    return h2.frame(h2.SETTINGS, 0, 0, h2.setting(3, 100)) * BATCH


def empty_data(number):  # CVE-2019-9518
    more = h2.frame(h2.DATA, 0, 1) * BATCH
    return h2.request(1, b"POST", flags=h2.END_HEADERS) + more if number == 0 else more


def priority(_):  # CVE-2019-9513
    return h2.frame(h2.PRIORITY, 0, 1, b"\0\0\0\0\x10") * BATCH


def window_drip(number):
    more = h2.frame(h2.WINDOW_UPDATE, 0, 0, b"\0\0\0\x01") * BATCH
    return h2.request(1, b"POST", flags=h2.END_HEADERS) + more if number == 0 else more


def header_bomb(number):  # one large field in the dynamic table, referenced by single bytes
    first = h2.head() + h2.indexed(b"x", b"y" * 4000) + b"\xbe" * 2000
    again = h2.head() + b"\xbe" * 4000
    streams = range(1 + 2 * BATCH * number, 1 + 2 * BATCH * (number + 1), 2)
    frames = [h2.frame(h2.HEADERS, h2.END_STREAM | h2.END_HEADERS, s, again) for s in streams]
    if number == 0:
        frames[0] = h2.frame(h2.HEADERS, h2.END_STREAM | h2.END_HEADERS, 1, first)
    return b"".join(frames)


def stalled_window(number):  # requests much but accepts nothing: SETTINGS_INITIAL_WINDOW_SIZE is 0
    streams = range(1 + 2 * BATCH * number, 1 + 2 * BATCH * (number + 1), 2)
    return b"".join(h2.request(s) for s in streams)


FLOODS = {f.__name__: f for f in (rapid_reset, provoked_reset, continuation, empty_continuation, ping, settings,
                                  empty_data, priority, window_drip, header_bomb, stalled_window)}


def attack_once(port, flood, until):
    """Floods one connection until it ends; reports whether the server ended it."""
    with h2.Peer(port, h2.setting(4, 0) if flood is stalled_window else b"") as peer:
        peer.sock.setblocking(False)
        for number in itertools.count():
            data = memoryview(flood(number))
            while data:
                readable, writable, _ = select.select([peer.sock], [peer.sock], [], 0.5)
                try:
                    if readable and not peer.sock.recv(1 << 20):
                        return True
                    if writable:
                        data = data[peer.sock.send(data):]
                except BlockingIOError:
                    pass
                except ConnectionError:
                    return True
                if time.monotonic() > until:
                    return False


def attack(port, name, until, ended):
    """Floods one connection after the other; counts those that the server ended. If there is none yet, goes on for up to 20 s."""
    while time.monotonic() < (limit := until if ended.value else until + 20):
        ended.value += attack_once(port, FLOODS[name], limit)


def p99_ms(server, until):
    """The p99 latency of sequential requests on one connection, a few hundred per second."""
    times = []
    with server.connect() as sock:
        reader = Reader(sock)
        while not times or time.monotonic() < until:
            begin = time.monotonic()
            sock.sendall(GET)
            answer = reader.answer()
            check(answer and answer[0] == 200, "the other client is not served")
            times.append(time.monotonic() - begin)
            time.sleep(0.002)
    return sorted(times)[len(times) * 99 // 100] * 1000


def run(options, backend, name):
    seconds = 60 if options.long else options.seconds
    with Server(options, backend) as server:
        quiet = p99_ms(server, time.monotonic() + min(seconds / 4, 3))
        before, ended = server.rss_kib(), multiprocessing.Value("i")
        until = time.monotonic() + seconds
        attacker = multiprocessing.Process(target=attack, args=(server.port, name, until, ended))
        attacker.start()
        busy = p99_ms(server, until)
        attacker.join()
        growth = server.rss_kib() - before
        check(server.is_alive(), f"{backend}: the server is gone")
        print(f"{backend} {name}: {ended.value} attackers disconnected, other client's p99 {quiet:.2f} -> {busy:.2f} ms, "
              f"grew {growth} KiB", flush=True)
        check(ended.value > 0, f"{backend} {name}: the attacker was not disconnected")
        check(growth < 65536, f"{backend} {name}: the server grew by {growth} KiB")
        p99_ms(server, 0)


OPTIONS = arguments(seconds=0.5, flood="")
for backend in [OPTIONS.backend] if OPTIONS.backend else BACKENDS:
    for name in FLOODS:
        if OPTIONS.flood in ("", name):
            run(OPTIONS, backend, name)
