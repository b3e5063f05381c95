#!/usr/bin/env python3
"""curl uploads to paths that answer 405 and 413 at once: it reads the response each time.

Usage: http2_early_test.py SKUA_BENCH_SERVER      exits with 77 (skipped) without curl or openssl
"""
import pathlib
import shutil
import subprocess
import sys
import tempfile

from served import SKIP, TIMEOUT, Program, certificate, random_file

ROUNDS = 20
ANSWERS = {"/get": "405", "/small": "413"}


def ask(url: str, file: pathlib.Path, *options: str) -> str:
    """Returns the status and version, or curl's error."""
    done = subprocess.run(["curl", "-sS", "--noproxy", "*", "--max-time", str(TIMEOUT), *options, "--data-binary", f"@{file}",
                           "-o", "/dev/null", "-w", "%{http_code} %{http_version}", url],
                          capture_output=True, text=True, timeout=2 * TIMEOUT)
    return done.stdout if done.returncode == 0 else f"{done.stdout}, exit code {done.returncode}: {done.stderr}"


def main(program: str) -> int:
    if not shutil.which("curl"):
        print("curl is not installed")
        return SKIP
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        pair = certificate(folder)
        if pair is None:
            print("openssl is not installed")
            return SKIP
        ways = (("plain text", (), ("--http2-prior-knowledge",)),
                ("TLS", ("--tls-cert", pair[0], "--tls-key", pair[1]), ("--http2", "--cacert", pair[0])))
        for what, flags, options in ways:
            with Program(program, "refuse", *flags) as url:
                for size in (200_000, 8_000_000):
                    file = folder / f"{size}.bin"
                    random_file(file, size)
                    for path, status in ANSWERS.items():
                        got = [ask(url + path, file, *options) for _ in range(ROUNDS)]
                        wrong = [one for one in got if one != f"{status} 2"]
                        assert not wrong, f"{what}, {size} bytes to {path}: {len(wrong)} of {ROUNDS} wrong: {wrong[:3]}"
                        print(f"{what}, {size} bytes to {path}: {ROUNDS} of {ROUNDS} read {status}", flush=True)
    return 0


sys.exit(main(sys.argv[1]))
