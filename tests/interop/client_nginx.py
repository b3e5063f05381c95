"""`skua get` against nginx: connections, conditions, ranges, codings, redirects, refusals, HTTP/2 over TLS."""
import pathlib

from asked import CLIENT_ERROR, PROTOCOL, SERVER_ERROR, UNFOLLOWED, Skua, equal
from served import random_file
from servers import Nginx

LARGE_BYTES = 50_000_000

COMMON = """
root @folder@/site;
gzip_types text/plain application/json;
location /zipped/ { alias @folder@/site/; gzip on; gzip_min_length 1; gzip_comp_level 9; }
location /until-close/ { alias @folder@/site/; gzip on; gzip_min_length 1; chunked_transfer_encoding off; }
location = /moved { return 301 /page.html; }
location = /far { return 302 http://127.0.0.1:@other@/page.html; }
location = /chain { return 303 /moved; }
location = /endless { return 302 /endless; }
location = /nothing { return 204; }
location = /silent { return 444; }
location = /down { return 503 "later\\n"; }
location = /small { client_max_body_size 1k; proxy_pass http://127.0.0.1:@other@; }
location = /long-head { add_header X-Long @long@ always; return 200 "long\\n"; }
location = /once { keepalive_timeout 0; return 302 /page.html; }
"""

TEXT = """
server { listen 127.0.0.1:@port@; %(common)s }
server { listen 127.0.0.1:@other@; root @folder@/site; }
server { listen 127.0.0.1:@tls@ ssl http2; ssl_certificate %(chain)s; ssl_certificate_key %(key)s; %(common)s }
"""


def server(folder: pathlib.Path, pair: tuple[str, str]) -> Nginx:
    site = folder / "site"
    site.mkdir(parents=True)
    (site / "page.html").write_text("<h1>page</h1>")
    (site / "long.txt").write_text("".join(f"line {i}\n" for i in range(20_000)))
    random_file(site / "large.bin", LARGE_BYTES)
    common = COMMON.replace("@long@", "x" * 3000)
    return Nginx(folder, TEXT % {"common": common, "chain": pair[0], "key": pair[1]})


def contents(skua: Skua, url: str, site: pathlib.Path):
    page = skua("get", f"{url}/page.html")
    equal((page.status, page.fields["content-type"], page.content), (200, "text/html", b"<h1>page</h1>"))
    head = skua("head", f"{url}/large.bin")
    equal((head.status, head.fields["content-length"], head.content), (200, str(LARGE_BYTES), b""))
    equal(skua("get", f"{url}/large.bin").content == (site / "large.bin").read_bytes(), True, "large.bin")
    equal(skua("get", f"{url}/nothing").status, 204)
    equal(len(skua("get", f"{url}/long-head").fields["x-long"]), 3000)


def codings(skua: Skua, nginx: Nginx, url: str, site: pathlib.Path):
    expected = (site / "long.txt").read_bytes()
    for folder in ("zipped", "until-close"):
        equal(skua("get", f"{url}/{folder}/long.txt").content == expected, True, folder)
        nginx.log(f"/{folder}/long.txt", "coding=gzip")
    raw = skua("get", "--raw", f"{url}/zipped/long.txt", "Accept-Encoding:gzip")
    equal((raw.fields["content-encoding"], raw.content[:2]), ("gzip", b"\x1f\x8b"))
    equal("content-encoding" in skua("get", f"{url}/zipped/long.txt", "Accept-Encoding:").fields, False)


def conditions(skua: Skua, url: str, site: pathlib.Path):
    fields = skua("get", f"{url}/page.html").fields
    for name, value in (("If-None-Match", fields["etag"]), ("If-Modified-Since", fields["last-modified"])):
        answer = skua("get", f"{url}/page.html", f"{name}:{value}")
        equal((answer.status, answer.content, answer.fields["etag"]), (304, b"", fields["etag"]))
    content = (site / "large.bin").read_bytes()
    for text, start, end in (("0-0", 0, 1), ("100-199", 100, 200), ("-5", len(content) - 5, len(content))):
        answer = skua("get", f"{url}/large.bin", f"Range:bytes={text}")
        equal((answer.status, answer.content), (206, content[start:end]))
        equal(answer.fields["content-range"], f"bytes {start}-{end - 1}/{len(content)}")
    answer = skua("get", f"{url}/large.bin", f"Range:bytes={len(content)}-")
    equal((answer.status, answer.fields["content-range"]), (416, f"bytes */{len(content)}"))
    two = skua("get", f"{url}/page.html", "Range:bytes=0-1,4-5")
    equal((two.status, two.fields["content-type"].split(";")[0]), (206, "multipart/byteranges"))


def connection_of(nginx: Nginx, *parts: str) -> list[tuple[str, str]]:
    """Returns the connection number of each such request, and the request's number on that connection."""
    return [tuple(line.split()[:2]) for line in nginx.log(*parts)]


def redirects(skua: Skua, nginx: Nginx, url: str):
    agent = "User-Agent:redirects-" + url.rsplit(":", 1)[1]
    mark = "agent=" + agent.split(":")[1]
    equal(skua("get", "--no-follow", f"{url}/moved").status, 301)
    skua.run("get", "--no-follow", "--fail", f"{url}/moved", code=UNFOLLOWED)
    equal(skua("get", "--follow", f"{url}/chain", agent).content, b"<h1>page</h1>")
    nginx.log(mark, count=3)
    used = connection_of(nginx, mark)
    equal([count for _, count in used], ["1", "2", "3"], "requests of one connection")
    equal(len({connection for connection, _ in used}), 1, "connections")
    # The server closes after the first response, so the next request uses another connection.
    equal(skua("get", "--follow", f"{url}/once").content, b"<h1>page</h1>")
    skua.refused("get", "--follow", "--max-redirects", "5", f"{url}/endless", code=PROTOCOL, says="redirect")


def credentials(skua: Skua, nginx: Nginx, url: str):
    """Credentials are for one origin, and a redirect to another drops them."""
    mark = "credentials-" + url.rsplit(":", 1)[1]
    answer = skua("get", "--follow", "--auth", "ada:open sesame", f"{url}/far", f"User-Agent:{mark}", "Cookie:a=b")
    equal(answer.content, b"<h1>page</h1>")
    first, second = sorted(nginx.log(f"agent={mark}", count=2), key=lambda line: "/page.html" in line)
    assert "authorization=Basic YWRhOm9wZW4gc2VzYW1l cookie=a=b" in first, first
    assert "authorization=- cookie=- " in second, second


def refusals(skua: Skua, url: str):
    skua.run("get", "--fail", f"{url}/none", code=CLIENT_ERROR)
    skua.run("get", "--fail", f"{url}/down", code=SERVER_ERROR)
    equal((skua("get", f"{url}/none").status, skua("get", f"{url}/down").content), (404, b"later\n"))
    equal(skua("delete", f"{url}/page.html").status, 405)
    skua.refused("get", f"{url}/silent", code=PROTOCOL, says="clos|end|reset|empty")


def large_body(skua: Skua, url: str, site: pathlib.Path):
    """The server responds and closes while the body is still being sent: the response counts."""
    answer = skua("post", "--data", f"@{site / 'large.bin'}", f"{url}/small")
    equal(answer.status, 413)


def check(skua: Skua, folder: pathlib.Path, pair: tuple[str, str], authority: str, has_http2: bool):
    with server(folder, pair) as nginx:
        site = folder / "site"
        clear, secure = nginx.url(), nginx.url("tls", "https")
        ways = [("HTTP/1.1", clear, skua, "1.1"),
                ("HTTP/1.1 over TLS", secure, skua.given("--ca", authority, "--http1.1"), "1.1")]
        if has_http2:
            ways.append(("HTTP/2 over TLS", secure, skua.given("--ca", authority), "2"))
        for name, url, asking, version in ways:
            contents(asking, url, site)
            codings(asking, nginx, url, site)
            conditions(asking, url, site)
            if url == clear:
                redirects(asking, nginx, url)
                credentials(asking, nginx, url)
            else:
                skua.refused("get", "--ca", authority, "--follow", f"{url}/far", code=PROTOCOL, says="https")
            refusals(asking, url)
            large_body(asking, url, site)
            equal(asking("get", f"{url}/page.html").version, version)
            print(f"nginx, {name}: ok", flush=True)
