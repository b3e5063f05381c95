#!/usr/bin/env python3
"""curl and Python's requests against examples/auth.cpp: right and wrong passwords.

Usage: auth_test.py SKUA      expects the example beside it; exits with 77 (skipped) without curl or the example
"""
import os
import pathlib
import shutil
import subprocess
import sys

from served import SKIP, TIMEOUT, Program

USERS = (("ada", "open sesame"), ("jäsøn", "Secret, or not?"))


def equal(actual, expected):
    assert actual == expected, f"{actual!r} is not {expected!r}"


def curl(*arguments: str) -> str:
    command = ["curl", "-sS", "--noproxy", "*", *arguments]
    done = subprocess.run(command, capture_output=True, timeout=TIMEOUT)
    assert done.returncode == 0, f"curl {arguments} ended with {done.returncode}: {done.stderr!r}"
    return done.stdout.decode()


def statuses(*arguments: str) -> list[str]:
    """Returns the status and the number of new connections for each URL."""
    urls = [word for url in arguments if url.startswith("http") for word in (url, "-o", os.devnull)]
    options = [word for word in arguments if not word.startswith("http")]
    return curl(*options, *urls, "-w", "%{http_code} %{num_connects}\n").splitlines()


def basic(url: str):
    page = f"{url}/basic/page?a=b"
    for user, password in USERS:
        equal(curl("--basic", "-u", f"{user}:{password}", page), f"Hello, {user}!\n")
    equal(statuses("-u", "ada:open sesame", page, page), ["200 1", "200 0"])
    for wrong in ("ada:open", "ada:", "bob:open sesame", ":"):
        equal(statuses("--basic", "-u", wrong, page), ["401 1"])
    equal(statuses(page), ["401 1"])


def bearer(url: str):
    equal(curl("-H", "Authorization: Bearer abc123", f"{url}/api/"), "Hello, robot!\n")
    equal(statuses("-H", "Authorization: Bearer abc124", f"{url}/api/"), ["401 1"])
    equal(statuses("-H", "Authorization: Bearer a b", f"{url}/api/"), ["400 1"])


def digest(url: str):
    page = f"{url}/digest/page?a=b&c=%20d"
    for user, password in USERS:
        equal(curl("--digest", "-u", f"{user}:{password}", page), f"Hello, {user}!\n")
    # One connection, but a nonce for each URL, as curl does not keep nonces.
    equal(statuses("--digest", "-u", "ada:open sesame", page, page, page), ["200 1", "200 0", "200 0"])
    equal(curl("--digest", "-u", "ada:open sesame", "-d", "x" * 100_000, page), "Hello, ada!\n")
    equal(curl("--anyauth", "-u", "ada:open sesame", page), "Hello, ada!\n")
    for wrong in ("ada:open", "ada:", "bob:open sesame", ":"):
        equal(statuses("--digest", "-u", wrong, page), ["401 1"])
    equal(statuses("--basic", "-u", "ada:open sesame", page), ["401 1"])


def with_requests(url: str):
    try:
        import requests
        from requests.auth import HTTPBasicAuth, HTTPDigestAuth
    except ImportError:
        print("requests: skipped, not installed")
        return
    session = requests.Session()
    session.trust_env = False
    session.auth = HTTPDigestAuth("ada", "open sesame")
    for path in ("/digest/", "/digest/a?b=c", "/digest/a?b=c"):
        answer = session.get(url + path, timeout=TIMEOUT)
        equal((answer.status_code, answer.text), (200, "Hello, ada!\n"))
    equal(len(answer.history), 0)  # reuses the first nonce
    equal(session.post(f"{url}/digest/", data="body", timeout=TIMEOUT).status_code, 200)
    wrong = session.get(f"{url}/digest/", auth=HTTPDigestAuth("ada", "open"), timeout=TIMEOUT)
    equal((wrong.status_code, len(wrong.history)), (401, 1))
    right = session.get(f"{url}/basic/", auth=HTTPBasicAuth("ada", "open sesame"), timeout=TIMEOUT)
    equal((right.status_code, right.text), (200, "Hello, ada!\n"))


def main(arguments: list[str]) -> int:
    program = pathlib.Path(arguments[0]).resolve().parent / "example-auth"
    for needed in ("curl", str(program)):
        if not shutil.which(needed):
            print(f"skipped: {needed} is missing")
            return SKIP
    with Program(str(program), "0") as url:
        basic(url)
        bearer(url)
        if statuses(f"{url}/digest/") == ["404 1"]:
            print("Digest: skipped, the example was built without OpenSSL")
            return 0
        digest(url)
        with_requests(url)
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
