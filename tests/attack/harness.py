# Shared by the attack scripts: a server process on a port of its own, its memory and CPU time, and a
# minimal client.
import argparse
import concurrent.futures
import glob
import os
import signal
import socket
import subprocess
import sys
import time

BACKENDS = ("epoll", "io_uring", "poll")


def arguments(**more):
    parser = argparse.ArgumentParser()
    parser.add_argument("--build", default="build/release", help="the build directory, with bin/skua-bench-server")
    parser.add_argument("--backend", choices=BACKENDS, help="test only this back end")
    parser.add_argument("--long", action="store_true", help="run about ten times as much")
    for name, value in more.items():
        parser.add_argument("--" + name, type=type(value), default=value)
    return parser.parse_args()


def cpu_seconds(pid):
    with open(f"/proc/{pid}/stat") as stat:
        fields = stat.read().rsplit(")", 1)[1].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def is_busy(pid):
    """Reports whether a thread of the process runs, waits for a processor, or waits for a disk."""
    for path in glob.glob(f"/proc/{pid}/task/*/stat"):
        try:
            with open(path) as stat:
                if stat.read().rsplit(")", 1)[1].split()[0] in ("R", "D"):
                    return True
        except OSError:  # the thread has ended
            pass
    return False


def settle(server, go_on=lambda: False):
    """Waits until the server has done all that it can, while `go_on` reports that others still do something; at most 60 s."""
    before, until = None, time.monotonic() + 60
    while (go_on() or is_busy(server.process.pid) or cpu_seconds(server.process.pid) != before) and time.monotonic() < until:
        before = cpu_seconds(server.process.pid)
        time.sleep(0.1)


class Server:
    """A skua-bench-server in one mode; one thread by default."""

    def __init__(self, options, backend, mode="plaintext", folder=None, files=None,
                 threads=1):
        binary = os.path.join(options.build, "bin", "skua-bench-server")
        command = [binary, mode] + ([folder] if folder else []) + ["--host", "127.0.0.1", "--port", "0", "--threads", str(threads)]
        command += ["--backend", backend]
        if files is not None:
            command = ["bash", "-c", f'ulimit -n {files}; exec "$0" "$@"', *command]
        self.start(command, backend)

    def start(self, command, backend, errors=None):
        """Starts the process, and reads its port from its first line. Its errors go to `errors`."""
        self.process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=errors, text=True)
        line = self.process.stdout.readline()
        if not line.startswith("listening on "):
            self.process.kill()
            self.process.wait()
            raise RuntimeError(f"{backend}: the server did not start: {line!r}")
        self.port = int(line.rsplit(":", 1)[1])

    def __enter__(self):
        return self

    def __exit__(self, *_):
        if self.process.poll() is None:
            self.process.send_signal(signal.SIGKILL)
        self.process.wait()
        self.process.stdout.close()

    def rss_kib(self):
        return self.memory_kib("VmRSS:")

    def peak_kib(self):
        return self.memory_kib("VmHWM:")

    def memory_kib(self, name):
        with open(f"/proc/{self.process.pid}/status") as status:
            for line in status:
                if line.startswith(name):
                    return int(line.split()[1])
        return 0

    def cpu_seconds(self):
        return cpu_seconds(self.process.pid)

    def descriptors(self):
        return len(os.listdir(f"/proc/{self.process.pid}/fd"))

    def descriptors_by_number(self):
        """Where the server's descriptors lead, and the kernel's lines about those that are TCP connections."""
        folder = f"/proc/{self.process.pid}/fd"
        links = {number: os.readlink(os.path.join(folder, number)) for number in os.listdir(folder)}
        with open(f"/proc/{self.process.pid}/net/tcp") as table:
            lines = {fields[9]: " ".join(fields[1:5]) for fields in map(str.split, table)}
        return {number: link + " " + lines.get(link[8:-1], "") for number, link in links.items()}

    def connect(self, timeout=10):
        return socket.create_connection(("127.0.0.1", self.port), timeout=timeout)

    def terminate(self, timeout=10):
        """Sends SIGTERM; returns the exit code and the seconds until the exit."""
        begin = time.monotonic()
        self.process.send_signal(signal.SIGTERM)
        code = self.process.wait(timeout=timeout)
        return code, time.monotonic() - begin

    def is_alive(self):
        return self.process.poll() is None


class Reader:
    """Reads responses with a Content-Length off a socket."""

    def __init__(self, sock):
        self.sock = sock
        self.data = b""

    def more(self):
        piece = self.sock.recv(65536)
        self.data += piece
        return bool(piece)

    def answer(self):
        """Returns (status, head, body), or None at the end of the stream."""
        while b"\r\n\r\n" not in self.data:
            if not self.more():
                return None
        head, rest = self.data.split(b"\r\n\r\n", 1)
        length = 0
        for line in head.split(b"\r\n")[1:]:
            name, value = line.split(b":", 1)
            if name.lower() == b"content-length":
                length = int(value)
        while len(rest) < length:
            if not self.more():
                return None
            rest = self.data.split(b"\r\n\r\n", 1)[1]
        self.data = rest[length:]
        return int(head.split(b" ", 2)[1]), head, rest[:length]


GET = b"GET /plaintext HTTP/1.1\r\nHost: a\r\n\r\n"


def ask(server, request=GET, timeout=5):
    """Sends one request on a new connection; returns (status, head, body) and the seconds it took."""
    begin = time.monotonic()
    with server.connect(timeout) as sock:
        sock.sendall(request)
        answer = Reader(sock).answer()
    return answer, time.monotonic() - begin


def check(holds, text):
    if not holds:
        print("FAILED:", text, flush=True)
        sys.exit(1)


def for_each_backend(options, attack, at_once=False):
    """Runs an attack on each back end in turn; `at_once`: concurrently, for attacks that mostly wait."""
    backends = [options.backend] if options.backend else BACKENDS
    with concurrent.futures.ThreadPoolExecutor(len(backends) if at_once else 1) as threads:
        for done in [threads.submit(attack, options, backend) for backend in backends]:
            done.result()
