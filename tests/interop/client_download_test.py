#!/usr/bin/env python3
"""`skua get --download` from nginx: progress, a killed server, resuming, file names.

Usage: client_download_test.py SKUA [--large]      a file of 256 MB, or 1 GB; exits with 77 (skipped) without nginx
"""
import hashlib
import os
import pathlib
import pty
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import threading

from asked import FILE, PROTOCOL, Skua, environment_without_proxies, equal
from served import SKIP, TIMEOUT
from servers import Nginx, found, until

MEGABYTE = 1 << 20
PACED_BYTES = 8 * MEGABYTE

# A server's name for a file, and the expected local name: None if skua picks one.
DISPOSITIONS = {
    "plain": (r"attachment; filename=report.txt", "report.txt"),
    "quoted": (r"attachment; filename=\"a b.txt\"", "a b.txt"),
    "upwards": (r"attachment; filename=\"../../evil.txt\"", "evil.txt"),
    "absolute": (r"attachment; filename=\"/tmp/evil.txt\"", "evil.txt"),
    "hidden": (r"attachment; filename=\".profile\"", None),
    "parent": (r"attachment; filename=\"..\"", None),
    "other": (r"attachment; filename=x.txt; filename*=UTF-8''gr%%C3%%BC%%C3%%9Fe.txt", "grüße.txt"),
    "inline": (r"inline", None),
}
TEXT = "map $arg_as $disposition {" + "".join(f'\n{kind} "{text}";' for kind, (text, _) in DISPOSITIONS.items()) + """
}
root @folder@/site;
sendfile on;
server {
  listen 127.0.0.1:@port@;
  %(pace)s
  location /paced/ { alias @folder@/site/; limit_rate_after 4m; limit_rate 64k; }
  location /named/ { alias @folder@/site/; add_header Content-Disposition $disposition; }
}
"""


def make_file(path: pathlib.Path, size_bytes: int, begin: bytes = b"") -> str:
    """Makes a sparse file with one block of data per megabyte; returns its checksum."""
    with path.open("wb") as file:
        for offset in range(0, size_bytes, MEGABYTE):
            file.seek(offset)
            file.write(os.urandom(4096))
        file.seek(0)
        file.write(begin)
        file.truncate(size_bytes)
    return checksum(path)


def checksum(path: pathlib.Path) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def part_of(folder: pathlib.Path, name: str) -> pathlib.Path:
    return folder / f".{name}.part"


class Running:
    """A download in the background that draws its progress on a pseudo-terminal, its stderr."""

    def __init__(self, skua: Skua, folder: pathlib.Path, *words: str):
        control, terminal = pty.openpty()
        environment = {**environment_without_proxies(), "TERM": "xterm", "COLUMNS": "80"}
        self.process = subprocess.Popen([skua.program, "get", "--download", *words], cwd=folder, env=environment,
                                        stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=terminal)
        os.close(terminal)
        self.drawn = b""
        self.reader = threading.Thread(target=self.read, args=(control,), daemon=True)
        self.reader.start()

    def read(self, control: int):
        try:
            while piece := os.read(control, 65536):
                self.drawn += piece
        except OSError:  # Linux reports the end of a terminal as an error
            pass
        os.close(control)

    def end(self, code: int) -> str:
        """Waits for the process to exit with `code`; returns its terminal output."""
        try:
            self.process.wait(2 * TIMEOUT)
        finally:
            self.process.kill()
            self.process.wait(TIMEOUT)
        self.reader.join(TIMEOUT)
        drawn = self.drawn.decode(errors="replace")
        assert self.process.returncode == code, f"ended with {self.process.returncode}, not {code}: {drawn[-2000:]!r}"
        return drawn


def whole(skua: Skua, nginx: Nginx, folder: pathlib.Path, expected: str):
    drawn = Running(skua, folder, nginx.url() + "/large.bin").end(0)
    percents = [int(number) for number in re.findall(r"(\d{1,3}) ?%", drawn)]
    assert percents and percents == sorted(percents) and max(percents) > 50, f"progress: {drawn[-500:]!r}"
    last = drawn.rstrip().splitlines()[-1]
    assert re.search(r"large\.bin.*[0-9.]+ [KMG]iB", last), drawn[-500:]
    equal(checksum(folder / "large.bin"), expected)
    equal(part_of(folder, "large.bin").exists(), False)
    (folder / "large.bin").unlink()
    # Without a terminal, nothing is drawn.
    done = skua.run("get", "-q", "-o", "-", nginx.url() + "/small.txt")
    equal((done.stdout, done.stderr), (b"small\n", b""))
    print("a whole file: ok", flush=True)


def killed(skua: Skua, nginx: Nginx, folder: pathlib.Path, expected: str, size_bytes: int):
    """The server is killed during a download and restarted; only the rest is requested."""
    part = part_of(folder, "large.bin")
    nginx.restart(TEXT % {"pace": f"limit_rate_after {size_bytes * 2 // 5}; limit_rate 64k;"})
    download = Running(skua, folder, nginx.url() + "/large.bin")
    until(lambda: download.process.poll() is not None or part.exists() and part.stat().st_size > size_bytes // 4,
          "a quarter of the download", TIMEOUT)
    nginx.end(signal.SIGKILL)
    drawn = download.end(PROTOCOL)
    assert re.search(r"\d+ ?%", drawn), drawn
    have = part.stat().st_size
    assert size_bytes // 4 < have < size_bytes, have
    equal((folder / "large.bin").exists(), False)
    # A server that is down does not cost the part.
    skua.run("get", "--download", "--continue", nginx.url() + "/large.bin", code=7, folder=folder)
    equal(part.stat().st_size, have)
    nginx.restart(TEXT % {"pace": ""})
    Running(skua, folder, "--continue", nginx.url() + "/large.bin").end(0)
    nginx.log(f"range=bytes={have}-", " 206 ")
    equal(checksum(folder / "large.bin"), expected)
    equal(part.exists(), False)
    (folder / "large.bin").unlink()
    print("a killed server: ok", flush=True)


def interrupted(skua: Skua, nginx: Nginx, folder: pathlib.Path, site: pathlib.Path):
    """Interrupts a download by a signal and resumes it; if the file has changed since, starts over."""
    for changes in (False, True):
        expected = make_file(site / "paced.bin", PACED_BYTES, b"first")
        part = part_of(folder, "paced.bin")
        download = Running(skua, folder, nginx.url() + "/paced/paced.bin")
        until(lambda: download.process.poll() is not None or part.exists() and part.stat().st_size > MEGABYTE, "a megabyte")
        download.process.send_signal(signal.SIGINT)
        download.end(130)
        assert part.exists(), "the part was not kept"
        if changes:
            expected = make_file(site / "paced.bin", PACED_BYTES + 1, b"second")
        # Another path would be another resource, so make this one fast.
        nginx.restart(TEXT.replace("limit_rate 64k", "limit_rate 0") % {"pace": ""})
        skua.run("get", "--download", "--continue", nginx.url() + "/paced/paced.bin", folder=folder)
        equal(checksum(folder / "paced.bin"), expected, f"changes: {changes}")
        (folder / "paced.bin").unlink()
        nginx.restart(TEXT % {"pace": ""})
    print("interrupted downloads: ok", flush=True)


def names(skua: Skua, nginx: Nginx, folder: pathlib.Path):
    """For any name from the server, files stay in this folder, and none is overwritten."""
    folder = folder / "names"
    folder.mkdir()

    def now() -> set[str]:
        return {path.name for path in folder.iterdir()}

    def download(*words: str, code: int = 0) -> set[str]:
        before = now()
        skua.run("get", "--download", *words, code=code, folder=folder)
        return now() - before

    small = f"{nginx.url()}/small.txt"
    equal(download(small), {"small.txt"})
    (folder / "small.txt").write_text("mine\n")
    new = download(small)
    equal(len(new), 1)
    assert new.pop().startswith("small"), new
    equal((folder / "small.txt").read_text(), "mine\n")
    skua.run("get", "-o", "small.txt", small, folder=folder)
    equal((folder / "small.txt").read_text(), "small\n")
    for kind, (text, name) in DISPOSITIONS.items():
        new = download(f"{nginx.url()}/named/small.txt?as={kind}")
        equal(len(new), 1, text)
        chosen = new.pop()
        assert chosen == name or name is None and not chosen.startswith("."), f"{text} became {chosen}"
        (folder / chosen).unlink()
    equal([path.name for path in folder.parent.iterdir() if path.name.startswith("evil")], [])
    urls = [f"{nginx.url()}/many-{i}.txt" for i in range(6)]
    equal(download("--parallel", "3", *urls), {f"many-{i}.txt" for i in range(6)})
    equal({(folder / f"many-{i}.txt").read_text() for i in range(6)}, {f"{i}\n" for i in range(6)})
    equal(download("-o", "nowhere/at/all.txt", small, code=FILE), set())
    equal(download("--fail", f"{nginx.url()}/none", code=4), set())
    print("names: ok", flush=True)


def main(arguments: list[str]) -> int:
    skua = Skua(str(pathlib.Path(arguments[0]).resolve()))
    if not found("nginx"):
        print("skipped: nginx is not installed")
        return SKIP
    size_bytes = (1024 if "--large" in arguments else 256) * MEGABYTE
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        site, here = folder / "nginx" / "site", folder / "here"
        site.mkdir(parents=True)
        here.mkdir()
        if shutil.disk_usage(folder).free < 3 * size_bytes:
            print("skipped: the disk is nearly full")
            return SKIP
        (site / "small.txt").write_text("small\n")
        for i in range(6):
            (site / f"many-{i}.txt").write_text(f"{i}\n")
        expected = make_file(site / "large.bin", size_bytes)
        with Nginx(folder / "nginx", TEXT % {"pace": ""}) as nginx:
            whole(skua, nginx, here, expected)
            killed(skua, nginx, here, expected, size_bytes)
            interrupted(skua, nginx, here, site)
            names(skua, nginx, here)
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
