"""`skua get` against Apache httpd: Basic and Digest, its codings, its HTTP/2."""
import base64
import hashlib
import os
import pathlib

from asked import CLIENT_ERROR, Skua, equal
from servers import Apache

REALM = "the vault"
USERS = (("ada", "open sesame"), ("jäsøn", "Secret, or not?"))

MODULES = "authz_user auth_basic auth_digest authn_file deflate brotli filter ssl http2 alias headers dir"
TEXT = """
DocumentRoot @folder@/site
Listen 127.0.0.1:@port@
Listen 127.0.0.1:@tls@
<Directory @folder@/site>
  Require all granted
</Directory>
<Location /basic>
  AuthType Basic
  AuthName "%(realm)s"
  AuthBasicProvider file
  AuthUserFile @folder@/basic.txt
  Require valid-user
</Location>
<Location /digest>
  AuthType Digest
  AuthName "%(realm)s"
  AuthDigestProvider file
  AuthUserFile @folder@/digest.txt
  AuthDigestDomain /digest/
  Require valid-user
</Location>
Alias /deflated @folder@/site
<Location /deflated>
  SetOutputFilter DEFLATE
</Location>
Alias /brotli @folder@/site
<Location /brotli>
  SetOutputFilter BROTLI_COMPRESS
</Location>
Redirect 307 /digest/moved /digest/page.txt
SSLSessionCache none
<VirtualHost 127.0.0.1:@tls@>
  Protocols h2 http/1.1
  SSLEngine on
  SSLCertificateFile %(chain)s
  SSLCertificateKeyFile %(key)s
</VirtualHost>
"""


def prepare(folder: pathlib.Path):
    for name in ("basic", "digest"):
        (folder / "site" / name).mkdir(parents=True)
        (folder / "site" / name / "page.txt").write_text("a secret\n")
    (folder / "site" / "long.txt").write_text("".join(f"line {i}\n" for i in range(20_000)))
    os.chmod(folder, 0o755)
    # {SHA} is the only format that needs no other program.
    (folder / "basic.txt").write_text("".join(
        f"{user}:{{SHA}}{base64.b64encode(hashlib.sha1(password.encode()).digest()).decode()}\n"
        for user, password in USERS))
    (folder / "digest.txt").write_text("".join(
        f"{user}:{REALM}:{hashlib.md5(f'{user}:{REALM}:{password}'.encode()).hexdigest()}\n" for user, password in USERS))


def basic(skua: Skua, apache: Apache, url: str, version: str):
    page = f"{url}/basic/page.txt"
    for user, password in USERS:
        equal(skua("get", "--auth", f"{user}:{password}", page).content, b"a secret\n")
    for wrong in ("ada:open", "ada:", "bob:open sesame"):
        answer = skua("get", "--auth", wrong, page)
        equal((answer.status, answer.fields["www-authenticate"]), (401, f'Basic realm="{REALM}"'))
    skua.run("get", "--fail", page, code=CLIENT_ERROR)
    # A challenge is answered only once.
    equal(skua("get", "--digest", "--auth", "ada:wrong", page, f"User-Agent:asked-basic-{version}").status, 401)
    equal(len(apache.log(f"asked-basic-{version}", count=2)), 2)


def digest(skua: Skua, apache: Apache, url: str, version: str, body: pathlib.Path):
    page = f"{url}/digest/page.txt"
    for user, password in USERS:
        equal(skua("get", "--digest", "--auth", f"{user}:{password}", page).content, b"a secret\n", user)
    equal(skua("get", "--digest", "--auth", "ada:open sesame", f"{page}?a=b&c=%20d").status, 200)
    # The body is sent with the authorized request.
    equal(skua("post", "--digest", "--auth", "ada:open sesame", "--data", f"@{body}", page).content, b"a secret\n")
    equal(skua("get", "--digest", "--follow", "--auth", "ada:open sesame", f"{url}/digest/moved").content, b"a secret\n")
    # Digest is not used unless enabled.
    equal(skua("get", "--auth", "ada:open sesame", page).status, 401)
    for wrong in ("ada:open", "bob:open sesame"):
        mark = f"asked-digest-{version}-{wrong[:3]}"
        equal(skua("get", "--digest", "--auth", wrong, page, f"User-Agent:{mark}").status, 401)
        equal(len(apache.log(mark, count=2)), 2)


def codings(skua: Skua, url: str, site: pathlib.Path):
    expected = (site / "long.txt").read_bytes()
    for folder, coding in (("deflated", "gzip"), ("brotli", "br")):
        equal(skua("get", f"{url}/{folder}/long.txt").content == expected, True, folder)
        raw = skua("get", "--raw", f"{url}/{folder}/long.txt", f"Accept-Encoding:{coding}")
        equal(raw.fields["content-encoding"], coding)
        assert len(raw.content) < len(expected), f"{coding} has {len(raw.content)} bytes"


def check(skua: Skua, folder: pathlib.Path, pair: tuple[str, str], authority: str, has_http2: bool):
    prepare(folder)
    with Apache(folder, MODULES, TEXT % {"realm": REALM, "chain": pair[0], "key": pair[1]}) as apache:
        secure = apache.url("tls", "https")
        ways = [("HTTP/1.1", apache.url(), skua, "1.1")]
        if has_http2:
            ways.append(("HTTP/2 over TLS", secure, skua.given("--ca", authority), "2"))
        for name, url, asking, version in ways:
            basic(asking, apache, url, version)
            digest(asking, apache, url, version, folder / "site" / "long.txt")
            codings(asking, url, folder / "site")
            equal(asking("get", f"{url}/long.txt").version, version)
            print(f"Apache httpd, {name}: ok", flush=True)
