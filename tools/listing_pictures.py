#!/usr/bin/env python3
"""Takes the pictures of listings in docs/images with headless Chromium (Debian: chromium).
Usage: listing_pictures.py SKUA FOLDER"""
import os
import pathlib
import struct
import subprocess
import sys
import tempfile
import zlib

import arguments

FILES = {"Annual report 2025.pdf": 812_345, "archive.tar.gz": 73_400_320, "data.csv": 98_765, "index of things.txt": 1234,
         "Makefile": 800, "notes.md": 5000}
README = """# Field notes

What the expedition to the **Falkland Islands** brought back. Pictures are in [albums](albums/).

- `data.csv` has one line for each nest
- times are UTC

| colony | nests |
|---|---|
| Sea Lion Island | 112 |
| Bleaker Island | 87 |
"""
FOLDERS = ("albums/2026", "docs", "music")
PICTURES = {"listing-light": (900, 940, "/", []),
            "listing-dark": (900, 940, "/", ["--blink-settings=preferredColorScheme=0"]),
            "listing-phone": (390, 1000, "/", []),
            "listing-gallery": (900, 520, "/albums/2026/?view=gallery", [])}
TIME = 1_760_000_000


def png(red: int, green: int, blue: int) -> bytes:
    """Returns a picture that fades from blue to a colour."""
    width, height = 320, 200
    rows = b"".join(b"\0" + bytes(part for x in range(width)
                                  for part in (red * x // width, green * y // height, blue)) for y in range(height))

    def chunk(kind: bytes, data: bytes) -> bytes:
        return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))

    header = struct.pack(">IIBBBBB", width, height, 8, 2, 0, 0, 0)
    return b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", header) + chunk(b"IDAT", zlib.compress(rows)) + chunk(b"IEND", b"")


def make_site(site: pathlib.Path) -> None:
    for folder in FOLDERS:
        (site / folder).mkdir(parents=True)
    for name, size in FILES.items():
        with open(site / name, "wb") as file:
            file.truncate(size)
    (site / "README.md").write_text(README)
    for i in range(8):
        (site / "albums/2026" / f"gull {i}.png").write_bytes(png(30 * i, 250 - 30 * i, 90 + 20 * i))
    for path in site.rglob("*"):
        os.utime(path, (TIME, TIME))


def main() -> int:
    skua, folder = arguments.words(__doc__, "PATH", 2)
    target = pathlib.Path(folder)
    with tempfile.TemporaryDirectory() as folder:
        site, profile = pathlib.Path(folder) / "site", pathlib.Path(folder) / "profile"
        make_site(site)
        with subprocess.Popen([skua, "serve", "--quiet", "--port", "0", "--archive", site], stdout=subprocess.PIPE, text=True) as server:
            try:
                url = server.stdout.readline().split()[-1]
                for name, (width, height, path, options) in PICTURES.items():
                    subprocess.run(["chromium", "--headless", "--no-sandbox", "--disable-gpu", "--disable-quic",
                                    "--no-first-run", "--disable-background-networking", "--disable-component-update",
                                    "--disable-sync", "--hide-scrollbars", f"--user-data-dir={profile}", f"--window-size={width},{height}",
                                    "--virtual-time-budget=2000", *options, f"--screenshot={target.resolve() / name}.png",
                                    url + path], check=True, timeout=60, stderr=subprocess.DEVNULL)
            finally:
                server.terminate()
    return 0


if __name__ == "__main__":
    sys.exit(main())
