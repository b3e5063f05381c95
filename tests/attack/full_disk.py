#!/usr/bin/env python3
# Uploads to a disk that is full, and of files that are too long for it: the client gets 507 or 413, nothing is left of
# them, and the server lives.
import concurrent.futures
import os
import pathlib
import shutil
import subprocess
import tempfile

from harness import arguments, check
from serving import Served, for_each_backend, request, unfinished

UPLOADS, SIZE = 20, 1 << 20
# A tmpfs that only the server and its children see.
MOUNT = 'mount -t tmpfs -o size=8m none "$FOLDER" && exec "$0" "$@"'
# In blocks of 512 bytes: what POSIX says of sh.
LIMIT = 'ulimit -f 1024 && exec "$0" "$@"'


def mounting(folder):
    """Returns the command in front of the server that gives it a small disk, or None if that is not allowed."""
    for command in (("unshare", "--mount"), ("unshare", "--map-root-user", "--mount")):
        wrapper = (*command, "sh", "-c", MOUNT)
        if shutil.which("unshare") and subprocess.run([*wrapper, "true"], env={**os.environ, "FOLDER": folder},
                                                      capture_output=True).returncode == 0:
            return wrapper
    return None


def content_of(number):
    return f"{number:031d}\n".encode() * (SIZE // 32)


def put(server, number):
    answer = server.ask(request(b"PUT", b"/%d" % number, content_of(number)))
    return answer and answer[0]


def post(server, number):
    form = (b'--x\r\nContent-Disposition: form-data; name="f"; filename="%d"\r\n\r\n' % number) + content_of(number) + b"\r\n--x--\r\n"
    answer = server.ask(request(b"POST", b"/", form, b"Content-Type: multipart/form-data; boundary=x"))
    return answer and answer[0]


def uploads(server, name, folder, full_status):
    """Returns the number of uploads that the disk had room for."""
    for send in (put, post):
        with concurrent.futures.ThreadPoolExecutor(UPLOADS) as threads:
            statuses = list(threads.map(lambda number: send(server, number), range(UPLOADS)))
        check(server.is_alive(), f"{name}: the server is gone")
        check(set(statuses) <= {201, full_status, None}, f"{name}: {statuses}")
        check(full_status in statuses, f"{name}: nobody was told that the disk is full")
        for number, status in enumerate(statuses):
            path = folder / str(number)
            check(path.exists() == (status == 201), f"{name}: status {status}, but {path} exists: {path.exists()}")
            if status == 201:
                check(path.read_bytes() == content_of(number), f"{name}: {path} is not what was sent")
                path.unlink()
        check(not unfinished(folder), f"{name}: {unfinished(folder)} are left")
        answer = server.ask(request(b"PUT", b"/small", b"small"))
        check(answer and answer[0] == 201, f"{name}: no room for a small file afterwards: {answer}")
        (folder / "small").unlink()
    return statuses.count(201)


def attack(options, backend):
    for _ in range(10 if options.long else 1):
        with tempfile.TemporaryDirectory() as folder:
            with Served(options, folder, "--upload", backend=backend, wrapper=("sh", "-c", LIMIT)) as server:
                uploads(server, f"{backend}, a limit of the file's size", pathlib.Path(folder), 413)
            wrapper = mounting(folder)
            if wrapper is None:
                print(f"{backend}, full disk: skipped, mounting is not allowed", flush=True)
                continue
            with Served(options, folder, "--upload", backend=backend, wrapper=wrapper, environment={"FOLDER": folder}) as server:
                inside = pathlib.Path(f"/proc/{server.process.pid}/root{folder}")
                stored = uploads(server, f"{backend}, full disk", inside, 507)
                check(server.stop() == 0, f"{backend}: the exit code is not 0")
    print(f"{backend}: the disk had room for {stored if wrapper else 'no'} of {UPLOADS} uploads", flush=True)


OPTIONS = arguments()
with tempfile.TemporaryDirectory() as empty_folder:
    for_each_backend(OPTIONS, attack, empty_folder)
