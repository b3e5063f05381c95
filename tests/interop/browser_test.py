#!/usr/bin/env python3
"""A browser against `skua serve`: a page with a style sheet, a script and an image, and a download of 100 MB.

Usage: browser_test.py SKUA [SCREENSHOT_FOLDER]      on every back end available
Exits with 77 (skipped) without Chromium or curl.
"""
import os
import pathlib
import re
import shutil
import struct
import subprocess
import sys
import tempfile
import zlib

from served import SKIP, TIMEOUT, Served, backends, checksum, random_file

BROWSERS = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable")
SIZE = 100_000_000

PAGE = """<!doctype html><html><head><meta charset="utf-8"><title>loading</title>
<link rel="stylesheet" href="style.css"><script src="script.js" defer></script></head>
<body><h1 id="head">skua</h1><img id="image" src="image.png" alt=""><p id="result">nothing yet</p></body></html>
"""
STYLE = "body{background:#dde8ee} h1{color:rgb(1, 102, 203);font-size:72px}\n"
SCRIPT = """"use strict";
async function download() {
  const response = await fetch("large.bin", {cache: "no-store"});
  const bytes = await response.arrayBuffer();
  let sum = 0;
  for (const word of new Uint32Array(bytes)) sum = (sum + word) >>> 0;
  return `${response.status} ${bytes.byteLength} ${sum}`;
}
addEventListener("load", async () => {
  const image = document.getElementById("image");
  const color = getComputedStyle(document.getElementById("head")).color;
  const facts = [`image=${image.naturalWidth}x${image.naturalHeight}`, `color=${color}`];
  if (location.protocol === "https:") facts.push(performance.getEntriesByType("navigation")[0].nextHopProtocol);
  if (location.search === "?download") facts.push(`large=${await download().catch(String)}`);
  document.getElementById("result").textContent = facts.join("; ");
  document.title = "loaded";
});
"""


def png(width: int, height: int) -> bytes:
    """A PNG of a gradient, so that a screenshot is not blank."""
    rows = b"".join(b"\0" + bytes(v for x in range(width) for v in (x * 255 // width, y * 255 // height, 128))
                    for y in range(height))

    def chunk(kind: bytes, data: bytes) -> bytes:
        return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))

    head = struct.pack(">IIBBBBB", width, height, 8, 2, 0, 0, 0)
    return b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", head) + chunk(b"IDAT", zlib.compress(rows)) + chunk(b"IEND", b"")


def browse(browser: str, url: str, *arguments: str) -> str:
    with tempfile.TemporaryDirectory() as profile:
        command = [browser, "--headless", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run",
                   "--disable-dev-shm-usage", "--disable-background-networking", "--disable-component-update",
                   "--disable-sync", "--hide-scrollbars", f"--user-data-dir={profile}", *arguments, url]
        done = subprocess.run(command, capture_output=True, text=True, timeout=2 * TIMEOUT,
                              env={**os.environ, "no_proxy": "*"})
        assert done.returncode == 0, f"{browser} ended with {done.returncode}: {done.stderr}"
        return done.stdout


def result(dom: str) -> str:
    found = re.search(r'<p id="result">([^<]*)</p>', dom)
    assert found, f"the page did not arrive: {dom!r}"
    return found[1]


def color_count(path: pathlib.Path) -> int:
    """Counts the different bytes in a screenshot's pixels; a blank one has very few."""
    data, packed, at = path.read_bytes(), b"", 8
    while at < len(data):
        (size,) = struct.unpack_from(">I", data, at)
        if data[at + 4:at + 8] == b"IDAT":
            packed += data[at + 8:at + 8 + size]
        at += size + 12
    return len(set(zlib.decompress(packed)))


def check(browser: str, program: str, backend: str, folder: pathlib.Path, shots: pathlib.Path, expected: int):
    with Served(program, folder, "--backend", backend) as url:
        dom = browse(browser, url, "--virtual-time-budget=10000", "--dump-dom")
        assert result(dom) == "image=320x200; color=rgb(1, 102, 203)", result(dom)
        assert "<title>loaded</title>" in dom, dom

        shot = shots / f"{backend}.png"
        browse(browser, url, "--virtual-time-budget=10000", "--window-size=800,600", f"--screenshot={shot}")
        assert color_count(shot) > 64, f"{shot} is blank"

        copy = folder.parent / "copy.bin"
        subprocess.run(["curl", "-sS", "--fail", "--noproxy", "*", "-o", str(copy), f"{url}/large.bin"],
                       check=True, timeout=TIMEOUT)
        assert (copy.stat().st_size, checksum(copy)) == (SIZE, expected), "curl got different bytes"
        copy.unlink()

        # Virtual time stops while a request is in flight, so the budget does not end the download.
        dom = browse(browser, f"{url}/?download", "--virtual-time-budget=60000", "--dump-dom")
        assert result(dom).endswith(f"; large=200 {SIZE} {expected}"), result(dom)
    print(f"{backend}: page, style sheet, script, image, screenshot, {SIZE} bytes by curl and by fetch()")


def check_https(browser: str, program: str, backend: str, folder: pathlib.Path, expected: int):
    """Loads the page over TLS, where browsers speak HTTP/2."""
    with Served(program, folder, "--backend", backend, "--tls-self-signed") as url:
        dom = browse(browser, f"{url}/?download", "--ignore-certificate-errors", "--virtual-time-budget=60000", "--dump-dom")
        wanted = f"image=320x200; color=rgb(1, 102, 203); h2; large=200 {SIZE} {expected}"
        assert result(dom) == wanted, result(dom)
    print(f"{backend}: the page and {SIZE} bytes by fetch() over HTTP/2 and TLS")


def main(arguments: list[str]) -> int:
    browser = next(filter(None, map(shutil.which, BROWSERS)), None)
    for name, there in (("a Chromium", browser), ("curl", shutil.which("curl"))):
        if not there:
            print(f"skipped: {name} is not installed")
            return SKIP
    program = str(pathlib.Path(arguments[0]).resolve())
    with tempfile.TemporaryDirectory() as temporary:
        folder = pathlib.Path(temporary) / "site"
        folder.mkdir()
        for name, content in (("index.html", PAGE), ("style.css", STYLE), ("script.js", SCRIPT)):
            (folder / name).write_text(content)
        (folder / "image.png").write_bytes(png(320, 200))
        expected = random_file(folder / "large.bin", SIZE)
        shots = pathlib.Path(arguments[1] if len(arguments) > 1 else temporary)
        for backend in backends(program):
            check(browser, program, backend, folder, shots, expected)
            try:
                check_https(browser, program, backend, folder, expected)
            except RuntimeError as error:  # built without TLS
                print(f"HTTPS: skipped: {error}")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
