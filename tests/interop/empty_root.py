#!/usr/bin/env python3
"""A static `skua` needs no other file: alone in an empty root directory it serves a folder and fetches from it.

Usage: empty_root.py SKUA      exits with 77 (skipped) if this user may not change the root directory
"""
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile

from served import SKIP, TIMEOUT, Program


def main() -> int:
    enter = ["chroot"] if os.geteuid() == 0 else ["unshare", "--map-root-user", "chroot"]
    if subprocess.run([*enter, "/", "/bin/true"], stderr=subprocess.DEVNULL, timeout=TIMEOUT).returncode:
        print("skipped: changing the root directory is not permitted")
        return SKIP
    with tempfile.TemporaryDirectory() as folder:
        root = pathlib.Path(folder)
        shutil.copy(sys.argv[1], root / "skua")
        (root / "site").mkdir()
        (root / "site" / "page.txt").write_text("a page\n")
        with Program(*enter, folder, "/skua", "serve", "/site", "--port", "0", "--quiet") as url:
            fetched = subprocess.run([*enter, folder, "/skua", "get", f"{url}/page.txt"], capture_output=True, text=True,
                                     timeout=TIMEOUT)
    assert (fetched.returncode, fetched.stdout) == (0, "a page\n"), fetched
    return 0


if __name__ == "__main__":
    sys.exit(main())
