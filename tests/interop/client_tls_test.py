#!/usr/bin/env python3
"""`skua get` against valid and invalid certificates of all kinds, and against peers that do not speak TLS.

Usage: client_tls_test.py SKUA      exits with 77 (skipped) without openssl
"""
import contextlib
import http.server
import pathlib
import re
import shutil
import socket
import ssl
import sys
import tempfile
import threading
import warnings

from asked import NOT_CONNECTED, TIMED_OUT, TLS, Skua, equal
from authority import LOCALHOST, Authority
from served import SKIP
from servers import peer


class Handler(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def do_GET(self):
        seen = self.connection.getpeercert()
        text = f"home {self.connection.version()} {seen['subject'][0][0][1] if seen else 'nobody'}".encode()
        self.send_response(200)
        self.send_header("Content-Length", str(len(text)))
        self.end_headers()
        self.wfile.write(text)

    def log_message(self, *_):
        pass


class Site(http.server.ThreadingHTTPServer):
    """`with Site(pair) as site:` on a free port of 127.0.0.1; serving threads do the handshakes."""

    def __init__(self, pair: tuple[str, str], **options):
        super().__init__(("127.0.0.1", 0), Handler)
        self.context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        self.context.load_cert_chain(*pair)
        self.context.sni_callback = lambda _, name, __: self.names.append(name)
        for name, value in options.items():
            setattr(self.context, name, value)
        self.names: list[str | None] = []

    def get_request(self):
        connection, address = super().get_request()
        return self.context.wrap_socket(connection, server_side=True, do_handshake_on_connect=False), address

    def handle_error(self, *_):  # a client that does not trust us
        pass

    def shutdown_request(self, request):
        """Reads until the client has closed, as a reset could overtake the alert with the reason."""
        with socket.socket(fileno=request.detach()) as plain, contextlib.suppress(OSError):
            plain.settimeout(2)
            plain.shutdown(socket.SHUT_WR)
            while plain.recv(65536):
                pass

    def __enter__(self):
        self.thread = threading.Thread(target=self.serve_forever, args=(0.02,), daemon=True)
        self.thread.start()
        return self

    def __exit__(self, *_):
        self.shutdown()
        self.server_close()
        self.thread.join()

    def url(self, host: str = "localhost") -> str:
        return f"https://{host}:{self.server_port}/"


def refused(skua: Skua, trusted: str, folder: pathlib.Path, root: Authority):
    """Each invalid certificate has an error message of its own, and --insecure prints a warning."""
    strange = Authority(folder, "strange")
    middle = Authority(folder, "middle", root)
    old = Authority(folder, "old")
    between = Authority(folder, "old-middle", old)
    cases = {
        "expired": (root.issue("expired", *LOCALHOST, start=-20, end=-10), "expired"),
        "not yet valid": (root.issue("early", *LOCALHOST, start=10, end=20), "not yet valid|not valid yet|in the future"),
        "another host": (root.issue("other", "DNS:other.test", "DNS:*.other.test"), "other.test|(for|name|host).*localhost"),
        "no names": (root.issue("localhost"), "host|name"),
        "signed by itself": ((str(strange.certificate), str(strange.key)), "self-?signed|by itself"),
        "no intermediate": (middle.issue("middle-site", *LOCALHOST), "intermediate"),
        "another root": (strange.issue("strange-site", *LOCALHOST, chain=(strange,)), "authority|root|issuer|self-signed"),
        "another root, left out": (between.issue("old-site", *LOCALHOST, chain=(between,)), "missing from the trust store"),
        "another root, alone": (old.issue("older-site", *LOCALHOST), "authority|root|issuer"),
    }
    texts = {}
    for name, (pair, says) in cases.items():
        with Site(pair) as site:
            told = skua.refused("get", "--ca", trusted, site.url(), code=TLS, says=says)
            assert f"localhost:{site.server_port}" in told, f"{name}: {told!r} does not name the server"
            texts[name] = re.sub(r":\d+|'CN = [^']*'", "", told)
            done = skua.run("get", "--ca", trusted, "--insecure", site.url())
            assert done.stdout.startswith(b"home"), done.stdout
            assert re.search(rb"insecure|not (verified|checked)|warning", done.stderr, re.I), done.stderr
            skua.run("get", "-q", "--insecure", site.url())
    # These are indistinguishable: the signer is missing in both, or the name is.
    equal(texts.pop("no intermediate"), texts["another root, alone"])
    equal(texts.pop("no names"), texts["another host"])
    equal(len(set(texts.values())), len(texts), f"distinct texts in {texts}")
    print("rejected certificates: ok", flush=True)


def accepted(skua: Skua, trusted: str, folder: pathlib.Path, root: Authority):
    middle = Authority(folder, "between", root)
    wild = root.issue("wild", "DNS:*.wild.test", "DNS:sole.test")
    chained = middle.issue("chained", *LOCALHOST, chain=(middle,))
    for pair in (root.issue("good", *LOCALHOST), chained):
        with Site(pair) as site:
            for host, name in (("localhost", "localhost"), ("127.0.0.1", None)):
                equal(skua("get", "--ca", trusted, site.url(host)).content[:4], b"home")
                # RFC 6066 §3: an address is not a name for SNI.
                equal(site.names[-1], name)
            skua.refused("get", site.url(), code=TLS, says="authority|issuer")
    with Site(wild) as site:
        def at(host: str) -> list[str]:
            return ["--ca", trusted, "--resolve", f"{host}:{site.server_port}:127.0.0.1", site.url(host)]
        for host in ("a.wild.test", "A.Wild.Test", "sole.test"):
            equal(skua("get", *at(host)).content[:4], b"home", host)
        for host in ("wild.test", "a.b.wild.test", "sole.test.evil.test"):
            skua.refused("get", *at(host), code=TLS, says="name|host|for")
    print("accepted certificates: ok", flush=True)


def versions(skua: Skua, trusted: str, pair: tuple[str, str]):
    for version in (ssl.TLSVersion.TLSv1_2, ssl.TLSVersion.TLSv1_3):
        with Site(pair, maximum_version=version) as site:
            equal(skua("get", "--ca", trusted, site.url()).content.split()[1].decode(), version.name.replace("_", "."))
    with Site(pair) as site, warnings.catch_warnings():
        warnings.simplefilter("ignore")  # deprecated versions
        site.context.set_ciphers("ALL:@SECLEVEL=0")
        site.context.minimum_version = ssl.TLSVersion.TLSv1
        site.context.maximum_version = ssl.TLSVersion.TLSv1_1
        skua.refused("get", "--ca", trusted, "--insecure", site.url(), code=TLS, says="version|protocol|old")
    print("versions: ok", flush=True)


def client_certificates(skua: Skua, trusted: str, pair: tuple[str, str], folder: pathlib.Path, root: Authority):
    own, key = root.issue("ada")
    strange, strange_key = Authority(folder, "foreign").issue("bob")
    for version in (ssl.TLSVersion.TLSv1_2, ssl.TLSVersion.TLSv1_3):
        with Site(pair, maximum_version=version, verify_mode=ssl.CERT_REQUIRED) as site:
            site.context.load_verify_locations(trusted)
            ask = ["get", "--ca", trusted, site.url()]
            equal(skua(*ask, "--cert", own, "--key", key).content.split()[2], b"ada")
            skua.refused(*ask, code=TLS, says="certificate|handshake failure")
            skua.refused(*ask, "--cert", strange, "--key", strange_key, code=TLS, says="certificate|authority|unknown ca|unexpected")
    print("client certificates: ok", flush=True)


def no_tls(skua: Skua, trusted: str):
    def plain(connection: socket.socket):
        connection.recv(1000)
        connection.sendall(b"HTTP/1.1 400 Bad Request\r\nConnection: close\r\n\r\n")

    def silent(connection: socket.socket):
        while connection.recv(1000):
            pass

    def half(connection: socket.socket):
        connection.recv(1000)
        connection.sendall(b"\x16\x03\x03\x00\x7a\x02")

    with peer(plain) as port:
        skua.refused("get", "--ca", trusted, f"https://localhost:{port}/", code=TLS, says="TLS")
    with peer(half) as port:
        skua.refused("get", "--ca", trusted, f"https://localhost:{port}/", code=TLS, says="TLS|handshake")
    with peer(lambda connection: connection.recv(1000)) as port:
        skua.refused("get", "--ca", trusted, f"https://localhost:{port}/", code=TLS, says="TLS|handshake|clos")
    with peer(silent) as port:
        for limit in ("--timeout", "--connect-timeout"):
            skua.refused("get", "--ca", trusted, limit, "0.5", f"https://localhost:{port}/", code=TIMED_OUT)
    skua.refused("get", f"https://localhost:{port}/", code=NOT_CONNECTED, says="refused")  # closed by now
    print("no TLS: ok", flush=True)


def main(arguments: list[str]) -> int:
    skua = Skua(str(pathlib.Path(arguments[0]).resolve()))
    if not shutil.which("openssl"):
        print("skipped: openssl is not installed")
        return SKIP
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        root = Authority(folder, "root")
        trusted, pair = str(root.certificate), root.issue("site", *LOCALHOST)
        accepted(skua, trusted, folder, root)
        refused(skua, trusted, folder, root)
        versions(skua, trusted, pair)
        client_certificates(skua, trusted, pair, folder, root)
        no_tls(skua, trusted)
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
