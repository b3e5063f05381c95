#!/usr/bin/env python3
"""Fills in the packaging recipes for one release: its version, and the address and checksums of its source archive.

Usage: recipes.py [--local] ARCHIVE FOLDER
ARCHIVE is skua-VERSION.tar.gz. Each recipe is written to its own folder in FOLDER. With --local they fetch that file
itself instead of the published one, to try them before a release.
"""
import hashlib
import pathlib
import re
import shutil
import sys

import arguments

HOMEPAGE = "https://example.org/skua"
ARCHIVE_URL = HOMEPAGE + "/skua-{version}.tar.gz"
RECIPES = ("vcpkg", "conan", "homebrew")


def values(archive: pathlib.Path, local: bool) -> dict[str, str]:
    named = re.fullmatch(r"skua-(\d+\.\d+\.\d+)\.tar\.gz", archive.name)
    if not named:
        sys.exit(f"{archive.name} is not named skua-VERSION.tar.gz")
    content = archive.read_bytes()
    return {"VERSION": named[1], "HOMEPAGE": HOMEPAGE,
            "URL": archive.resolve().as_uri() if local else ARCHIVE_URL.format(version=named[1]),
            "SHA256": hashlib.sha256(content).hexdigest(), "SHA512": hashlib.sha512(content).hexdigest()}


def fill(folder: pathlib.Path, known: dict[str, str]):
    for file in folder.rglob("*"):
        if file.is_file():
            file.write_text(re.sub(r"@([A-Z0-9]+)@", lambda found: known[found[1]], file.read_text()))


def main() -> int:
    parser = arguments.parser(__doc__)
    parser.add_argument("--local", action="store_true")
    parser.add_argument("archive", type=pathlib.Path)
    parser.add_argument("folder", type=pathlib.Path)
    given = parser.parse_args()
    out = given.folder
    known = values(given.archive, given.local)
    for name in RECIPES:
        shutil.copytree(pathlib.Path(__file__).resolve().parents[1] / "packaging" / name, out / name, dirs_exist_ok=True)
        fill(out / name, known)
    return 0


if __name__ == "__main__":
    sys.exit(main())
