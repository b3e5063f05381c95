#!/usr/bin/env python3
"""litmus and rclone work on a folder that `skua serve --webdav` serves, in its sandbox.

Usage: webdav_test.py SKUA      exits with 77 (skipped) without litmus, rclone or WebDAV in this build
"""
import filecmp
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

from served import SKIP, Served, backends

LONG_TIMEOUT = 300  # rclone waits 10 ms before each request of WebDAV
FILES = 1000


def run(folder: pathlib.Path, *command: str, **environment: str) -> str:
    done = subprocess.run(command, cwd=folder, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, timeout=LONG_TIMEOUT,
                          env={**os.environ, **environment}, check=False)
    assert done.returncode == 0, f"{' '.join(command)} ended with {done.returncode}: {done.stdout[-4000:]}"
    return done.stdout


def litmus(url: str, folder: pathlib.Path):
    """Suites that must pass; `locks` is for class 2, and `http` has one test of HTTP itself."""
    folder.mkdir()
    for suite in ("basic", "copymove", "props"):
        told = run(folder, "litmus", "-k", url + "/", TESTS=suite)
        summary = re.search(r"of (\d+) tests run: (\d+) passed, (\d+) failed", told)
        assert summary and summary[3] == "0" and int(summary[1]) > 10, told
        assert "SKIPPED" not in told, told


def make_files(folder: pathlib.Path):
    for i in range(FILES):
        path = folder / f"d{i % 25}" / f"ä {i % 3}" / f"file {i} #%.txt"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(os.urandom(i * 7))


def same(left: pathlib.Path, right: pathlib.Path):
    files = sorted(path.relative_to(left) for path in left.rglob("*") if path.is_file())
    assert files == sorted(path.relative_to(right) for path in right.rglob("*") if path.is_file())
    assert len(files) == FILES, len(files)
    _, different, failed = filecmp.cmpfiles(left, right, map(str, files), shallow=False)
    assert not different and not failed, (different, failed)


def rclone(url: str, work: pathlib.Path, site: pathlib.Path):
    source = work / "source"
    make_files(source)

    def call(*words: str):
        run(work, "rclone", "--quiet", "--config", str(work / "none"), *words)

    remote = f":webdav,url='{url}':"
    call("sync", str(source), remote + "all")
    same(source, site / "all")
    call("sync", remote + "all", str(work / "back"))
    same(source, work / "back")
    call("copy", f":http,url='{url}/all/':", str(work / "by_http"))
    same(source, work / "by_http")
    call("moveto", remote + "all", remote + "other place")
    same(source, site / "other place")
    call("purge", remote + "other place")
    assert not list(site.iterdir()), list(site.iterdir())


def main(arguments: list[str]) -> int:
    program = arguments[0]
    missing = [name for name in ("litmus", "rclone") if not shutil.which(name)]
    if missing:
        print(f"skipped: {' and '.join(missing)} not installed")
        return SKIP
    if "--webdav" not in subprocess.run([program, "serve", "--help"], capture_output=True, text=True, check=True).stdout:
        print("skipped: this build has no WebDAV")
        return SKIP
    used = backends(program)
    for backend in used:
        with tempfile.TemporaryDirectory() as temporary:
            site, work = pathlib.Path(temporary, "site"), pathlib.Path(temporary, "work")
            site.mkdir()
            work.mkdir()
            with Served(program, site, "--webdav", "--backend", backend) as url:
                litmus(url, work / "litmus")
                shutil.rmtree(site / "litmus", ignore_errors=True)
                if backend == used[0]:
                    rclone(url, work, site)
    print(f"litmus (basic, copymove, props) with {' and '.join(used)}; rclone with {FILES} files")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
