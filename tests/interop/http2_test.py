#!/usr/bin/env python3
"""Other people's HTTP/2 clients against skua-bench-server, in clear text (prior knowledge) and over TLS (ALPN).

Usage: http2_test.py SKUA_BENCH_SERVER      skips clients that are not installed; exits with 77 (skipped) without any
"""
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

from served import SKIP, TIMEOUT, Program, certificate, random_file

HERE = pathlib.Path(__file__).parent


def run(*command: str) -> str:
    done = subprocess.run(command, capture_output=True, text=True, timeout=2 * TIMEOUT)
    assert done.returncode == 0, f"{command[:6]} ended with {done.returncode}: {done.stdout[-2000:]}{done.stderr[-2000:]}"
    return done.stdout


def curl(url: str, certificate: str | None, folder: pathlib.Path):
    ask = ["curl", "-sS", "--noproxy", "*", "--max-time", str(TIMEOUT)]
    ask += ["--http2", "--cacert", certificate] if certificate else ["--http2-prior-knowledge"]
    assert run(*ask, "-w", " %{http_version}", "-d", "hello", url) == "hello 2"
    assert "HTTP/2 200" in run(*ask, "-I", url)
    large, back = folder / "large.bin", folder / "back.bin"
    random_file(large, 100_000_000)
    run(*ask, "--data-binary", f"@{large}", "-o", str(back), url)
    assert large.read_bytes() == back.read_bytes(), "100 MB came back changed"
    if not certificate:  # curl 7.88 cannot multiplex with prior knowledge, with any server
        return
    urls = [f"{url}/{i}" for i in range(200)]
    assert run(*ask, "--parallel", "--parallel-max", "100", "-w", "%{http_version}\n", *urls).count("2\n") == 200


def nghttp(url: str, certificate: str | None, folder: pathlib.Path):
    body = folder / "body.bin"
    body.write_bytes(b"x" * 100_000)
    assert run("nghttp", "--no-verify-peer", "-d", str(body), url) == "x" * 100_000
    assert "HEADERS frame" in run("nghttp", "--no-verify-peer", "-nv", url)


def h2load(url: str, certificate: str | None, _):
    # 1000 streams at once over 10 connections
    report = run("h2load", "-n", "20000", "-c", "10", "-m", "100", url)
    assert "20000 succeeded, 0 failed, 0 errored, 0 timeout" in report, report


def go(url: str, certificate: str | None, folder: pathlib.Path):
    version = re.search(r"go1\.(\d+)", run("go", "version"))
    if not version or int(version[1]) < 24:
        return print("go: skipped, older than 1.24")
    program = folder / "client"
    if not program.exists():
        run("go", "build", "-o", str(program), str(HERE / "http2_client.go"))
    run(str(program), url, *([certificate] if certificate else []))


def node(url: str, certificate: str | None, _):
    run("node", str(HERE / "http2_client.mjs"), url, *([certificate] if certificate else []))


def main(arguments: list[str]) -> int:
    clients = [client for client in (curl, nghttp, h2load, go, node) if shutil.which(client.__name__)]
    if not clients:
        print("skipped: no client is installed")
        return SKIP
    server = str(pathlib.Path(arguments[0]).resolve())
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        pair = certificate(folder)
        for scheme, flags in (("http", ()), ("https", pair and ("--tls-cert", pair[0], "--tls-key", pair[1]))):
            if flags is None:
                print("https: skipped, openssl is not installed")
                continue
            for backend in ("epoll", "io_uring"):
                with Program(server, "echo", "--backend", backend, *flags) as url:
                    for client in clients:
                        client(url, pair[0] if flags else None, folder)
                        print(f"{scheme} {backend} {client.__name__}: ok", flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
