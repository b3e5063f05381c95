# SPDX-License-Identifier: MIT
"""TLS and HTTP/2 servers on one core, and their loads."""

import os
import subprocess

from . import servers
from .process import Server

NGINX_TLS = """\
    listen 127.0.0.1:PORT ssl http2 backlog=4096;
    http2_max_requests 1000000000;
    ssl_certificate {chain};
    ssl_certificate_key {key};
    ssl_protocols TLSv1.2 TLSv1.3;
"""
H2O_TLS = """\
  ssl:
    certificate-file: {chain}
    key-file: {key}
    minimum-version: TLSv1.2
"""


def certificate(folder):
    """Makes a chain and a key for all servers, as PEM files: ECDSA on P-256."""
    openssl = servers.find("openssl", "openssl")
    chain, key = os.path.join(folder, "chain.pem"), os.path.join(folder, "key.pem")
    command = [openssl, "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes", "-days", "30",
               "-subj", "/CN=localhost", "-addext", "subjectAltName=DNS:localhost,IP:127.0.0.1", "-keyout", key, "-out", chain]
    subprocess.run(command, check=True, capture_output=True)
    os.chmod(key, 0o644)  # a server may change its user
    return chain, key


def make(name, binary, folder, pair):
    """Returns the server called `name`, with TLS and HTTP/2."""
    chain, key = pair
    if name == "nginx":
        server = servers.nginx(os.path.join(folder, name), False)
        server.text = server.text.replace("    listen 127.0.0.1:PORT backlog=4096;\n", NGINX_TLS.format(chain=chain, key=key))
        return server
    if name == "h2o":
        server = servers.h2o(os.path.join(folder, name))
        server.text = server.text.replace("  port: PORT\n", "  port: PORT\n" + H2O_TLS.format(chain=chain, key=key))
        return server
    backend = name.split("-", 1)[1]
    command = [binary, "plaintext", "--backend", backend, "--host", "127.0.0.1", "--port", "{port}", "--threads", "1"]
    return Server(name, [*command, "--tls-cert", chain, "--tls-key", key])


def https(seconds):
    """HTTPS keep-alive, with wrk."""
    wrk = servers.find("wrk", "wrk")
    return [wrk, "-t1", "-c64", f"-d{seconds}s", "https://127.0.0.1:{port}/"], r"(\d+) requests in"


def http2(seconds):
    """HTTP/2 over TLS, with h2load."""
    h2load = servers.find("h2load", "nghttp2-client")
    return [h2load, "-t1", "-c32", "-m32", f"-D{seconds}", "--warm-up-time=0", "https://127.0.0.1:{port}/"], r"(\d+) succeeded"


def full_handshakes(seconds):
    """Connects, performs a full TLS 1.3 handshake and closes, again and again."""
    openssl = servers.find("openssl", "openssl")
    return [openssl, "s_time", "-connect", "127.0.0.1:{port}", "-new", "-time", str(seconds)], r"(\d+) connections in [\d.]+s"


def resumed_handshakes(seconds):
    """Resumes an earlier session on each connection (TLS 1.2: openssl s_time can resume nothing newer)."""
    openssl = servers.find("openssl", "openssl")
    command = [openssl, "s_time", "-connect", "127.0.0.1:{port}", "-reuse", "-tls1_2", "-time", str(seconds)]
    return command, r"(\d+) connections in [\d.]+s"


LOADS = {"https keep-alive, 64 connections": https, "http/2 over TLS, 32 connections x 32 streams": http2,
         "full handshakes": full_handshakes, "resumed handshakes": resumed_handshakes}
