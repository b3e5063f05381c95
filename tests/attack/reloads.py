#!/usr/bin/env python3
# SIGHUP while clients download and 50 uploads are in progress: no request fails, each good file of options holds at once,
# and with a broken one the server keeps the old.
import concurrent.futures
import pathlib
import signal
import subprocess
import tempfile
import threading

from harness import Reader, arguments, check
from serving import Served, for_each_backend, read_answer

UPLOADS, CLIENTS, PIECES = 50, 4, 30
PIECE = b"0123456789abcde\n" * 1024
BROKEN = ("this is not TOML [", 'header = 7\n', 'no-such-option = true\n', 'upload = "missing"\n', 'error-page = "404=missing.html"\n',
          'header = "no colon"\n', 'upload-limit = "much"\n', 'rewrite = ["/a=/b", "broken"]\n', "\x00\x01", 'auth = "/missing"\n')


def good(number):
    return f'upload = true\nupload-limit = "{1 + number}G"\nheader = "X-Version: {number}"\nredirect = "/old{number}=/new{number}"\n'


class Client(threading.Thread):
    """Asks again and again on one connection."""

    def __init__(self, server):
        super().__init__()
        self.server, self.is_over, self.count, self.problem, self.version = server, threading.Event(), 0, None, 0

    def run(self):
        try:
            with self.server.connect() as sock:
                reader = Reader(sock)
                while not self.is_over.is_set():
                    sock.sendall(b"GET /file.txt HTTP/1.1\r\nHost: localhost\r\n\r\n")
                    answer = reader.answer()
                    if answer is None or answer[0] != 200 or answer[2] != PIECE:
                        self.problem = f"answer {self.count}: {answer and answer[:2]}"
                        return
                    version = int(answer[1].lower().split(b"x-version: ")[1].split(b"\r")[0])
                    if version < self.version:
                        self.problem = f"version {version} after {self.version}"
                        return
                    self.version = version
                    self.count += 1
        except OSError as error:
            self.problem = f"answer {self.count}: {error}"


def begin_upload(server, number):
    sock = server.connect()
    sock.sendall(b"PUT /upload%d HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\nContent-Length: %d\r\n\r\n" %
                 (number, PIECES * len(PIECE)))
    return sock


def reload(server, config, text):
    """Returns the line that says what became of it."""
    config.write_text(text)
    server.process.send_signal(signal.SIGHUP)
    while line := server.process.stderr.readline().decode():
        if line.startswith(("reloaded", "skua: keeping the old configuration: ")):
            return line
    return "the server is gone"


def attack(options, backend):
    with tempfile.TemporaryDirectory() as temporary:
        folder, config = pathlib.Path(temporary, "site"), pathlib.Path(temporary, "skua.toml")
        folder.mkdir()
        (folder / "file.txt").write_bytes(PIECE)
        config.write_text(good(0))
        with Served(options, folder, "--config", str(config), backend=backend, errors=subprocess.PIPE) as server:
            clients = [Client(server) for _ in range(CLIENTS)]
            for client in clients:
                client.start()
            uploads = [begin_upload(server, number) for number in range(UPLOADS)]
            version, count = 0, 300 if options.long else PIECES
            for number in range(count):
                is_good = number % 2 == 0
                text = good(version + 1) if is_good else BROKEN[number // 2 % len(BROKEN)]
                line = reload(server, config, text)
                check(line.startswith("reloaded" if is_good else "skua: keeping"), f"{backend}: {text!r}: {line}")
                version += is_good
                if number < PIECES:
                    for sock in uploads:
                        sock.sendall(PIECE)
                with server.connect() as sock:
                    sock.sendall(b"GET /old%d HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n" % version)
                    status, fields, _ = read_answer(sock)
                check(fields["x-version"] == str(version), f"{backend}: version {fields['x-version']} holds, not {version}")
                check(status == 302 and fields["location"] == f"/new{version}", f"{backend}: {status} {fields}")
            with concurrent.futures.ThreadPoolExecutor(UPLOADS) as threads:
                answers = list(threads.map(read_answer, uploads))
            for client in clients:
                client.is_over.set()
                client.join()
                check(client.problem is None, f"{backend}: {client.problem}")
            for number, answer in enumerate(answers):
                check(answer and answer[0] == 201, f"{backend}: upload {number} got {answer}")
                check((folder / f"upload{number}").read_bytes() == PIECE * PIECES, f"{backend}: upload {number} is not what was sent")
            for sock in uploads:
                sock.close()
            server.process.stderr.close()
            total = sum(client.count for client in clients)
            check(server.stop() == 0, f"{backend}: the exit code is not 0")
    print(f"{backend}: {count} reloads, {total} requests and {UPLOADS} uploads, none failed", flush=True)


OPTIONS = arguments()
with tempfile.TemporaryDirectory() as empty_folder:
    for_each_backend(OPTIONS, attack, empty_folder)
