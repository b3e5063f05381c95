#!/usr/bin/env python3
"""Python, tar, gzip and unzip unpack what `skua serve --archive` makes of a folder with hostile names.

Usage: archives_test.py SKUA      exits with 77 (skipped) on a file system that refuses such names
"""
import hashlib
import io
import os
import pathlib
import shutil
import subprocess
import sys
import tarfile
import tempfile
import urllib.request
import zipfile

from served import SKIP, TIMEOUT, Served, backends

# Each is the name of a file, as bytes. None of them may leave the folder, hide another, or reach a terminal as it is.
NAMES = [
    b"plain.txt", b" ", b"  lead", b"trail ", b"trail.", b"trail..", b"-rf", b"--checkpoint-action=exec=sh", b"-", b"~", b"~root",
    b"$(id)", b"`id`", b"${HOME}", b"a;id", b"a|id", b"a&id", b"a>b", b"a<b", b"a*b", b"a?b", b"[a-z]", b"{a,b}", b"!!", b"#a", b"%2e%2e",
    b"%", b"%00", b"%FF", b"100%", b"'", b'"', b"a'b\"c", b"a:b", b"C:", b"C:evil", b"c:evil.txt", b"con", b"NUL", b"aux.txt", b"COM1",
    b"LPT9.log", b"a.txt:stream", b"a::$DATA", b"@a", b"@LongLink", b"././@LongLink-", b"PaxHeader", b"GNUSparseFile.0", b"entry",
    b"path=..", b"mtime=0", b"\xff", b"\xfe\xff", b"\x80", b"a\x9b[31m", b"\xc2\x9b31m", b"\xc2\x85", b"\xc0\xae\xc0\xae", b"\xc0\xaf",
    b"\xe0\x80\xaf", b"\xed\xa0\x80", b"\xf4\x90\x80\x80", b"\xe2\x80\xaegpj.exe", b"\xe2\x81\xa6a", b"\xe2\x80\xa8", b"\xef\xbb\xbfa",
    b"\xef\xbc\x8e\xef\xbc\x8e", b"\xef\xbc\x8f", b"\xe2\x88\x95", b"\xc3\xa4", b"a\xcc\x88", b"\xe6\x97\xa5\xe6\x9c\xac", b"\xf0\x9f\x98\x80",
    b"a" * 255, b"\xff" * 255, b"\xfe" * 255, b"\xc3\xa4" * 127, b"a" * 99, b"a" * 100, b"a" * 101,
    b"a~1", b"%FF~1", b"index.php", b"a..", b"Thumbs.db", b"desktop.ini", b"autorun.inf",
]
# Names that the site does not serve, and that are not in an archive.
REFUSED = [b"..\\..\\evil", b"\\evil", b"a\\b", b"C:\\evil", b"a\nb", b"a\rb", b"a\tb", b"\x1b[2J", b"\x07", b"\x7f", b"\x01", b".hidden", b"...",
           b".. ", b".\xff", b".skua-upload-1", b".ssh", b"...a", b"..a"]


def make(folder: bytes) -> dict[str, int]:
    """Writes a file for each name, which is also in a folder of such a name; returns the digests of what is to be found."""
    contents: dict[str, int] = {}
    for number, name in enumerate(NAMES):
        parts = [part for part in name.split(b"/") if part not in (b".", b"")]
        path = os.path.join(folder, b"f", *parts)
        os.makedirs(os.path.dirname(path), exist_ok=True)
        content = b"%d " % number * (1 + number * 97)
        write(path, content, contents)
        nested = os.path.join(folder, b"d", *parts)
        os.makedirs(nested, exist_ok=True)
        write(os.path.join(nested, b"x" + name.replace(b"/", b"")[:200]), content + b"nested", contents)
    large = os.urandom(700_000)
    write(os.path.join(folder, b"large.bin"), large, contents)
    write(os.path.join(folder, b"large.txt"), b"gulls and terns " * 60_000, contents)
    write(os.path.join(folder, b"zero"), b"", contents)
    hidden: dict[str, int] = {}
    for name in REFUSED:
        os.makedirs(os.path.join(folder, b"r"), exist_ok=True)
        write(os.path.join(folder, b"r", name), b"secret", hidden)
    os.symlink(b"/etc", os.path.join(folder, b"etc"))
    os.symlink(b"..", os.path.join(folder, b"up"))
    os.symlink(b"/", os.path.join(folder, b"root"))
    os.symlink(b".", os.path.join(folder, b"d", b"loop"))
    os.mkfifo(os.path.join(folder, b"fifo"))
    return contents


def write(path: bytes, content: bytes, contents: dict[str, int]):
    with open(path, "xb") as file:
        file.write(content)
    digest = hashlib.sha256(content).hexdigest()
    contents[digest] = contents.get(digest, 0) + 1


def download(url: str) -> bytes:
    with urllib.request.build_opener(urllib.request.ProxyHandler({})).open(url, timeout=TIMEOUT) as response:
        return response.read()


def check_names(names: list[str]):
    assert len(set(names)) == len(names), "a name is there twice"
    for name in names:
        parts = name.rstrip("/").split("/")
        assert parts[0] == "files", name
        for part in parts:
            assert part not in ("", ".", ".."), name
            assert part.strip(". "), name
            assert len(part.encode()) <= 255, name
            assert part[1:2] != ":" or not part[:1].isascii() or not part[:1].isalpha(), name
        for c in name:
            assert c.isprintable() or c == " " or c in "\u3000", (name, hex(ord(c)))
        assert "\\" not in name


def digests(folder: pathlib.Path) -> dict[str, int]:
    found: dict[str, int] = {}
    for path in folder.rglob("*"):
        assert not path.is_symlink(), path
        if path.is_file():
            digest = hashlib.sha256(path.read_bytes()).hexdigest()
            found[digest] = found.get(digest, 0) + 1
    return found


def unpack(archive: bytes, name: str, how: str, place: pathlib.Path):
    """Unpacks into a folder beside which nothing may appear."""
    target = place / "in"
    target.mkdir(parents=True)
    file = place / name
    file.write_bytes(archive)
    if how == "tarfile":
        with tarfile.open(fileobj=io.BytesIO(archive)) as tar:
            check_names([member.name + ("/" if member.isdir() else "") for member in tar.getmembers()])
            for member in tar.getmembers():
                assert member.isreg() or member.isdir(), member.name
                assert (member.uid, member.gid, member.uname, member.gname) == (0, 0, "", ""), member.name
                assert member.mode in (0o644, 0o755), member.name
            tar.extractall(target)
    elif how == "zipfile":
        with zipfile.ZipFile(io.BytesIO(archive)) as zipped:
            assert zipped.testzip() is None
            check_names(zipped.namelist())
            zipped.extractall(target)
    elif how == "tar":
        subprocess.run(["tar", "xf", str(file), "--force-local", "-C", str(target)], check=True, timeout=TIMEOUT, capture_output=True)
    elif how == "unzip":
        environment = dict(os.environ, LC_ALL="C.UTF-8")
        subprocess.run(["unzip", "-q", "-d", str(target), str(file)], check=True, timeout=TIMEOUT, capture_output=True,
                       env=environment)
    assert sorted(path.name for path in place.iterdir()) == sorted(["in", name]), list(place.iterdir())
    assert [path.name for path in target.iterdir()] == ["files"], list(target.iterdir())


def archives(url: str, contents: dict[str, int], scratch: pathlib.Path):
    ways = [("tar", "tarfile"), ("tar.gz", "tarfile"), ("zip", "zipfile")]
    ways += [(format, "tar") for format in ("tar", "tar.gz") if shutil.which("tar")]
    ways += [("zip", "unzip")] if shutil.which("unzip") else []
    for format, how in ways:
        archive = download(f"{url}/?archive={format}")
        place = scratch / f"{format}-{how}"
        unpack(archive, f"files.{format}", how, place)
        found = digests(place / "in")
        assert found == contents, f"{format} by {how}: {len(found)} contents, not {len(contents)}"
        shutil.rmtree(place)
    if shutil.which("gzip"):
        gzipped = download(f"{url}/?archive=tar.gz")
        plain = subprocess.run(["gzip", "-dc"], input=gzipped, capture_output=True, check=True, timeout=TIMEOUT).stdout
        assert plain == download(f"{url}/?archive=tar")


def main(arguments: list[str]) -> int:
    with tempfile.TemporaryDirectory() as temporary:
        folder, scratch = pathlib.Path(temporary, "site"), pathlib.Path(temporary, "scratch")
        folder.mkdir()
        scratch.mkdir()
        try:
            contents = make(os.fsencode(folder))
        except OSError as error:
            print(f"skipped: {error}")
            return SKIP
        for backend in backends(arguments[0]):
            with Served(arguments[0], folder, "--archive", "--backend", backend) as url:
                archives(url, contents, scratch)
    print(f"{2 * len(NAMES)} names in tar, tar.gz and zip, unpacked by Python, tar and unzip; {len(REFUSED)} left out")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
