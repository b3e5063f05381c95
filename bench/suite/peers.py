# SPDX-License-Identifier: MIT
"""The peers of the benchmarks: programs of other languages and libraries in bench/peers/, built when first needed.

Each server is started as `PROGRAM --port P [--threads N] [--tls-cert F --tls-key F] [--files DIR]`, listens on 127.0.0.1, and has
one folder with its sources and the versions of all that it needs; bench/peers/README.md lists its routes.
"""

import dataclasses
import hashlib
import pathlib
import shutil
import sys
import time

BENCH = pathlib.Path(__file__).resolve().parent.parent
SOURCES = BENCH / "peers"
sys.path.append(str(BENCH.parent / "tests/interop"))

import installed  # noqa: E402

BUILD_SECONDS = 600
PATIENT = {"CARGO_HTTP_TIMEOUT": "30", "CARGO_NET_RETRY": "2", "npm_config_fetch_timeout": "30000", "npm_config_fetch_retries": "2",
           "PIP_DEFAULT_TIMEOUT": "30", "PIP_RETRIES": "2"}


class Unavailable(Exception):
    """A peer that cannot be started here; the text says what is missing and how to get it."""


@dataclasses.dataclass(frozen=True)
class Kind:
    """How the peers of one language are built and started; {source}, {made} and {cache} are folders, {name} the peer's name."""

    needs: tuple[str, ...]  # commands
    advice: str
    build: tuple[str, ...]  # commands for the shell, run in a new folder
    start: tuple[str, ...]


GO = Kind(("go",), "install Go 1.26 or newer", ("cd {source} && go build -mod=readonly -trimpath -o {}/peer .",), ("{made}/peer",))
CARGO = Kind(("cargo", "cc"), "install Rust 1.88 or newer and a C compiler",
             ("cargo build --quiet --release --locked --manifest-path {source}/Cargo.toml --target-dir {cache}/cargo",
              "cp {cache}/cargo/release/peer-{name} {}/peer"), ("{made}/peer",))
NODE = Kind(("node", "npm"), "install Node 20 or newer with npm",
            ("cp {source}/* {}", "npm ci --prefix {} --no-audit --no-fund --ignore-scripts"), ("node", "{made}/server.mjs"))
PYTHON = Kind((), "install pip for this Python",
              ("cp {source}/* {}", "{python} -m pip install -q --disable-pip-version-check --target {}/packages -r {}/requirements.txt"),
              ("env", "PYTHONPATH={made}/packages", "{python}", "-B", "{made}/app.py"))
CPP = Kind(("c++",), "install g++",
           ("c++ -std=c++20 -O3 -DNDEBUG -pthread -o {}/peer {source}/main.cpp {libraries}",), ("{made}/peer",))


@dataclasses.dataclass(frozen=True)
class Peer:
    name: str
    offers: frozenset[str]
    kind: Kind
    headers: tuple[tuple[str, str], ...] = ()  # a header of the system, and its Debian package
    libraries: str = ""


FEATURES = frozenset("plain json routes echo upload big-head files websocket publish tls h2c h2 threads".split())
OPENSSL = ("openssl/ssl.h", "libssl-dev")


def _peer(name, kind, without="", **more):
    return Peer(name, FEATURES - set(without.split()), kind, **more)


PEERS: dict[str, Peer] = {peer.name: peer for peer in (
    _peer("go", GO),
    _peer("node", NODE, "h2c"),
    _peer("fasthttp", GO, "h2c h2"),
    _peer("hyper", CARGO, "routes files"),
    _peer("axum", CARGO),
    _peer("beast", CPP, "routes h2c h2", headers=(("boost/beast.hpp", "libboost-dev"), OPENSSL), libraries="-lssl -lcrypto"),
    _peer("uvicorn", PYTHON, "routes files h2c h2"),
    _peer("cpp-httplib", CPP, "big-head websocket publish h2c h2 threads", headers=(("httplib.h", "libcpp-httplib-dev"), OPENSSL),
          libraries="-DCPPHTTPLIB_OPENSSL_SUPPORT -lcpp-httplib -lssl -lcrypto"),
    _peer("ntex", CARGO, "h2c"),
    _peer("may_minihttp", CARGO, "routes big-head files websocket publish tls h2c h2"),
)}
CLIENTS: dict[str, Peer] = {peer.name: peer for peer in (
    Peer("go-client", frozenset(), GO),
    Peer("hyper-client", frozenset(), CARGO),
)}


def _missing(peer):
    """Returns what is missing to build a peer and how to get it, or nothing."""
    if absent := [command for command in peer.kind.needs if not shutil.which(command)]:
        return f"no {' and no '.join(absent)}: {peer.kind.advice}"
    roots = (pathlib.Path("/usr/include"), pathlib.Path("/usr/local/include"))
    packages = [package for header, package in peer.headers if not any((root / header).exists() for root in roots)]
    return f"install {' '.join(packages)} (Debian): tools/deps.sh bench" if packages else ""


def _digest(peer):
    """Returns a digest of the peer's files and of how it is built."""
    digest = hashlib.sha256(repr(peer.kind).encode() + peer.libraries.encode())
    folder = SOURCES / peer.name
    for file in sorted(file for file in folder.rglob("*") if file.is_file()):
        content = file.read_bytes()
        digest.update(f"{file.relative_to(folder)} {len(content)}\n".encode() + content)
    return digest.hexdigest()[:16]


def _filled(peer, cache, word):
    """Fills in all but {} and {port}."""
    for name, value in (("source", SOURCES / peer.name), ("made", _made(peer, cache)), ("cache", cache), ("name", peer.name),
                        ("python", sys.executable), ("libraries", peer.libraries)):
        word = word.replace(f"{{{name}}}", str(value))
    return word


def _made(peer, cache):
    return cache / f"peer-{peer.name}-{_digest(peer)}"


def is_built(name, cache) -> bool:
    return _made((PEERS | CLIENTS)[name], pathlib.Path(cache).resolve()).exists()


def _provided(peer, cache):
    """Builds a peer unless its build is in the cache; returns the words that start it."""
    cache = pathlib.Path(cache).resolve()
    if missing := _missing(peer):
        raise Unavailable(f"{peer.name}: {missing}")
    folder = _made(peer, cache)
    if not folder.exists():
        print(f"building {peer.name} ...", file=sys.stderr, flush=True)
        began = time.monotonic()
        try:
            bounded = ["timeout", "--verbose", str(BUILD_SECONDS), "sh", "-c"]  # ends the compilers, too
            installed.make(folder, *([*bounded, _filled(peer, cache, command)] for command in peer.kind.build),
                           seconds=BUILD_SECONDS + 10, **PATIENT)
        except installed.Failure as failure:
            raise Unavailable(f"{peer.name}: {' '.join(str(failure).split())}") from failure
        print(f"built {peer.name} in {time.monotonic() - began:.0f} s", file=sys.stderr, flush=True)
    return [_filled(peer, cache, word) for word in peer.kind.start]


def command(name, cache, *, port="{port}", threads=1, tls=None, files=None) -> list[str]:
    """Returns the command of the server `name`, built if needed into the folder `cache`; `tls` is a certificate and its key.

    Raises Unavailable.
    """
    peer = PEERS[name]
    wanted = {"threads": threads > 1, "tls": tls, "files": files}
    if absent := [feature for feature, value in wanted.items() if value and feature not in peer.offers]:
        raise Unavailable(f"{name}: it does not offer {' and '.join(absent)}")
    words = [*_provided(peer, cache), "--port", str(port), "--threads", str(threads)]
    if tls:
        words += ["--tls-cert", str(tls[0]), "--tls-key", str(tls[1])]
    return words + (["--files", str(files)] if files else [])


def client_command(name, cache) -> list[str]:
    """Returns the command of the client `name`, built if needed; the caller adds a URL and counts. Raises Unavailable."""
    return _provided(CLIENTS[name], cache)
