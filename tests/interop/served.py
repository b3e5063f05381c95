"""Runs `skua serve` or an example for the tests in this folder: on a free port, until SIGTERM, with exit code 0."""
import os
import pathlib
import shutil
import signal
import subprocess

TIMEOUT = 60
SKIP = 77  # SKIP_RETURN_CODE in CMakeLists.txt


class Program:
    """`with Program("example-auth", "0") as url:` for any program that prints its URL."""

    def __init__(self, *command: str, environment: dict[str, str] | None = None, pass_fds: tuple[int, ...] = ()):
        self.command, self.environment, self.pass_fds = command, environment, pass_fds

    def __enter__(self) -> str:
        self.process = subprocess.Popen(self.command, stdout=subprocess.PIPE, text=True, env=self.environment,
                                        pass_fds=self.pass_fds)
        first = self.process.stdout.readline()
        if not first.startswith(("listening on http://", "listening on https://", "listening on unix:")):
            self.process.kill()
            self.process.wait(TIMEOUT)
            raise RuntimeError(f"{' '.join(self.command)} says {first!r}")
        return first.split()[-1]

    def __exit__(self, kind, *_):
        self.process.send_signal(signal.SIGTERM)
        try:
            code = self.process.wait(TIMEOUT)
        finally:
            self.process.kill()  # does nothing if it has ended
        assert kind or code == 0, f"{' '.join(self.command)} ended with {code}"


class Served(Program):
    """`with Served(program, folder, "--backend", "epoll") as url:`"""

    def __init__(self, program: str, folder: pathlib.Path, *arguments: str):
        super().__init__(program, "serve", str(folder), "--port", "0", "--quiet", *arguments)


def certificate(folder: pathlib.Path) -> tuple[str, str] | None:
    """Makes a chain and a key for localhost as PEM files; returns None without openssl."""
    if not shutil.which("openssl"):
        return None
    chain, key = str(folder / "chain.pem"), str(folder / "key.pem")
    command = ["openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes", "-days", "30",
               "-subj", "/CN=localhost", "-addext", "subjectAltName=DNS:localhost,IP:127.0.0.1", "-keyout", key, "-out", chain]
    subprocess.run(command, check=True, capture_output=True, timeout=TIMEOUT)
    return chain, key


def backends(program: str) -> list[str]:
    """Returns the back ends available here; containers often forbid io_uring."""
    found = []
    for name in ("epoll", "io_uring"):
        try:
            with Served(program, pathlib.Path(__file__).parent, "--backend", name):
                found.append(name)
        except RuntimeError as error:
            print(f"{name} is left out: {error}")
    return found


def random_file(path: pathlib.Path, size_bytes: int) -> int:
    """Writes bytes that repeat nowhere near; returns their checksum (see checksum)."""
    block, total = os.urandom(1_000_003), 0
    with path.open("wb") as file:
        while total < size_bytes:
            total += file.write(block[:size_bytes - total])
    return checksum(path)


def checksum(path: pathlib.Path) -> int:
    """The sum of all 32-bit words, modulo 2^32: fast to compute in a page's script."""
    import array
    import sys
    total = 0
    with path.open("rb") as file:
        while piece := file.read(1 << 20):
            words = array.array("I", piece)
            if sys.byteorder == "big":
                words.byteswap()
            total += sum(words)
    return total & 0xFFFFFFFF
