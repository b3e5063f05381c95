"""`skua get` through haproxy as a reverse proxy: its own responses, its redirect to https, HTTP/2 converted to HTTP/1.1."""
import pathlib

from asked import CLIENT_ERROR, SERVER_ERROR, Skua, equal
from served import Program
from servers import Haproxy

TEXT = """
frontend clear
  bind 127.0.0.1:@port@
  http-request redirect scheme https code 301 if { path_beg /to-https }
  http-request deny deny_status 429 if { path /busy }
  http-request return status 200 content-type text/plain string "from haproxy" if { path /own }
  use_backend none if { path_beg /none }
  default_backend peer
frontend prior
  bind 127.0.0.1:@h2c@ proto h2
  default_backend peer
frontend secure
  bind 127.0.0.1:@tls@ ssl crt %(pem)s alpn h2,http/1.1
  http-response set-header Strict-Transport-Security max-age=1
  default_backend peer
backend peer
  server peer %(peer)s
backend none
  server none 127.0.0.1:1
"""


def ways(skua: Skua, proxy: Haproxy, authority: str, has_http2: bool):
    yield "HTTP/1.1", proxy.url(), skua
    yield "HTTP/1.1 over TLS", proxy.url("tls", "https"), skua.given("--ca", authority, "--http1.1")
    if has_http2:
        yield "HTTP/2", proxy.url("h2c"), skua.given("--http2")
        yield "HTTP/2 over TLS", proxy.url("tls", "https"), skua.given("--ca", authority)


def check(skua: Skua, folder: pathlib.Path, pair: tuple[str, str], authority: str, peer: list[str], has_http2: bool):
    folder.mkdir()
    pem = folder / "both.pem"
    pem.write_text(pathlib.Path(pair[0]).read_text() + pathlib.Path(pair[1]).read_text())
    with Program(*peer) as behind, \
            Haproxy(folder, TEXT % {"pem": pem, "peer": behind.removeprefix("http://")}) as proxy:
        for name, url, asking in ways(skua, proxy, authority, has_http2):
            equal(asking("get", f"{url}/chunked").content.count(b"\n"), 10)
            seen = asking("post", "--data", "-", f"{url}/echo", text=b"x" * 100_000).json()
            equal((seen["method"], seen["size"]), ("POST", 100_000))
            equal(asking.run("get", f"{url}/trailers").stdout, b"with trailers\n")
            print(f"haproxy, {name}: ok", flush=True)
        equal(skua("get", f"{proxy.url()}/own").content, b"from haproxy")
        skua.run("get", "--fail", f"{proxy.url()}/busy", code=CLIENT_ERROR)
        skua.run("get", "--fail", f"{proxy.url()}/none", code=SERVER_ERROR)
        answer = skua("get", "--no-follow", f"{proxy.url()}/to-https")
        equal((answer.status, answer.fields["location"].split(":")[0]), (301, "https"))
        print("haproxy, its own responses: ok", flush=True)
