#!/usr/bin/env python3
# SIGTERM while clients are busy, with single requests and with pipelined batches. A request counts as
# lost if its response is incomplete, or if its batch ends early without `Connection: close`. The server
# exits soon with code 0.
import threading
import time

from harness import GET, Reader, Server, arguments, check, for_each_backend


class Client(threading.Thread):
    """Sends `depth` requests at once and reads the responses, until `Connection: close`."""

    def __init__(self, server, depth):
        super().__init__()
        self.server, self.depth = server, depth
        self.sent = self.answered = 0
        self.cut = 0  # unanswered after a `Connection: close`
        self.lost = 0  # unanswered without notice
        self.unread = 0  # sent on a connection that the server had just closed
        self.ended = ""

    def run(self):
        sock = self.server.connect(5)
        reader = Reader(sock)
        while True:
            try:
                sock.sendall(GET * self.depth)
            except OSError as error:
                self.ended = f"send: {error}"
                return
            self.sent += self.depth
            for left in range(self.depth, 0, -1):
                try:
                    answer = reader.answer()
                except OSError as error:
                    answer, self.ended = None, f"recv: {error}"
                if answer is None:
                    # No response at all: the batch crossed the server's FIN of an idle connection.
                    if left == self.depth and not reader.data:
                        self.unread += self.depth
                        self.ended = self.ended or "closed while idle"
                    else:
                        self.lost += left
                    return
                self.answered += 1
                if b"connection: close" in answer[1].lower():
                    self.cut += left - 1
                    self.ended = "close"
                    return


def attack(options, backend):
    for round_number in range(options.rounds * (10 if options.long else 1)):
        with Server(options, backend, threads=1 + round_number % 2) as server:
            clients = [Client(server, depth) for depth in [1] * 8 + [16] * 4]
            for client in clients:
                client.start()
            time.sleep(0.3 + 0.017 * round_number)
            code, seconds = server.terminate()
            for client in clients:
                client.join(10)
        total = {name: sum(getattr(client, name) for client in clients)
                 for name in ("sent", "answered", "cut", "lost", "unread")}
        print(f"{backend}: {total}, exit code {code} after {seconds * 1000:.0f} ms", flush=True)
        check(code == 0, f"{backend}: exit code {code}")
        check(seconds < 5, f"{backend}: it took {seconds:.1f} s")
        # "unread" is not checked: on a busy machine a request may cross the FIN of an idle connection.
        for name in ("lost", "cut"):
            ends = [client.ended for client in clients]
            check(total[name] == 0, f"{backend}: {total[name]} requests {name}; {ends}")


OPTIONS = arguments(rounds=3)
for_each_backend(OPTIONS, attack)
