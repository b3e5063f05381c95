#!/usr/bin/env python3
"""`skua get` and its siblings against Python's httpbin: requests as it received them, and responses.

Usage: client_httpbin_test.py SKUA      exits with 77 (skipped) without httpbin
"""
import base64
import json
import pathlib
import sys
import tempfile
import time

import installed
from asked import CLIENT_ERROR, PROTOCOL, SERVER_ERROR, TIMED_OUT, UNFOLLOWED, Skua, equal
from served import SKIP, Program

HERE = pathlib.Path(__file__).parent
NASTY = 'ä "quoted" & = % + / \\ 世界'


def methods_and_fields(skua: Skua, url: str):
    for method in ("get", "post", "put", "patch", "delete"):
        equal(skua(method, f"{url}/anything").json()["method"], method.upper())
        equal(skua(method, f"{url}/{method}").status, 200)
    equal(skua("head", f"{url}/anything").content, b"")
    seen = skua("get", f"{url}/headers", "X-Own:a b", "User-Agent:", "-H", "X-Other: c").json()["headers"]
    equal((seen["X-Own"], seen["X-Other"], "User-Agent" in seen), ("a b", "c", False))
    equal(seen["Host"], url.removeprefix("http://"))
    assert skua("get", f"{url}/user-agent").json()["user-agent"].startswith("skua")


def queries(skua: Skua, url: str):
    seen = skua("get", f"{url}/anything?a=1", "b==2 3", f"nasty=={NASTY}", "a==4").json()
    equal(seen["args"], {"a": ["1", "4"], "b": "2 3", "nasty": NASTY})
    # URLs without a scheme, and with a port only.
    port = url.rsplit(":", 1)[1]
    for short in (f"localhost:{port}/get", f":{port}/get", f"127.0.0.1:{port}/get"):
        equal(skua("get", short, "a==b").json()["args"], {"a": "b"}, short)


def bodies(skua: Skua, url: str, folder: pathlib.Path):
    text, binary = folder / "text.txt", folder / "all.bin"
    text.write_text(f"{NASTY}\n")
    binary.write_bytes(bytes(range(256)) * 10)
    (folder / "value.json").write_text('{"deep": [1, 2.5, null]}')
    post = f"{url}/post"
    seen = skua("post", post, f"name={NASTY}", "count:=3", "list:=[1, true, null]", f"text=@{text}",
                f"value:=@{folder / 'value.json'}").json()
    equal(seen["json"], {"name": NASTY, "count": 3, "list": [1, True, None], "text": f"{NASTY}\n",
                         "value": {"deep": [1, 2.5, None]}})
    equal(seen["headers"]["Content-Type"].split(";")[0], "application/json")
    seen = skua("post", "--form", post, f"name={NASTY}", "a=1", "a=2", r"b\=c=d").json()
    equal(seen["form"], {"name": NASTY, "a": ["1", "2"], "b=c": "d"})
    equal(seen["headers"]["Content-Type"].split(";")[0], "application/x-www-form-urlencoded")
    seen = skua("post", post, f"name={NASTY}", f"file@{text};type=text/x-own", f"raw@{binary}").json()
    equal((seen["form"], seen["files"]["file"]), ({"name": NASTY}, f"{NASTY}\n"))
    equal(base64.b64decode(seen["files"]["raw"].partition(",")[2]), binary.read_bytes())
    assert seen["headers"]["Content-Type"].startswith("multipart/form-data; boundary="), seen["headers"]
    seen = skua("put", f"{url}/put", "--data", "raw text", "--type", "text/x-own").json()
    equal((seen["data"], seen["headers"]["Content-Type"]), ("raw text", "text/x-own"))
    equal(skua("post", post, "--data", f"@{text}").json()["data"], f"{NASTY}\n")


def authorization(skua: Skua, url: str, folder: pathlib.Path):
    for user, password in (("ada", "open"), ("ada", "a:b c")):
        page = f"{url}/basic-auth/{user}/{password.replace(' ', '%20')}"
        equal(skua("get", "--auth", f"{user}:{password}", page).json(), {"authenticated": True, "user": user})
        skua.run("get", "--fail", "--auth", f"{user}:wrong", page, code=CLIENT_ERROR)
    equal(skua("get", f"{url}/bearer", "--bearer", "abc.def").json()["token"], "abc.def")
    for algorithm in ("MD5", "SHA-256"):
        for quality in ("auth", "auth-int", "none"):
            page = f"{url}/digest-auth/{quality}/ada/open/{algorithm}"
            about = f"{algorithm} {quality}"
            equal(skua("get", "--digest", "--auth", "ada:open", page).json(), {"authenticated": True, "user": "ada"}, about)
            equal(skua("get", "--digest", "--auth", "ada:wrong", page).status, 401, about)
    # RFC 7616 has no such algorithm: either status is fine, but no loop.
    assert skua("get", "--digest", "--auth", "ada:open", f"{url}/digest-auth/auth/ada/open/SHA-512").status in (200, 401)
    # A nonce that is always stale, as told by a cookie sent with the challenge.
    page = f"{url}/digest-auth/auth/ada/open/MD5/0"
    equal(skua("get", "--digest", "--auth", "ada:open", "--cookie-jar", str(folder / "stale.txt"), page).status, 401)


def redirects(skua: Skua, url: str):
    for kind in ("redirect", "relative-redirect", "absolute-redirect"):
        equal(skua("get", "--follow", f"{url}/{kind}/5").json()["url"], f"{url}/get")
        equal(skua("get", "--no-follow", f"{url}/{kind}/5").status, 302)
        skua.refused("get", "--follow", "--max-redirects", "3", f"{url}/{kind}/5", code=PROTOCOL, says="redirect")
    skua.run("get", "--no-follow", "--fail", f"{url}/redirect/1", code=UNFOLLOWED)
    for status, method, form in ((301, "GET", {}), (302, "GET", {}), (303, "GET", {}), (307, "POST", {"a": "b"}),
                                 (308, "POST", {"a": "b"})):
        seen = skua("post", "--follow", "--form", f"{url}/redirect-to", "url==/anything", f"status_code=={status}", "a=b").json()
        equal((seen["method"], seen["form"]), (method, form), str(status))


def cookies(skua: Skua, url: str, folder: pathlib.Path):
    jar = folder / "cookies.txt"
    skua("get", "--no-follow", "--cookie-jar", str(jar), f"{url}/cookies/set?a=1&b=two")
    assert jar.exists(), "no cookie jar was written"
    equal(skua("get", "--cookie-jar", str(jar), f"{url}/cookies").json()["cookies"], {"a": "1", "b": "two"})
    seen = skua("get", "--follow", "--cookie-jar", str(jar), f"{url}/cookies/set?c=3").json()
    equal(seen["cookies"], {"a": "1", "b": "two", "c": "3"})
    skua("get", "--no-follow", "--cookie-jar", str(jar), f"{url}/cookies/delete?a")
    equal(skua("get", "--cookie-jar", str(jar), f"{url}/cookies").json()["cookies"], {"b": "two", "c": "3"})
    # Cookies are for one host, and none are kept without a jar.
    other = url.replace("localhost", "127.0.0.1")
    equal(skua("get", "--cookie-jar", str(jar), f"{other}/cookies").json()["cookies"], {})
    equal(skua("get", f"{url}/cookies").json()["cookies"], {})
    equal(skua("get", f"{url}/cookies", "Cookie:own=1").json()["cookies"], {"own": "1"})
    equal(jar.stat().st_mode & 0o077, 0, "permissions of others on the cookie jar")


def contents(skua: Skua, url: str):
    for coding, word in (("gzip", "gzipped"), ("deflate", "deflated"), ("brotli", "brotli")):
        equal(skua("get", f"{url}/{coding}").json()[word], True)
    lines = skua("get", f"{url}/stream/50").content.splitlines()
    equal([json.loads(line)["id"] for line in lines], list(range(50)))
    chunked = skua("get", f"{url}/stream-bytes/100000?seed=1&chunk_size=777").content
    equal(len(chunked), 100_000)
    equal(skua("get", f"{url}/bytes/100000?seed=1").content == skua("get", f"{url}/bytes/100000?seed=1").content, True)
    equal(skua("get", f"{url}/drip?duration=1&numbytes=10&delay=0").content, b"*" * 10)
    assert "∮ E⋅da = Q" in skua("get", f"{url}/encoding/utf8").content.decode()
    equal(skua("get", f"{url}/image/png").content[:8], b"\x89PNG\r\n\x1a\n")
    equal(skua("get", f"{url}/cache", "If-None-Match:x").status, 304)
    equal(skua("get", f"{url}/range/26", "Range:bytes=3-5").content, b"def")


def statuses(skua: Skua, url: str):
    for status, code in ((200, 0), (204, 0), (304, UNFOLLOWED), (400, CLIENT_ERROR), (404, CLIENT_ERROR), (418, CLIENT_ERROR),
                         (500, SERVER_ERROR), (503, SERVER_ERROR)):
        equal(skua("get", f"{url}/status/{status}").status, status)
        equal(skua("get", "--fail", f"{url}/status/{status}", code=code).status, status)


def patience(skua: Skua, url: str):
    begun = time.monotonic()
    skua.refused("get", "--timeout", "0.5", f"{url}/delay/5", code=TIMED_OUT)
    skua.refused("get", "--timeout", "0.5", f"{url}/drip?duration=5&numbytes=10&delay=0", code=TIMED_OUT)
    took = time.monotonic() - begun
    assert took < 4, f"two timeouts of 0.5 s took {took:.1f} s"
    equal(skua("get", "--timeout", "20", f"{url}/delay/1").status, 200)


def main(arguments: list[str]) -> int:
    program = str(pathlib.Path(arguments[0]).resolve())
    environment = installed.python(installed.cache_of(program), "httpbin==0.10.*")
    if not environment:
        print("skipped: httpbin could not be installed")
        return SKIP
    skua = Skua(program)
    with tempfile.TemporaryDirectory() as name, \
            Program(sys.executable, "-B", str(HERE / "client_httpbin.py"), environment=environment) as url:
        folder = pathlib.Path(name)
        for check, more in ((methods_and_fields, []), (queries, []), (bodies, [folder]), (authorization, [folder]),
                            (redirects, []), (cookies, [folder]), (contents, []), (statuses, []), (patience, [])):
            check(skua, url, *more)
            print(f"httpbin, {check.__name__.replace('_', ' ')}: ok", flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
