#!/usr/bin/env python3
# kill -9 of `skua serve --upload` while it takes uploads: a file has the content of one upload or of none, never a part of
# it, and the next start leaves no temporary file.
import pathlib
import random
import tempfile
import threading
import time

from harness import arguments, check
from serving import Served, for_each_backend, request, unfinished

NAMES, SIZE = 8, 512 * 1024


def content_of(version):
    return f"{version:031d}\n".encode() * (SIZE // 32)


class Uploader(threading.Thread):
    """Replaces one file again and again until the server is gone."""

    def __init__(self, server, number):
        super().__init__()
        self.server, self.number, self.stored = server, number, 0

    def run(self):
        version = 0
        while True:
            version += 1
            try:
                answer = self.server.ask(request(b"PUT", b"/%d" % self.number, content_of(version)))
            except OSError:
                return
            if answer is None:
                return
            check_status(answer[0])
            self.stored = version


def check_status(status):
    if status not in (201, 204):
        raise AssertionError(f"status {status}")


def kill_once(options, backend, folder, chance):
    with Served(options, folder, "--upload", "--upload-overwrite", backend=backend) as server:
        left = unfinished(folder)
        check(not left, f"{backend}: {left} survived the start")
        uploaders = [Uploader(server, number) for number in range(NAMES)]
        for uploader in uploaders:
            uploader.start()
        time.sleep(0.05 + chance.random() / 5)  # the moment to be hit
        server.kill()
        for uploader in uploaders:
            uploader.join()
    for uploader in uploaders:
        path = folder / str(uploader.number)
        if not path.exists():
            check(uploader.stored == 0, f"{backend}: {path} is gone after {uploader.stored} uploads")
            continue
        content = path.read_bytes()
        version = int(content[:31] or 0)
        check(content == content_of(version), f"{backend}: {path} has parts of uploads")
        # The last one may have its name although its answer was lost.
        if uploader.stored:
            check(version in (uploader.stored, uploader.stored + 1), f"{backend}: {path} lost version {uploader.stored}")
    return len(unfinished(folder))


def attack(options, backend):
    chance = random.Random(1)
    with tempfile.TemporaryDirectory() as temporary:
        folder = pathlib.Path(temporary)
        rounds = 100 if options.long else 8
        left = sum(kill_once(options, backend, folder, chance) for _ in range(rounds))
        with Served(options, folder, "--upload", backend=backend):
            check(not unfinished(folder), f"{backend}: {unfinished(folder)} survived the start")
    check(left > 0, f"{backend}: no upload was interrupted")
    print(f"{backend}: killed {rounds} times, {left} temporary files removed by the next start", flush=True)


OPTIONS = arguments()
with tempfile.TemporaryDirectory() as empty_folder:
    for_each_backend(OPTIONS, attack, empty_folder)
