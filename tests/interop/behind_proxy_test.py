#!/usr/bin/env python3
"""`skua serve` behind HAProxy and nginx, which tell it who the client is.

Usage: behind_proxy_test.py SKUA      exits with 77 (skipped) without haproxy and nginx
"""
import contextlib
import pathlib
import socket
import ssl
import sys
import tempfile
import urllib.parse

from asked import equal
from served import SKIP, TIMEOUT, Served, certificate
from servers import Haproxy, Nginx, Server, found, is_root, until

CLIENT = "127.0.0.2"  # any address of the loopback network will do; the proxies connect from 127.0.0.1
STREAM_MODULE = pathlib.Path("/usr/lib/nginx/modules/ngx_stream_module.so")


class NginxStream(Nginx):
    """nginx with the module for connections of any protocol; `text` goes inside `stream { }`."""
    prefix = f"""
load_module {STREAM_MODULE};
@user@ daemon off; master_process off; pid @folder@/nginx.pid; error_log @folder@/error.log warn;
events {{ worker_connections 64; }}
stream {{
"""

    def __init__(self, folder: pathlib.Path, text: str):
        self.prefix = self.prefix.replace("@user@", "user root;" if is_root() else "")
        Server.__init__(self, folder, text)


def ask(url: str, fields: str = "", context: ssl.SSLContext | None = None) -> tuple[str, str]:
    """Sends a request from CLIENT; returns the response's content, and the client's port."""
    place = urllib.parse.urlsplit(url)
    with socket.create_connection(("127.0.0.1", place.port), TIMEOUT, source_address=(CLIENT, 0)) as plain, \
            contextlib.ExitStack() as stack:
        port = str(plain.getsockname()[1])
        connection = stack.enter_context(context.wrap_socket(plain, server_hostname="localhost")) if context else plain
        connection.sendall(f"GET {place.path or '/'} HTTP/1.1\r\nHost: public.example\r\n{fields}Connection: close\r\n\r\n".encode())
        with connection.makefile("rb") as received:
            head, _, content = received.read().partition(b"\r\n\r\n")
    assert head.startswith(b"HTTP/1.1 200"), (url, head)
    return content.decode(), port


def last_line(log: pathlib.Path, lines: int) -> str:
    """Waits until a log has so many lines; returns the last."""
    def read():
        text = log.read_text() if log.exists() else ""
        return text.splitlines() if text.count("\n") >= lines else None
    return until(read, f"{lines} lines in the log of skua")[-1]


class Site:
    """`skua serve` with a log, and how many lines that should have."""

    def __init__(self, skua: str, folder: pathlib.Path, *options: str):
        site = folder / "site"
        site.mkdir(parents=True)
        (site / "index.html").write_text("home")
        self.log, self.lines = folder / "access.log", 0
        self.served = Served(skua, site, "--log", str(self.log), "--log-format", "$address $peer", "--trust-proxy", "127.0.0.1",
                             *options)

    def __enter__(self):
        self.authority = urllib.parse.urlsplit(self.served.__enter__()).netloc
        return self

    def __exit__(self, *how):
        return self.served.__exit__(*how)

    def logged(self) -> list[str]:
        """Returns the client's address and the connection's, of the next request."""
        self.lines += 1
        return last_line(self.log, self.lines).split()


def check_fields(site: Site, url: str, forged: str):
    for fields in ("", forged):
        equal(ask(url, fields)[0], "home")
        client, peer = site.logged()
        equal(client, CLIENT, f"with {fields!r}")
        assert peer.startswith("127.0.0.1:"), peer


def haproxy_fields(skua: str, folder: pathlib.Path):
    with Site(skua, folder, "--forwarded", "x-forwarded") as site, Haproxy(folder / "haproxy", f"""
frontend front
  bind 127.0.0.1:@front@
  option forwardfor
  default_backend skua
backend skua
  server skua {site.authority}
""") as proxy:
        check_fields(site, proxy.url("front"), "X-Forwarded-For: 6.6.6.6\r\nForwarded: for=6.6.6.6\r\n")


def nginx_fields(skua: str, folder: pathlib.Path):
    with Site(skua, folder, "--forwarded", "x-forwarded") as site, Nginx(folder / "nginx", f"""
server {{ listen 127.0.0.1:@front@; location / {{
  proxy_pass http://{site.authority};
  proxy_set_header X-Forwarded-For $proxy_add_x_forwarded_for;
  proxy_set_header X-Forwarded-Proto $scheme;
  proxy_set_header X-Forwarded-Host $http_host;
}} }}
""") as proxy:
        check_fields(site, proxy.url("front"), "X-Forwarded-For: 6.6.6.6, 7.7.7.7\r\n")


def nginx_forwarded(skua: str, folder: pathlib.Path):
    with Site(skua, folder, "--forwarded", "forwarded") as site, Nginx(folder / "nginx", f"""
server {{ listen 127.0.0.1:@front@; location / {{
  proxy_pass http://{site.authority};
  proxy_set_header Forwarded "$http_forwarded, for=$remote_addr;proto=$scheme;host=\\"$http_host\\"";
}} }}
""") as proxy:
        check_fields(site, proxy.url("front"), "Forwarded: for=6.6.6.6;by=\"\r\nX-Forwarded-For: 6.6.6.6\r\n")


def check_headers(site: Site, url: str, context: ssl.SSLContext | None = None):
    for _ in range(2):
        content, port = ask(url, context=context)
        equal(content, "home")
        equal(site.logged(), [CLIENT, f"{CLIENT}:{port}"])


def haproxy_headers(skua: str, folder: pathlib.Path):
    """With health checks, whose headers name no client, and with every TLV that HAProxy sends."""
    pair = certificate(folder)
    context = ssl.create_default_context(cafile=pair[0])
    tls = ("--tls-cert", pair[0], "--tls-key", pair[1])
    with Site(skua, folder / "plain", "--proxy-protocol") as plain, Site(skua, folder / "tls", "--proxy-protocol", *tls) as secure, \
            Haproxy(folder / "haproxy", f"""
defaults
  mode tcp
  timeout connect 5s
  timeout client 30s
  timeout server 30s
frontend one
  bind 127.0.0.1:@one@
  default_backend one
frontend two
  bind 127.0.0.1:@two@
  default_backend two
frontend secure
  bind 127.0.0.1:@secure@
  default_backend secure
backend one
  server skua {plain.authority} send-proxy check inter 100ms
backend two
  server skua {plain.authority} send-proxy-v2 proxy-v2-options ssl,authority,crc32c,unique-id check inter 100ms
backend secure
  server skua {secure.authority} send-proxy-v2 proxy-v2-options crc32c check inter 100ms check-send-proxy
""") as proxy:
        check_headers(plain, proxy.url("one"))
        check_headers(plain, proxy.url("two"))
        check_headers(secure, proxy.url("secure"), context)


def nginx_headers(skua: str, folder: pathlib.Path):
    with Site(skua, folder, "--proxy-protocol") as site, NginxStream(folder / "nginx", f"""
server {{ listen 127.0.0.1:@front@; proxy_pass {site.authority}; proxy_protocol on; }}
""") as proxy:
        check_headers(site, proxy.url("front"))


CASES = [haproxy_fields, nginx_fields, nginx_forwarded, haproxy_headers, nginx_headers]


def main(skua: str) -> int:
    for server in ("haproxy", "nginx"):
        if not found(server):
            print(f"skipped: {server} is not installed")
            return SKIP
    for case in CASES:
        if case is nginx_headers and not STREAM_MODULE.exists():
            print(f"{case.__name__}: left out, as nginx has no stream module")
            continue
        with tempfile.TemporaryDirectory() as folder:
            case(skua, pathlib.Path(folder))
        print(f"{case.__name__}: passed", flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1]))
