#!/usr/bin/env python3
"""Prints the software bill of materials of a release, as an SPDX 2.3 document in JSON.

Usage: sbom.py ARCHIVE      the source archive, skua-VERSION.tar.gz
Lists the library and the static command, with the version of each library as Debian's package manager knows it on this
machine, which builds the command. SOURCE_DATE_EPOCH is the time of the release.
"""
import datetime
import hashlib
import json
import os
import pathlib
import platform
import re
import subprocess
import sys
import urllib.parse

from recipes import ARCHIVE_URL, HOMEPAGE

import arguments

# Name, Debian package, licence, and whether the library needs it (the command has all of them).
LIBRARIES = (
    ("openssl", "libssl-dev", "Apache-2.0", True),
    ("zlib", "zlib1g-dev", "Zlib", True),
    ("brotli", "libbrotli-dev", "MIT", True),
    ("zstd", "libzstd-dev", "BSD-3-Clause OR GPL-2.0-only", True),
    ("expat", "libexpat1-dev", "MIT", True),
    ("liburing", "liburing-dev", "LGPL-2.1-or-later OR MIT", True),
    ("libxcrypt", "libcrypt-dev", "LGPL-2.1-or-later", False),
    ("tomlplusplus", "libtomlplusplus-dev", "MIT", False),
    ("libidn2", "libidn2-dev", "LGPL-3.0-or-later OR GPL-2.0-or-later", False),
    ("cli11", "libcli11-dev", "BSD-3-Clause", False),
    ("glibc", "libc6-dev", "LGPL-2.1-or-later", False),
    ("libstdc++", "libstdc++6", "GPL-3.0-or-later WITH GCC-exception-3.1", False),
)


def debian_version(package: str) -> str:
    found = subprocess.run(["dpkg-query", "--show", "--showformat=${Version}", package], capture_output=True, text=True, check=False)
    if found.returncode:
        sys.exit(f"sbom: {package} is not installed")
    return found.stdout


def upstream(version: str) -> str:
    """`1:1.2.13.dfsg-1` is 1.2.13."""
    return re.sub(r"^\d+:|[-+](dfsg|ds).*|\.dfsg.*|-[^-]*$", "", version)


def identifier(name: str) -> str:
    return "SPDXRef-" + re.sub(r"[^A-Za-z0-9.-]", "-", name)


def package(name: str, version: str, licence: str, purpose: str, **more) -> dict:
    return {"SPDXID": identifier(name), "name": name, "versionInfo": version, "downloadLocation": "NOASSERTION",
            "filesAnalyzed": False, "licenseConcluded": licence, "licenseDeclared": licence,
            "copyrightText": "NOASSERTION", "primaryPackagePurpose": purpose, **more}


def library(name: str, debian: str, licence: str) -> dict:
    version = debian_version(debian)
    system = platform.freedesktop_os_release()["ID"]
    locator = f"pkg:deb/{system}/{urllib.parse.quote(debian)}@{urllib.parse.quote(version, safe=':~')}"
    return package(name, upstream(version), licence, "LIBRARY", externalRefs=[
        {"referenceCategory": "PACKAGE-MANAGER", "referenceType": "purl", "referenceLocator": locator}])


def document(archive: pathlib.Path) -> dict:
    version = re.fullmatch(r"skua-(.*)\.tar\.gz", archive.name)[1]
    digest = hashlib.sha256(archive.read_bytes()).hexdigest()
    address = ARCHIVE_URL.format(version=version)
    packages = [
        package("skua-source", version, "MIT", "SOURCE", downloadLocation=address, homepage=HOMEPAGE, packageFileName=archive.name,
                checksums=[{"algorithm": "SHA256", "checksumValue": digest}]),
        package("skua-library", version, "MIT", "LIBRARY"),
        package("skua-command", version, "MIT", "APPLICATION"),
    ]
    relations = [("SPDXRef-DOCUMENT", "DESCRIBES", one["SPDXID"]) for one in packages]
    source, own_library, command = (one["SPDXID"] for one in packages)
    relations += [(own_library, "GENERATED_FROM", source), (command, "GENERATED_FROM", source),
                  (command, "STATIC_LINK", own_library)]
    for name, debian, licence, is_of_library in LIBRARIES:
        packages.append(library(name, debian, licence))
        relations.append((command, "STATIC_LINK", identifier(name)))
        if is_of_library:
            relations.append((own_library, "DEPENDS_ON", identifier(name)))
    created = datetime.datetime.fromtimestamp(int(os.environ["SOURCE_DATE_EPOCH"]), datetime.timezone.utc)
    return {
        "spdxVersion": "SPDX-2.3", "dataLicense": "CC0-1.0", "SPDXID": "SPDXRef-DOCUMENT", "name": f"skua-{version}",
        "documentNamespace": f"{HOMEPAGE}/spdx/skua-{version}-{digest}",
        "creationInfo": {"created": created.strftime("%Y-%m-%dT%H:%M:%SZ"), "creators": ["Tool: tools/sbom.py"]},
        "packages": packages,
        "relationships": [{"spdxElementId": one, "relationshipType": kind, "relatedSpdxElement": other}
                          for one, kind, other in relations],
    }


if __name__ == "__main__":
    print(json.dumps(document(pathlib.Path(arguments.words(__doc__, "ARCHIVE", 1)[0])), indent=2))
