#!/usr/bin/env python3
"""curl --compressed against an example that compresses: each coding that curl can decode, and none.

Usage: compression_test.py EXAMPLE      exits with 77 (skipped) without curl
"""
import pathlib
import shutil
import signal
import subprocess
import sys

SKIP = 77  # SKIP_RETURN_CODE in CMakeLists.txt
TIMEOUT = 60
FEATURES = {"gzip": b"libz", "deflate": b"libz", "br": b"brotli", "zstd": b"zstd"}


def curl(*arguments: str) -> bytes:
    command = ["curl", "-sS", "--noproxy", "*", *arguments]
    return subprocess.run(command, capture_output=True, timeout=TIMEOUT, check=True).stdout


def fields_of(url: str, *arguments: str) -> dict:
    lines = curl("-I", *arguments, url).decode().split("\r\n")[1:]
    return {name.lower(): value for name, _, value in (line.partition(": ") for line in lines)}


def round_trips(url: str):
    plain = curl(url)
    assert plain.endswith(b"<li>gull 500\n</ol>\n"), plain[-100:]
    assert curl("--compressed", url) == plain
    chosen = fields_of(url, "--compressed")
    assert chosen["content-encoding"] in FEATURES, chosen
    assert "content-encoding" not in fields_of(url)
    features = curl("--version")
    for coding, feature in FEATURES.items():
        if feature not in features:
            print(f"{coding}: this curl cannot decode it")
            continue
        accept = ("-H", f"Accept-Encoding: {coding}")
        assert curl("--compressed", *accept, url) == plain, coding
        raw = curl(*accept, url)
        fields = fields_of(url, *accept)
        used = fields.get("content-encoding", "nothing")
        assert used in (coding, "nothing") and int(fields["content-length"]) == len(raw), (fields, len(raw))
        assert used == "nothing" or len(raw) < len(plain) // 2, (coding, len(raw))
        print(f"{coding}: {used}, {len(raw)} of {len(plain)} bytes")


def main(arguments: list[str]) -> int:
    if not shutil.which("curl"):
        print("skipped: curl is not installed")
        return SKIP
    program = str(pathlib.Path(arguments[0]).resolve())
    process = subprocess.Popen([program, "0"], stdout=subprocess.PIPE, text=True)
    try:
        first = process.stdout.readline()
        assert first.startswith("listening on http://"), first
        round_trips(first.split()[-1] + "/page")
    finally:
        process.send_signal(signal.SIGTERM)
        try:
            code = process.wait(TIMEOUT)
        finally:
            process.kill()  # does nothing if it has ended
    assert code == 0, code
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
