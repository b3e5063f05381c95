# SPDX-License-Identifier: MIT
"""Where a run takes place: built programs, a temporary folder, served files, a certificate and a core."""

import os
import pathlib
import random
import shutil
import subprocess

from .process import Failure

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
BODY = b"Hello, World!"
JSON = b'{"message":"Hello, World!"}'
JSON_FIELDS = {
    "Cache-Control": "no-cache, private",
    "ETag": '"33a64df551425fcc55e4d42a1"',
    "Vary": "Accept-Encoding",
    "X-Request-Id": "9f86d081884c7d659a2feaa0",
    "Access-Control-Allow-Origin": "https://example.com",
}
FILES = {"1k.bin": 1024, "64k.bin": 64 * 1024, "100k.bin": 100 * 1024, "10m.bin": 10 * 1024 * 1024}

# For programs that leave the suites to OpenSSL's defaults. With another suite, the generator's own cost would differ.
OPENSSL = """\
openssl_conf = init
[init]
ssl_conf = ssl
[ssl]
system_default = all
[all]
Ciphersuites = TLS_AES_128_GCM_SHA256
CipherString = ECDHE-ECDSA-AES128-GCM-SHA256
"""


def find(program, package):
    """Returns the path of an installed program."""
    found = shutil.which(program) or shutil.which(program, path="/usr/sbin:/usr/local/sbin")  # sbin may not be in PATH
    if not found:
        raise Failure(f"{program} is not installed (Debian: apt-get install {package})")
    return found


def certificate(folder):
    """Makes a chain and a key for all servers, as PEM files: ECDSA on P-256."""
    chain, key = os.path.join(folder, "chain.pem"), os.path.join(folder, "key.pem")
    command = [find("openssl", "openssl"), "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes",
               "-days", "30", "-subj", "/CN=localhost", "-addext", "subjectAltName=DNS:localhost,IP:127.0.0.1",
               "-keyout", key, "-out", chain]
    subprocess.run(command, check=True, capture_output=True)
    os.chmod(key, 0o644)  # a server may change its user
    return chain, key


class Place:
    """One run's surroundings."""

    def __init__(self, folder, binaries, core):
        self.folder = pathlib.Path(folder)
        self.binaries = pathlib.Path(binaries)
        self.cache = self.binaries.parent / "tools"
        self.core = core
        self.www = self.folder / "www"
        self.files = self.www / "files"
        self.files.mkdir(parents=True)
        os.chmod(folder, 0o755)  # servers that change their user must still read it
        self.contents = {"index.txt": BODY, "index.html": BODY, "json": JSON}
        seeded = random.Random(1)
        for name, size in FILES.items():
            self.contents[f"files/{name}"] = seeded.randbytes(size)
        for name, content in self.contents.items():
            (self.www / name).write_bytes(content)
        self.pair = certificate(folder)
        settings = self.folder / "openssl.cnf"
        settings.write_text(OPENSSL, encoding="ascii")
        os.environ["OPENSSL_CONF"] = str(settings)

    def program(self, name):
        """Returns the path of a program that this project builds."""
        path = self.binaries / name
        if not os.access(path, os.X_OK):
            raise Failure(f"{path} is not built: cmake --build --preset release --target {name}")
        return str(path)

    def subfolder(self, name):
        """Makes and returns a folder for one server's own files."""
        path = self.folder / name
        path.mkdir(exist_ok=True)
        return path
