# Shared by the attacks on `skua serve`: the process with its folder, and clients that are rude on purpose.
import hashlib
import os
import pathlib
import signal
import socket
import ssl
import subprocess
import threading

BACKENDS = ("epoll", "io_uring")


class Served:
    """A `skua serve` with two threads and the sandbox."""

    def __init__(self, options, folder, *more, backend="epoll", wrapper=(), environment=None, errors=subprocess.DEVNULL,
                 working=None):
        binary = os.path.abspath(os.path.join(options.build, "bin", "skua"))
        command = [*wrapper, binary, "serve", str(folder), "--port", "0", "--threads", "2", "--backend", backend, *more]
        self.process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=errors,
                                        env={**os.environ, **(environment or {})}, cwd=working)
        line = self.process.stdout.readline().decode()
        if not line.startswith("listening on "):
            self.process.kill()
            self.process.wait()
            raise RuntimeError(f"{backend}: the server did not start: {line!r}")
        self.is_tls = line.startswith("listening on https://")
        self.port = int(line.rsplit(":", 1)[1])
        self.log = b""  # the rest of stdout
        self.log_reader = threading.Thread(target=self._read_log)
        self.log_reader.start()

    def _read_log(self):
        for line in self.process.stdout:
            self.log += line

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.kill()

    def kill(self):
        if self.process.poll() is None:
            self.process.send_signal(signal.SIGKILL)
        self.process.wait()
        self.log_reader.join()
        self.process.stdout.close()

    def is_alive(self):
        return self.process.poll() is None

    def stop(self):
        """Ends the server as a user would; returns the exit code."""
        self.process.send_signal(signal.SIGTERM)
        return self.process.wait(timeout=30)

    def connect(self, timeout=20, receive_bytes=None):
        sock = socket.socket()
        sock.settimeout(timeout)
        if receive_bytes:
            sock.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, receive_bytes)
        sock.connect(("127.0.0.1", self.port))
        if not self.is_tls:
            return sock
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
        context.check_hostname = False
        context.verify_mode = ssl.CERT_NONE
        return context.wrap_socket(sock)

    def ask(self, request):
        """Sends the bytes of one request; returns (status, fields, content), or None without an answer."""
        with self.connect() as sock:
            sock.sendall(request)
            return read_answer(sock, request.startswith(b"HEAD "))


def request(method, target, content=b"", *fields):
    lines = [method + b" " + target + b" HTTP/1.1", b"Host: localhost", b"Connection: close", *fields]
    if content or method in (b"PUT", b"POST", b"PATCH"):
        lines.append(b"Content-Length: %d" % len(content))
    return b"\r\n".join(lines) + b"\r\n\r\n" + content


def read_all(sock):
    """Reads to the end, however the connection ends."""
    data = b""
    try:
        while piece := sock.recv(1 << 18):
            data += piece
    except (ConnectionError, ssl.SSLError):
        pass
    return data


def parse_head(head):
    """Returns the status and the fields; names in lower case."""
    lines = head.decode("latin-1").split("\r\n")
    fields = [line.split(":", 1) for line in lines[1:]]
    return int(lines[0].split(" ")[1]), {name.lower(): value.strip() for name, value in fields}


def read_answer(sock, is_head=False):
    """Reads the final response of a connection that the server then closes."""
    data = read_all(sock)
    while True:
        head, end, data = data.partition(b"\r\n\r\n")
        if not end:
            return None
        status, fields = parse_head(head)
        if status >= 200:
            return status, fields, b"" if is_head else data


def can_serve(options, folder, backend, *more):
    """Containers often forbid io_uring, and TLS is optional."""
    try:
        with Served(options, folder, *more, backend=backend):
            return True
    except RuntimeError:
        return False


def for_each_backend(options, attack, folder):
    for backend in (options.backend,) if options.backend else BACKENDS:
        if backend == "io_uring" and not can_serve(options, folder, backend):
            print("io_uring is left out: it is not available here", flush=True)
        else:
            attack(options, backend)


def snapshot(folder):
    """Returns a map of all paths below a folder to what they are: byte by byte, and with links as links."""
    found = {}
    for path in sorted(pathlib.Path(os.fsencode(folder).decode("utf-8", "surrogateescape")).rglob("*")):
        name = os.fsencode(path.relative_to(folder))
        if path.is_symlink():
            found[name] = "link to " + os.readlink(path)
        elif path.is_dir():
            found[name] = "folder"
        elif not path.is_file():
            found[name] = "special"
        else:
            found[name] = hashlib.sha256(path.read_bytes()).hexdigest()
    return found


def unfinished(folder):
    """Returns the temporary files of uploads below a folder."""
    return [str(path) for path in pathlib.Path(folder).rglob(".skua-upload-*")]
