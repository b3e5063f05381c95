#!/usr/bin/env python3
# An upload and a download much larger than the memory they may use.
from harness import Reader, Server, arguments, check, for_each_backend

HEAD = b'--x\r\nContent-Disposition: form-data; name="file"; filename="large"\r\n\r\n'
TAIL = b"\r\n--x--\r\n"
PIECE = b"0" * 65536
MOST_KIB = 32 * 1024


def upload(server, size_bytes):
    with server.connect(60) as sock:
        length = len(HEAD) + size_bytes + len(TAIL)
        sock.sendall(b"POST / HTTP/1.1\r\nHost: a\r\nContent-Type: multipart/form-data; boundary=x\r\n"
                     b"Content-Length: %d\r\n\r\n" % length + HEAD)
        for _ in range(size_bytes // len(PIECE)):
            sock.sendall(PIECE)
        sock.sendall(TAIL)
        return Reader(sock).answer()


def download(server, size_bytes):
    with server.connect(60) as sock:
        sock.sendall(b"GET /stream HTTP/1.1\r\nHost: a\r\n\r\n")
        got = 0
        while got < size_bytes:
            piece = sock.recv(1 << 20)
            check(piece, "the stream ended")
            got += len(piece)


def attack(options, backend):
    size_bytes = options.megabytes * (10 if options.long else 1) * 1024 * 1024
    with Server(options, backend, "upload") as server:
        answer = upload(server, size_bytes)
        check(answer and answer[2] == b"file large %d\n" % size_bytes, f"{backend}: the upload was answered {answer}")
        uploaded = server.peak_kib()
    with Server(options, backend, "stream") as server:
        download(server, size_bytes)
        downloaded = server.peak_kib()
    print(f"{backend}: {size_bytes >> 20} MiB up in {uploaded / 1024:.1f} MiB of memory, down in "
          f"{downloaded / 1024:.1f} MiB", flush=True)
    check(max(uploaded, downloaded) < MOST_KIB, f"{backend}: it took {max(uploaded, downloaded)} KiB")


OPTIONS = arguments(megabytes=256)
for_each_backend(OPTIONS, attack)
