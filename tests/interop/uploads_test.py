#!/usr/bin/env python3
"""curl and Python's requests send forms and files to the examples: -F, --data-urlencode, -T - and chunked bodies.

Usage: uploads_test.py SKUA      expects the examples beside it; exits with 77 (skipped) without curl or the examples
"""
import pathlib
import shutil
import subprocess
import sys
import tempfile

from served import SKIP, TIMEOUT, Program, checksum, random_file


def curl(*arguments: str, text: bytes = b"") -> str:
    done = subprocess.run(["curl", "-sS", "--noproxy", "*", *arguments], input=text, capture_output=True,
                          timeout=TIMEOUT)
    assert done.returncode == 0, done.stderr.decode()
    return done.stdout.decode()


def equal(actual, expected):
    assert actual == expected, f"{actual!r} is not {expected!r}"


def forms(url: str):
    greet = f"{url}/greet"
    equal(curl("--data-urlencode", "name=Ada & Co", "--data-urlencode", "tag=new", greet),
          "<p>Hello, Ada &#38; Co! (new)</p>\n")
    equal(curl("-F", "name=Grace", "-F", "tag=shy", greet), "<p>Hello, Grace! (shy)</p>\n")
    equal(curl("-H", "Expect: 100-continue", "-F", "name=Alan", greet), "<p>Hello, Alan!</p>\n")


def files(url: str, folder: pathlib.Path, source: pathlib.Path, expected: int):
    equal(curl("-F", f"file=@{source};filename=x y.bin", "-F", "note=hi", f"{url}/upload"),
          f"x y.bin: {source.stat().st_size} bytes, done")
    equal(checksum(folder / "x y.bin"), expected)
    equal(curl("-F", "file=@-;filename=../../up.txt", f"{url}/upload", text=b"stdin"), "up.txt: 5 bytes, done")
    equal((folder / "up.txt").read_bytes(), b"stdin")


def streams(url: str):
    # -T - has no length: chunked, with an Expect if the body is large.
    equal(curl("-X", "POST", "-T", "-", f"{url}/sum/ada", text=b"\x01" * 100_000), "ada: 100000 bytes, sum 100000\n")


def requests_too(form_url: str, upload_url: str) -> bool:
    try:
        import requests
    except ImportError:
        return False
    session = requests.Session()
    session.trust_env = False
    equal(session.post(f"{form_url}/greet", data={"name": "Guido"}, timeout=TIMEOUT).text, "<p>Hello, Guido!</p>\n")
    answer = session.post(f"{upload_url}/upload", files={"file": ("ä.txt", b"text")}, timeout=TIMEOUT)
    equal(answer.text, "ä.txt: 4 bytes, done")
    return True


def main(arguments: list[str]) -> int:
    programs = pathlib.Path(arguments[0]).resolve().parent
    if not (shutil.which("curl") and (programs / "example-forms").exists()):
        print("skipped: curl is not installed, or the examples are not built")
        return SKIP
    with tempfile.TemporaryDirectory() as temporary:
        folder = pathlib.Path(temporary, "uploads")
        folder.mkdir()
        source = pathlib.Path(temporary, "source.bin")
        expected = random_file(source, 10_000_000)
        with Program(str(programs / "example-forms"), "0") as form_url, \
                Program(str(programs / "example-upload"), "0", str(folder)) as upload_url, \
                Program(str(programs / "example-responder"), "0") as responder_url:
            forms(form_url)
            files(upload_url, folder, source, expected)
            streams(responder_url)
            both = requests_too(form_url, upload_url)
    print("forms, files and streams by curl" + (" and by Python's requests" if both else ""))
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
