"""`skua get` against servers of Go's net/http and Node: bodies, trailers, 1xx, truncated and missing responses."""
import hashlib
import pathlib
import shutil

import installed
from asked import PROTOCOL, TIMED_OUT, Skua, equal
from served import Program

HERE = pathlib.Path(__file__).parent
BODY_BYTES = 5_000_000


def content_of(digits: int = 10) -> bytes:
    return b"".join(str(i).encode() * (i * i * 100) + b"\n" for i in range(digits))


def responses(skua: Skua, url: str):
    equal(skua("get", f"{url}/chunked").content, content_of())
    content, _, trailers = skua("get", f"{url}/trailers").content.partition(b"\n\n")
    equal(content, b"with trailers")
    assert b"x-checksum: abc" in trailers.lower().splitlines(), trailers
    told = skua.run("get", "-v", f"{url}/early")
    equal(told.stdout, b"late\n")
    equal(skua("head", f"{url}/echo").content, b"")


def bodies(skua: Skua, url: str, folder: pathlib.Path, protocol: str):
    for method, items in (("get", []), ("delete", []), ("post", ["--data", ""]), ("put", ["--data", "hello"]),
                          ("patch", ["--data", "x" * 1000])):
        seen = skua(method, *items, f"{url}/echo?a=%20b").json()
        body = (items[1:] or [""])[0].encode()
        equal((seen["method"], seen["sha256"]), (method.upper(), hashlib.sha256(body).hexdigest()))
        equal((seen["protocol"], seen["path"]), (protocol, "/echo?a=%20b"))
    large = folder / "large.bin"
    if not large.exists():
        large.write_bytes(bytes(range(256)) * (BODY_BYTES // 256))
    expected = hashlib.sha256(large.read_bytes()).hexdigest()
    seen = skua("post", "--data", f"@{large}", f"{url}/echo").json()
    equal((seen["sha256"], seen["length"]), (expected, large.stat().st_size), "a file")
    # The length of stdin is unknown.
    equal(skua("post", "--data", "-", f"{url}/echo", text=large.read_bytes()).json()["sha256"], expected, "stdin")
    # A response that does not wait for the body.
    equal(skua("post", "--data", f"@{large}", f"{url}/refused").status, 403)


def redirects(skua: Skua, url: str):
    for status, method, size in ((301, "GET", 0), (302, "GET", 0), (303, "GET", 0), (307, "POST", 5), (308, "POST", 5)):
        seen = skua("post", "--follow", "--data", "hello", f"{url}/redirect/x?status={status}").json()
        equal((seen["method"], seen["size"], seen["path"]), (method, size, f"/echo?from={status}"), str(status))


def broken(skua: Skua, url: str, protocol: str):
    for by in ("length", "chunks"):
        told = skua.run("get", f"{url}/truncated?by={by}", code=PROTOCOL)
        equal(told.stdout, b"the first part", by)
    if protocol == "HTTP/1.1":
        skua.refused("get", f"{url}/garbage", code=PROTOCOL, says="HTTP")
    for where in ("head", "content"):
        skua.refused("get", "--timeout", "0.5", f"{url}/slow?where={where}", code=TIMED_OUT, says="within|too long")


def node_only(skua: Skua, url: str):
    expected = b"A sentence that is said again and again. " * 1000
    for by in ("gzip", "x-gzip", "deflate", "br", "raw", "deflate,gzip", "gzip,br", "identity"):
        equal(skua("get", f"{url}/coded?by={by}").content == expected, True, by)
    answer = skua("get", f"{url}/unchanged")
    equal((answer.status, answer.content, answer.fields["etag"]), (304, b"", '"x"'))


def falls_back(skua: Skua, url: str):
    """A server that negotiates HTTP/2, but requires HTTP/1.1 for this path."""
    seen = skua("post", "--data", "hello", f"{url}/old").json()
    equal((seen["protocol"], seen["size"]), ("HTTP/1.1", 5))
    skua.refused("get", "--http2", f"{url}/old", code=PROTOCOL, says="wants HTTP/1.1")


def check_all(skua: Skua, url: str, folder: pathlib.Path, protocol: str):
    responses(skua, url)
    bodies(skua, url, folder, protocol)
    redirects(skua, url)
    broken(skua, url, protocol)


def ways(skua: Skua, scheme: str, authority: str, has_http2: bool, kind: str):
    """The ways to speak to a server that supports `kind` in clear text ("both", "http", "http2"); over TLS, ALPN decides."""
    trusting = skua.given("--ca", authority) if scheme == "https" else skua
    if scheme == "https" or kind != "http2":
        yield "HTTP/1.1", trusting.given("--http1.1")
    if has_http2 and kind != "http":
        yield "HTTP/2.0", trusting if scheme == "https" else trusting.given("--http2")


def go_server(cache: pathlib.Path) -> list[str] | None:
    program = installed.go(cache, HERE / "client_peer.go")
    return [program] if program else None


def check(skua: Skua, cache: pathlib.Path, folder: pathlib.Path, pair: tuple[str, str], authority: str, has_http2: bool) -> int:
    """Returns the number of peers that are installed."""
    folder.mkdir()
    peers = []
    if command := go_server(cache):
        peers.append(("Go", command, "both"))
    if shutil.which("node"):
        peers += [("Node", ["node", str(HERE / "client_peer.mjs"), kind], kind) for kind in ("http", "http2")]
    else:
        print("Node: skipped, not installed")
    for name, command, kind in peers:
        for scheme, more in (("http", []), ("https", pair)):
            with Program(*command, *more) as url:
                for protocol, asking in ways(skua, scheme, authority, has_http2, kind):
                    if name == "Node" and protocol == "HTTP/1.1" and kind == "http2":
                        continue  # the same code as "http"
                    check_all(asking, url, folder, protocol)
                    if name == "Node":
                        node_only(asking, url)
                    if name == "Node" and protocol == "HTTP/2.0" and scheme == "https":
                        falls_back(asking, url)
                    print(f"{name}, {protocol}, {scheme}: ok", flush=True)
    return len(peers)
