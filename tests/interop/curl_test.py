#!/usr/bin/env python3
"""curl against `skua serve`: requests of a user, a cache, a download manager and an attacker.

Usage: curl_test.py SKUA      on every back end available; exits with 77 (skipped) without curl
"""
import email.utils
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

from served import SKIP, TIMEOUT, Served, backends, random_file

NASTY = 'a<b> & "c"\'d #1 %41?.txt'


def run(*arguments: str, code: int = 0) -> subprocess.CompletedProcess:
    done = subprocess.run(["curl", "-sS", "--noproxy", "*", *arguments], capture_output=True, timeout=TIMEOUT)
    assert done.returncode == code, f"curl {arguments} ended with {done.returncode}: {done.stderr!r}"
    return done


class Curl:
    def __init__(self, url: str):
        self.url = url

    def ask(self, path: str, *arguments: str) -> tuple[int, dict, bytes]:
        """Status, fields (names in lower case) and content of the last response."""
        output = run("-i", *arguments, self.url + path).stdout
        head, _, content = output.partition(b"\r\n\r\n")
        while head.startswith(b"HTTP/1.1 100"):
            head, _, content = content.partition(b"\r\n\r\n")
        first, *lines = head.decode().split("\r\n")
        fields = {name.lower(): value for name, value in (line.split(": ", 1) for line in lines)}
        return int(first.split()[1]), fields, content


def equal(actual, expected):
    assert actual == expected, f"{actual!r} is not {expected!r}"


def files_and_ranges(curl: Curl, folder: pathlib.Path):
    content = (folder / "large.bin").read_bytes()
    status, fields, got = curl.ask("/large.bin")
    equal((status, got == content, fields["accept-ranges"]), (200, True, "bytes"))
    status, fields, got = curl.ask("/large.bin", "-I")
    equal((status, int(fields["content-length"]), got), (200, len(content), b""))
    for text, start, end in (("0-0", 0, 1), ("100-199", 100, 200), ("-5", len(content) - 5, len(content)),
                             ("1999990-", 1999990, len(content)), ("1999990-99999999", 1999990, len(content))):
        status, fields, got = curl.ask("/large.bin", "-r", text)
        equal((status, got), (206, content[start:end]))
        equal(fields["content-range"], f"bytes {start}-{end - 1}/{len(content)}")
    status, fields, _ = curl.ask("/large.bin", "-r", "2000000-")
    equal((status, fields["content-range"]), (416, f"bytes */{len(content)}"))
    # An interrupted download is resumed.
    part = folder.parent / "part.bin"
    part.write_bytes(content[:777])
    run("-C", "-", "-o", str(part), f"{curl.url}/large.bin")
    equal(part.read_bytes() == content, True)
    part.unlink()


def conditions(curl: Curl, folder: pathlib.Path):
    _, fields, _ = curl.ask("/page.html")
    equal(fields["content-type"].split(";")[0], "text/html")
    changed = email.utils.formatdate((folder / "page.html").stat().st_mtime, usegmt=True)
    equal(fields["last-modified"], changed)
    for condition, expected in ((f"If-None-Match: {fields['etag']}", 304), ("If-None-Match: *", 304),
                                ('If-None-Match: "other"', 200), (f"If-Modified-Since: {changed}", 304),
                                ("If-Modified-Since: Mon, 01 Jan 2001 00:00:00 GMT", 200),
                                ("If-Match: \"other\"", 412)):
        status, again, got = curl.ask("/page.html", "-H", condition)
        equal((condition, status), (condition, expected))
        if status == 304:
            equal((got, again["etag"]), (b"", fields["etag"]))
    # --compressed announces what curl can decode; an unencoded response must be fine.
    equal(curl.ask("/page.html", "--compressed")[::2], (200, b"<h1>page</h1>"))


def strangers(curl: Curl):
    equal(curl.ask("/none")[0], 404)
    for path in ("/../../etc/passwd", "/%2e%2e/%2e%2e/etc/passwd", "/..%2f..%2fetc/passwd", "/sub/../../etc/passwd",
                 "/..\\..\\etc/passwd", "/%00", "//../etc/passwd", "/.%2e/etc/passwd", "/etc/passwd", "/out/passwd",
                 "/.secret", "/sub/.secret", "/..;/etc/passwd", "/%252e%252e/etc/passwd"):
        status, _, got = curl.ask(path, "--path-as-is")
        assert status in (400, 404) and b"root:" not in got and b"hidden" not in got, f"{path}: {status} {got!r}"


def folders(curl: Curl):
    status, fields, _ = curl.ask("/sub")
    equal((status, fields["location"]), (301, "/sub/"))
    equal(curl.ask("/sub?a=b")[1]["location"], "/sub/?a=b")
    # `//host` in Location would redirect the client to another host.
    location = curl.ask("//sub", "--path-as-is")[1]["location"]
    equal(location, "/sub/")
    listing = curl.ask("/sub/")[2].decode()
    assert "<b>" not in listing and "a&lt;b&gt; &amp;" in listing, listing
    assert ".secret" not in listing, listing
    # The page links to the file.
    links = [link for link in re.findall(r'href="([^"]*)"', listing) if "%3Cb" in link]
    equal(len(links), 1)
    equal(curl.ask("/sub/" + links[0].removeprefix("./").replace("&amp;", "&"))[::2], (200, b"nasty"))


def uploads(curl: Curl, folder: pathlib.Path):
    large = str(folder / "large.bin")
    for arguments in (("-T", large), ("--data-binary", f"@{large}"), ("-T", large, "-H", "Expect:"),
                      ("-T", large, "-H", "Transfer-Encoding: chunked"), ("-X", "DELETE")):
        status, fields, _ = curl.ask("/large.bin", *arguments)
        equal((arguments, status), (arguments, 405))
        assert "GET" in fields["allow"], fields


def connections(curl: Curl):
    """Two URLs share a connection; over HTTP/1.0 they do not."""
    page = f"{curl.url}/page.html"
    done = run("-o", os.devnull, "-o", os.devnull, "-w", "%{http_code} %{num_connects}\n", page, page)
    equal(done.stdout, b"200 1\n200 0\n")
    done = run("-0", "-o", os.devnull, "-w", "%{http_code} %{num_connects}\n", page, "-o", os.devnull, page)
    equal(done.stdout, b"200 1\n200 1\n")
    equal(curl.ask("/page.html", "--http1.0")[::2], (200, b"<h1>page</h1>"))


def make_folder(folder: pathlib.Path):
    (folder / "sub").mkdir(parents=True)
    (folder / "page.html").write_text("<h1>page</h1>")
    os.utime(folder / "page.html", (1_000_000_000, 1_000_000_000))  # its tag stays the same
    for name in (".secret", "sub/.secret"):
        (folder / name).write_text("hidden")
    (folder / "sub" / NASTY).write_text("nasty")
    (folder / "out").symlink_to("/etc")
    random_file(folder / "large.bin", 2_000_000)


def main(arguments: list[str]) -> int:
    if not shutil.which("curl"):
        print("skipped: curl is not installed")
        return SKIP
    program = str(pathlib.Path(arguments[0]).resolve())
    with tempfile.TemporaryDirectory() as temporary:
        folder = pathlib.Path(temporary) / "site"
        make_folder(folder)
        for backend in backends(program):
            with Served(program, folder, "--backend", backend) as url:
                curl = Curl(url)
                files_and_ranges(curl, folder)
                conditions(curl, folder)
                strangers(curl)
                folders(curl)
                uploads(curl, folder)
                connections(curl)
            print(f"{backend}: files, ranges, conditions, strangers, folders, uploads, connections")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
