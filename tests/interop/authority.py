"""Certificates for TLS tests, made by openssl: valid ones, and ones that must be rejected."""
import datetime
import pathlib
import subprocess

from served import TIMEOUT

CONFIGURATION = """
[ca]
default_ca = ours
[ours]
database = {folder}/index.txt
new_certs_dir = {folder}
rand_serial = yes
unique_subject = no
default_md = sha256
policy = any
x509_extensions = added
copy_extensions = copy
[any]
commonName = supplied
[added]
subjectKeyIdentifier = hash
authorityKeyIdentifier = keyid
"""
KEY = ["-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes"]


def openssl(*words: str):
    done = subprocess.run(["openssl", *words], capture_output=True, text=True, stdin=subprocess.DEVNULL, timeout=TIMEOUT)
    assert done.returncode == 0, f"openssl {words} ended with {done.returncode}: {done.stderr}"


def in_days(days: float) -> str:
    return (datetime.datetime.now(datetime.timezone.utc) + datetime.timedelta(days=days)).strftime("%Y%m%d%H%M%SZ")


class Authority:
    """A root or intermediate authority; clients trust `certificate`."""

    def __init__(self, folder: pathlib.Path, name: str, signer: "Authority | None" = None):
        self.folder = folder / name
        self.folder.mkdir()
        (self.folder / "index.txt").touch()
        self.configuration = self.folder / "ca.cnf"
        self.configuration.write_text(CONFIGURATION.format(folder=self.folder))
        self.certificate, self.key = self.folder / "ca.pem", self.folder / "ca.key"
        extensions = ["basicConstraints=critical,CA:TRUE", "keyUsage=critical,keyCertSign,cRLSign"]
        if signer:
            signer.sign(self.certificate, self.key, name, extensions)
        else:
            openssl("req", "-x509", *KEY, "-days", "30", "-subj", f"/CN={name}", "-keyout", str(self.key), "-out",
                    str(self.certificate), *[word for text in extensions for word in ("-addext", text)])

    def sign(self, certificate: pathlib.Path, key: pathlib.Path, name: str, extensions: list[str], start: float = -1,
             end: float = 30):
        request = certificate.with_suffix(".csr")
        openssl("req", *KEY, "-subj", f"/CN={name}", "-keyout", str(key), "-out", str(request),
                *[word for text in extensions for word in ("-addext", text)])
        openssl("ca", "-batch", "-notext", "-config", str(self.configuration), "-cert", str(self.certificate),
                "-keyfile", str(self.key), "-startdate", in_days(start), "-enddate", in_days(end), "-in", str(request),
                "-out", str(certificate))

    def issue(self, name: str, *hosts: str, chain: "tuple[Authority, ...]" = (), start: float = -1,
              end: float = 30) -> tuple[str, str]:
        """Issues a certificate, followed by those of `chain`, and its key; valid from `start` to `end`, days from now.

        Without hosts it has only a common name.
        """
        file, key = self.folder / f"{name}.pem", self.folder / f"{name}.key"
        names = ["subjectAltName=" + ",".join(hosts)] if hosts else []
        self.sign(file, key, name, [*names, "extendedKeyUsage=serverAuth,clientAuth"], start, end)
        with file.open("ab") as out:
            for authority in chain:
                out.write(authority.certificate.read_bytes())
        return str(file), str(key)


LOCALHOST = ("DNS:localhost", "IP:127.0.0.1")
