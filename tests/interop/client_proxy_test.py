#!/usr/bin/env python3
"""`skua get` through the forward proxies squid and Apache httpd: plain and CONNECT, Basic and Digest, options and environment.

Usage: client_proxy_test.py SKUA      exits with 77 (skipped) without openssl, nginx and one of the two
"""
import base64
import hashlib
import pathlib
import shutil
import sys
import tempfile

from asked import NOT_CONNECTED, PROTOCOL, SERVER_ERROR, Skua, equal, has_http2
from authority import LOCALHOST, Authority
from served import SKIP
from servers import Apache, Nginx, Server, Squid, found, free_port, is_root

USER, PASSWORD, REALM = "ada", "open sesame", "the way out"
CREDENTIALS = "ada:open%20sesame@"

ORIGIN = """
server { listen 127.0.0.1:@port@; listen 127.0.0.1:@tls@ ssl http2; ssl_certificate %(chain)s; ssl_certificate_key %(key)s;
  location / { return 200 "$scheme $server_protocol $request_uri proxy-authorization=$http_proxy_authorization\\n"; }
  location = /far { return 302 $scheme://$http_host/reached; }
}
"""

APACHE_MODULES = "proxy proxy_http proxy_connect authz_host authz_user auth_basic auth_digest authn_file"
APACHE = """
ProxyRequests On
ProxyVia Off
AllowCONNECT %(tls)s
Listen 127.0.0.1:@open@
Listen 127.0.0.1:@basic@
Listen 127.0.0.1:@digest@
<VirtualHost 127.0.0.1:@open@>
  <Proxy *>
    Require all granted
  </Proxy>
</VirtualHost>
<VirtualHost 127.0.0.1:@basic@>
  <Proxy *>
    AuthType Basic
    AuthName "%(realm)s"
    AuthBasicProvider file
    AuthUserFile @folder@/basic.txt
    Require valid-user
  </Proxy>
</VirtualHost>
<VirtualHost 127.0.0.1:@digest@>
  <Proxy *>
    AuthType Digest
    AuthName "%(realm)s"
    AuthDigestProvider file
    AuthUserFile @folder@/digest.txt
    Require valid-user
  </Proxy>
</VirtualHost>
"""

SQUID = """
hosts_file @folder@/hosts
%(authentication)s
http_port 127.0.0.1:@port@
acl tls_ports port %(tls)s
http_access deny CONNECT !tls_ports
%(access)s
"""
SQUID_ACCESS = {
    "open": ("", "http_access allow all"),
    "basic": ("auth_param basic program /usr/lib/squid/basic_ncsa_auth @folder@/squid.txt\n"
              f"auth_param basic realm {REALM}", "acl known proxy_auth REQUIRED\nhttp_access allow known\nhttp_access deny all"),
    "digest": ("auth_param digest program /usr/lib/squid/digest_file_auth -c @folder@/digest.txt\n"
               f"auth_param digest realm {REALM}", "acl known proxy_auth REQUIRED\nhttp_access allow known\nhttp_access deny all"),
}


def users(folder: pathlib.Path):
    """Writes the servers' password files; for Basic, each server in a format that needs no other program."""
    folder.mkdir(parents=True, exist_ok=True)
    hashed = hashlib.md5(f"{USER}:{REALM}:{PASSWORD}".encode()).hexdigest()
    (folder / "basic.txt").write_text(f"{USER}:{{SHA}}{base64.b64encode(hashlib.sha1(PASSWORD.encode()).digest()).decode()}\n")
    (folder / "squid.txt").write_text(f"{USER}:{hashlib.md5(PASSWORD.encode()).hexdigest()}\n")
    (folder / "digest.txt").write_text(f"{USER}:{REALM}:{hashed}\n")
    (folder / "hosts").write_text("127.0.0.1 localhost site.test other.site.test\n")
    if is_root():
        for path in folder.iterdir():
            path.chmod(0o644)


class Origins:
    """The server behind the proxy, under both schemes, and its certificate authority."""

    def __init__(self, nginx: Nginx, authority: str):
        self.nginx, self.authority = nginx, authority

    def urls(self, host: str = "localhost") -> list[str]:
        return [self.nginx.url("port", "http", host), self.nginx.url("tls", "https", host)]

    def check(self, skua: Skua, *options: str, host: str = "localhost", version: str = "HTTP/1.1", **how):
        """Sends one request per scheme; the proxy's credentials never reach the origin."""
        for url in self.urls(host):
            answer = skua("get", "--ca", self.authority, "--http1.1", *options, f"{url}/page?a=%20b", **how)
            scheme = url.split(":")[0]
            equal(answer.content.decode(), f"{scheme} {version} /page?a=%20b proxy-authorization=\n", url)


def proxy_url(server: Server, name: str, credentials: str = "") -> str:
    return f"http://{credentials}127.0.0.1:{server.ports[name]}"


def open_proxy(skua: Skua, origins: Origins, proxy: Server, name: str):
    way = ["--proxy", proxy_url(proxy, name)]
    origins.check(skua, *way)
    clear, secure = origins.urls()
    # Both requests went through the proxy.
    proxy.log(str(origins.nginx.ports["port"]))
    proxy.log("CONNECT", str(origins.nginx.ports["tls"]))
    for url in (clear, secure):
        trusting = [*way, "--ca", origins.authority, "--http1.1"]
        equal(skua("get", *trusting, "--follow", f"{url}/far").content.split()[2], b"/reached")
        equal(skua("post", *trusting, "--data", "-", f"{url}/post", text=b"x" * 500_000).content.split()[2], b"/post")
    # An unreachable origin: the proxy's own response in clear text, an error if it needs a tunnel.
    nobody = f"127.0.0.1:{free_port()}"
    skua.run("get", "--fail", *way, f"http://{nobody}/", code=SERVER_ERROR)
    told = skua.refused("get", *way, f"https://{nobody}/", code=(PROTOCOL, NOT_CONNECTED), says="proxy|tunnel")
    assert "403" in told, told  # the proxy allows no tunnel to this port
    skua.refused("get", "--proxy", f"http://{nobody}", f"{clear}/", code=NOT_CONNECTED, says="proxy")
    # Exempt hosts: the proxy, which does not exist, is not used.
    for rules in ("localhost", "*", f"localhost:{origins.nginx.ports['port']},localhost:{origins.nginx.ports['tls']}"):
        origins.check(skua, "--proxy", f"http://{nobody}", "--no-proxy", rules)


def guarded_proxy(skua: Skua, origins: Origins, proxy: Server, name: str):
    """A proxy with authentication: without or with wrong credentials, 407 or no tunnel."""
    origins.check(skua, "--proxy", proxy_url(proxy, name, CREDENTIALS))
    clear, secure = origins.urls()
    for wrong in ("", "ada:wrong@", "bob:open%20sesame@"):
        way = ["--proxy", proxy_url(proxy, name, wrong)]
        equal(skua("get", *way, f"{clear}/").status, 407)
        skua.refused("get", *way, "--ca", origins.authority, f"{secure}/", code=(PROTOCOL, NOT_CONNECTED), says="407|proxy")
    # A body that can be sent again, as a challenge may come first.
    body = proxy.folder / "body.txt"
    body.write_text("x" * 50_000)
    answer = skua("post", "--proxy", proxy_url(proxy, name, CREDENTIALS), "--data", f"@{body}", f"{clear}/post")
    equal(answer.content.split()[2], b"/post")


def variables(skua: Skua, origins: Origins, proxy: Server, name: str):
    """Proxies of the environment are never used for localhost; hence another host name."""
    way = proxy_url(proxy, name, CREDENTIALS)
    for both in ({"http_proxy": way, "https_proxy": way}, {"http_proxy": way, "HTTPS_PROXY": way}, {"ALL_PROXY": way}):
        origins.check(skua, host="site.test", environment=both)
    nowhere = f"http://127.0.0.1:{free_port()}"
    all_of_them = {"http_proxy": nowhere, "https_proxy": nowhere}
    origins.check(skua, environment=all_of_them)
    resolved = [f"--resolve=site.test:{origins.nginx.ports[port]}:127.0.0.1" for port in ("port", "tls")]
    for rules in ("site.test", ".test", "*", "other, site.test"):
        origins.check(skua, *resolved, host="site.test", environment={**all_of_them, "NO_PROXY": rules})
    skua.refused("get", *resolved, f"{origins.urls('site.test')[0]}/", code=NOT_CONNECTED, says="proxy",
                 environment={**all_of_them, "NO_PROXY": "other.test"})
    # HTTP_PROXY is ignored: in a CGI program it holds the Proxy field of an untrusted request.
    equal(skua("get", *resolved, f"{origins.urls('site.test')[0]}/", environment={"HTTP_PROXY": nowhere}).status, 200)


def http2_inside(skua: Skua, origins: Origins, proxy: Server, name: str):
    answer = skua("get", "--http2", "--proxy", proxy_url(proxy, name), "--ca", origins.authority, f"{origins.urls()[1]}/")
    equal(answer.content.split()[1], b"HTTP/2.0")


def with_apache(skua: Skua, origins: Origins, folder: pathlib.Path, has_http2: bool):
    users(folder)
    with Apache(folder, APACHE_MODULES, APACHE % {"tls": origins.nginx.ports["tls"], "realm": REALM}) as apache:
        open_proxy(skua, origins, apache, "open")
        for name in ("basic", "digest"):
            guarded_proxy(skua, origins, apache, name)
            print(f"Apache httpd as a proxy, {name}: ok", flush=True)
        if has_http2:
            http2_inside(skua, origins, apache, "open")


def with_squid(skua: Skua, origins: Origins, folder: pathlib.Path, has_http2: bool):
    for name, (authentication, access) in SQUID_ACCESS.items():
        users(folder / name)
        text = SQUID % {"authentication": authentication, "access": access, "tls": origins.nginx.ports["tls"]}
        with Squid(folder / name, text) as squid:
            if name == "open":
                open_proxy(skua, origins, squid, "port")
                if has_http2:
                    http2_inside(skua, origins, squid, "port")
            else:
                guarded_proxy(skua, origins, squid, "port")
            if name == "digest":
                variables(skua, origins, squid, "port")
            print(f"squid, {name}: ok", flush=True)


def main(arguments: list[str]) -> int:
    skua = Skua(str(pathlib.Path(arguments[0]).resolve()))
    kinds = [(name, check) for name, check in (("apache2", with_apache), ("squid", with_squid)) if found(name)]
    if not (shutil.which("openssl") and found("nginx") and kinds):
        print("skipped: openssl or nginx is not installed, or neither apache2 nor squid")
        return SKIP
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        folder.chmod(0o755)
        root = Authority(folder, "root")
        pair = root.issue("site", *LOCALHOST, "DNS:site.test")
        with Nginx(folder / "nginx", ORIGIN % {"chain": pair[0], "key": pair[1]}) as nginx:
            for name, check in kinds:
                check(skua, Origins(nginx, str(root.certificate)), folder / name, has_http2(skua))
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
