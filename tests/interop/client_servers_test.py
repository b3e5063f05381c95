#!/usr/bin/env python3
"""`skua get` and its siblings against nginx, Apache httpd, Go's net/http, Node and haproxy.

Usage: client_servers_test.py SKUA      skips servers that are not installed; exits with 77 (skipped) without any, or openssl
"""
import pathlib
import shutil
import sys
import tempfile

import client_apache
import client_haproxy
import client_nginx
import client_peers
import installed
from asked import Skua, has_http2
from authority import LOCALHOST, Authority
from served import SKIP
from servers import found


def main(arguments: list[str]) -> int:
    program = str(pathlib.Path(arguments[0]).resolve())
    if not shutil.which("openssl"):
        print("skipped: openssl is not installed")
        return SKIP
    cache, skua = installed.cache_of(program), Skua(program)
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        folder.chmod(0o755)
        root = Authority(folder, "root")
        pair, authority, http2 = root.issue("site", *LOCALHOST), str(root.certificate), has_http2(skua)
        checks = client_peers.check(skua, cache, folder / "peers", pair, authority, http2)
        peer = client_peers.go_server(cache)
        for server, check in (("nginx", lambda at: client_nginx.check(skua, at, pair, authority, http2)),
                              ("apache2", lambda at: client_apache.check(skua, at, pair, authority, http2)),
                              ("haproxy", lambda at: peer and client_haproxy.check(skua, at, pair, authority, peer, http2))):
            if not found(server):
                print(f"{server}: skipped, not installed")
                continue
            check(folder / server)
            checks += 1
    return 0 if checks else SKIP


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
