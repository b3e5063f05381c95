#!/usr/bin/env python3
"""`skua serve` over TLS against openssl, curl and handmade ClientHellos: what it negotiates, and what it rejects.

Usage: tls_test.py SKUA      exits with 77 (skipped) without openssl; curl is optional
"""
import http.client
import os
import pathlib
import re
import shutil
import signal
import socket
import ssl
import struct
import subprocess
import sys
import tempfile
import time
import urllib.parse

from served import SKIP, TIMEOUT, Served, certificate

REQUEST = "GET / HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n"
GOOD_SUITES = {"EC": 0xC02B, "RSA": 0xC02F}  # ECDHE with AES-128-GCM
BAD_SUITES = {
    "RSA key exchange, AES-GCM": 0x009C, "RSA key exchange, AES-CBC": 0x002F, "RSA key exchange, 3DES": 0x000A,
    "RSA key exchange, RC4": 0x0005, "RSA key exchange, NULL": 0x003B, "export RC4": 0x0003,
    "DHE-RSA, AES-CBC": 0x0033, "ECDHE-RSA, AES-CBC": 0xC013, "ECDHE-RSA, AES-CBC SHA-256": 0xC027,
    "ECDHE-ECDSA, AES-CBC": 0xC009, "ECDHE-ECDSA, AES-CBC SHA-384": 0xC024, "ECDHE-RSA, 3DES": 0xC012,
    "ECDHE-RSA, RC4": 0xC011, "ECDHE-ECDSA, RC4": 0xC007, "ECDHE-RSA, NULL": 0xC010, "ECDHE-ECDSA, NULL": 0xC006,
    "anonymous ECDH": 0xC018, "anonymous DH": 0x00A6, "DHE-PSK": 0x00AA,
}
ALERT, HANDSHAKE = 0x15, 0x16
HANDSHAKE_FAILURE, PROTOCOL_VERSION = 40, 70


def port_of(url: str) -> int:
    return urllib.parse.urlsplit(url).port


def client_hello(version: int, suites: list[int], compression: bytes = b"\0") -> bytes:
    """A ClientHello in one record, with the extensions that a server requires. RFC 5246 §7.4.1.2"""
    def extension(kind: int, content: bytes) -> bytes:
        return struct.pack("!HH", kind, len(content)) + content

    def list_of(numbers: list[int]) -> bytes:
        return struct.pack(f"!H{len(numbers)}H", 2 * len(numbers), *numbers)

    extensions = (extension(0x000A, list_of([0x001D, 0x0017])) + extension(0x000B, b"\1\0") +
                  extension(0x000D, list_of([0x0403, 0x0804, 0x0401, 0x0203, 0x0201])) + extension(0xFF01, b"\0"))
    body = (struct.pack("!H", version) + os.urandom(32) + b"\0" + list_of(suites) +
            bytes([len(compression)]) + compression + struct.pack("!H", len(extensions)) + extensions)
    message = b"\1" + len(body).to_bytes(3, "big") + body
    return struct.pack("!BHH", HANDSHAKE, min(version, 0x0301), len(message)) + message


def first_record(port: int, hello: bytes) -> tuple[int, bytes]:
    """Returns the type and content of the server's first record."""
    with socket.create_connection(("127.0.0.1", port), TIMEOUT) as connection:
        connection.sendall(hello)
        with connection.makefile("rb") as stream:
            kind, _, size = struct.unpack("!BHH", stream.read(5))
            return kind, stream.read(size)


def hellos(url: str, kind_of_key: str):
    """Old versions, suites and compression, handmade, as no current openssl offers all of them."""
    port, good = port_of(url), GOOD_SUITES[kind_of_key]
    # Compression is offered but not chosen. A ServerHello has version, random, session id, suite, method.
    kind, hello = first_record(port, client_hello(0x0303, [good, *BAD_SUITES.values()], b"\1\0"))
    assert kind == HANDSHAKE and hello[0] == 2, f"the suite that is allowed: {kind} {hello!r}"
    suite, method = struct.unpack("!HB", hello[39 + hello[38]:][:3])
    assert (suite, method) == (good, 0), f"{suite:#x} with compression {method}"
    for name, version in (("SSL 3.0", 0x0300), ("TLS 1.0", 0x0301), ("TLS 1.1", 0x0302)):
        kind, alert = first_record(port, client_hello(version, [good, *BAD_SUITES.values()]))
        refusals = (PROTOCOL_VERSION, HANDSHAKE_FAILURE) if version == 0x0300 else (PROTOCOL_VERSION,)
        assert kind == ALERT and alert[0] == 2 and alert[1] in refusals, f"{name}: {kind} {alert!r}"
    for name, suite in BAD_SUITES.items():
        kind, alert = first_record(port, client_hello(0x0303, [suite]))
        assert (kind, alert[0], alert[1]) == (ALERT, 2, HANDSHAKE_FAILURE), f"{name}: {kind} {alert!r}"


def s_client(url: str, *arguments: str, text: str = REQUEST) -> tuple[int, str]:
    """Returns the exit code and output of openssl s_client, stderr included."""
    command = ["openssl", "s_client", "-connect", f"127.0.0.1:{port_of(url)}", *arguments]
    done = subprocess.run(command, input=text, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
                          errors="replace", timeout=TIMEOUT)
    return done.returncode, done.stdout


def negotiated(url: str, chain: str):
    trusting = ("-CAfile", chain, "-verify_return_error", "-verify_ip", "127.0.0.1", "-ign_eof")
    for version, suites in (("-tls1_2", r"ECDHE-(ECDSA|RSA)-(AES(128|256)-GCM-SHA(256|384)|CHACHA20-POLY1305)"),
                            ("-tls1_3", r"TLS_(AES_(128|256)_GCM|CHACHA20_POLY1305)_SHA(256|384)")):
        code, told = s_client(url, version, *trusting)
        assert code == 0 and "HTTP/1.1 200 OK" in told, told
        assert re.search(rf"^New, TLSv1\.[23], Cipher is {suites}$", told, re.M), told
        assert "Compression: NONE" in told and "Verify return code: 0 (ok)" in told, told
    for version in ("-tls1", "-tls1_1"):
        code, told = s_client(url, version, "-cipher", "ALL:@SECLEVEL=0")
        assert code != 0 and "alert protocol version" in told, told
    for offered, taken in (("h2,http/1.1", "h2"), ("http/1.1,h2", "h2"), ("http/1.1", "http/1.1"), ("x,http/1.1", "http/1.1")):
        _, told = s_client(url, "-alpn", offered, text="")
        assert f"ALPN protocol: {taken}\n" in told, told
    code, told = s_client(url, "-alpn", "spdy/3", text="")
    assert code != 0 and "alert no application protocol" in told, told


def renegotiation(url: str):
    # `R` at the start of a line requests a new handshake.
    code, told = s_client(url, "-tls1_2", text="R\n" + REQUEST)
    assert "RENEGOTIATING" in told and "HTTP/1.1 200" not in told, told
    assert code != 0 or "no renegotiation" in told, told


def resumption(url: str, folder: pathlib.Path):
    _, told = s_client(url, "-tls1_2", "-reconnect", text="")
    assert told.count("Reused, TLSv1.2") == 5, told
    saved = str(folder / "session.pem")
    s_client(url, "-tls1_3", "-ign_eof", "-sess_out", saved)
    _, told = s_client(url, "-tls1_3", "-ign_eof", "-sess_in", saved)
    assert "Reused, TLSv1.3" in told and "HTTP/1.1 200 OK" in told, told
    told = run("openssl", "sess_id", "-in", saved, "-noout", "-text")
    assert "Max Early Data: 0" in told, told


def silent_peers(url: str):
    """A stalled handshake times out, and no other client waits for it."""
    hello = client_hello(0x0303, [*GOOD_SUITES.values()])
    begun = time.monotonic()
    peers = {name: socket.create_connection(("127.0.0.1", port_of(url)), TIMEOUT)
             for name in ("nothing", "half a record", "a ClientHello and no more")}
    peers["half a record"].sendall(hello[:50])
    peers["a ClientHello and no more"].sendall(hello)
    context = ssl._create_unverified_context()
    with socket.create_connection(("127.0.0.1", port_of(url)), TIMEOUT) as plain, context.wrap_socket(plain) as secure:
        secure.sendall(REQUEST.encode())
        assert secure.recv(100).startswith(b"HTTP/1.1 200 OK\r\n")
    assert time.monotonic() - begun < 8, "another client had to wait"
    for name, peer in peers.items():
        with peer:
            while peer.recv(65536):  # the server's flight
                pass
        took = time.monotonic() - begun
        assert 8 < took < 20, f"{name}: closed after {took:.1f} s"


def plain_http(url: str):
    with socket.create_connection(("127.0.0.1", port_of(url)), TIMEOUT) as connection:
        connection.sendall(REQUEST.encode())
        answer = b"".join(iter(lambda: connection.recv(65536), b""))
    assert answer.startswith(b"HTTP/1.1 400 ") and b"plain HTTP" in answer, answer


def run(*command: str, code: int | None = 0) -> str:
    done = subprocess.run(command, capture_output=True, text=True, timeout=TIMEOUT)
    assert (done.returncode == code) if code is not None else done.returncode != 0, (
        f"{command} ended with {done.returncode}: {done.stdout}{done.stderr}")
    return done.stdout


def authority(folder: pathlib.Path, name: str) -> str:
    """Makes an authority NAME.pem and a certificate NAME-client.pem signed by it; returns the authority's path."""
    folder.mkdir(exist_ok=True)
    make = ["openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes", "-days", "30"]
    own = str(folder / f"{name}.pem")
    run(*make, "-subj", f"/CN={name}", "-keyout", own + ".key", "-out", own)
    request, client = str(folder / "client.csr"), str(folder / f"{name}-client.pem")
    run("openssl", "req", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes", "-subj", "/CN=client",
        "-keyout", client + ".key", "-out", request)
    run("openssl", "x509", "-req", "-in", request, "-CA", own, "-CAkey", own + ".key", "-CAcreateserial", "-days", "30",
        "-out", client)
    return own


def client_certificates(program: str, site: pathlib.Path, folder: pathlib.Path, flags: tuple[str, ...]):
    if not shutil.which("curl"):
        return print("client certificates: skipped, curl is not installed")
    ours, strange = authority(folder, "ours"), authority(folder, "strange")
    for version in ("1.2", "1.3"):
        ask = ["curl", "-sS", "--noproxy", "*", "--cacert", flags[1], f"--tlsv{version}", "--tls-max", version]

        def shown(own: str) -> list[str]:
            client = own.replace(".pem", "-client.pem")
            return ["--cert", client, "--key", client + ".key"]

        with Served(program, site, *flags, "--tls-client-ca", ours) as url:
            assert run(*ask, *shown(ours), url) == "home"
            run(*ask, url, code=None)
            run(*ask, *shown(strange), url, code=None)
        with Served(program, site, *flags) as url:
            assert run(*ask, url) == run(*ask, *shown(strange), url) == "home"  # no certificate is requested
    print("client certificates: ok")


def reload_under_load(program: str, site: pathlib.Path, flags: tuple[str, ...]):
    """SIGHUP again and again: new connections are served meanwhile, as is one that stays open."""
    context = ssl.create_default_context(cafile=flags[1])
    served = Served(program, site, *flags)
    with served as url:
        def connect():
            return http.client.HTTPSConnection("127.0.0.1", port_of(url), timeout=TIMEOUT, context=context)

        def get(connection) -> bytes:
            connection.request("GET", "/")
            return connection.getresponse().read()

        stays = connect()
        for _ in range(200):
            served.process.send_signal(signal.SIGHUP)
            begins = connect()
            assert get(begins) == get(stays) == b"home"
            begins.close()
    print("reload under load: ok")


def rsa_certificate(folder: pathlib.Path) -> tuple[str, str]:
    folder.mkdir(exist_ok=True)
    chain, key = str(folder / "rsa.pem"), str(folder / "rsa.key")
    run("openssl", "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-days", "30", "-subj", "/CN=localhost", "-addext",
        "subjectAltName=DNS:localhost,IP:127.0.0.1", "-keyout", key, "-out", chain)
    return chain, key


def main(arguments: list[str]) -> int:
    program = str(pathlib.Path(arguments[0]).resolve())
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        site = folder / "site"
        site.mkdir()
        (site / "index.html").write_text("home")
        pair = certificate(folder)
        if pair is None:
            print("skipped: openssl is not installed")
            return SKIP
        for kind_of_key, (chain, key) in (("EC", pair), ("RSA", rsa_certificate(folder))):
            with Served(program, site, "--tls-cert", chain, "--tls-key", key) as url:
                hellos(url, kind_of_key)
                negotiated(url, chain)
                renegotiation(url)
                resumption(url, folder)
                plain_http(url)
                if kind_of_key == "EC":
                    silent_peers(url)
            print(f"{kind_of_key}: hellos, negotiated, renegotiation, resumption: ok", flush=True)
        reload_under_load(program, site, ("--tls-cert", pair[0], "--tls-key", pair[1]))
        client_certificates(program, site, folder / "clients", ("--tls-cert", pair[0], "--tls-key", pair[1]))
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
