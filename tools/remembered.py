"""A cache of check results, so that unchanged code need not be compiled again.

A key is the hash of the command, the compiler version, the text, and every skua header that it includes, directly or
not. Results are kept in build/checks, for the keys of the last run only; a fresh clone has none.
"""
import functools
import hashlib
import json
import pathlib
import re
import subprocess

INCLUDE = re.compile(r'^\s*#\s*include\s*[<"](skua[^>"]*)[>"]', re.M)


@functools.cache
def version(compiler: str) -> str:
    return subprocess.run([compiler, "--version"], capture_output=True, text=True).stdout


@functools.cache
def read(file: pathlib.Path) -> str:
    return file.read_text() if file.exists() else ""


def closure(root: pathlib.Path, text: str) -> list[pathlib.Path]:
    """Returns the headers in the include folder that a text includes, directly or not."""
    found: set[pathlib.Path] = set()
    waiting = [text]
    while waiting:
        for name in INCLUDE.findall(waiting.pop()):
            if (file := root / name) not in found:
                found.add(file)
                waiting.append(read(file))
    return sorted(found)


class Remembered:
    def __init__(self, folder: pathlib.Path, name: str):
        self.file = folder / "build" / "checks" / f"{name}.json"
        try:
            self.before: dict[str, str] = json.loads(self.file.read_text())
        except (OSError, ValueError):
            self.before = {}
        self.now: dict[str, str] = {}

    def key(self, command: list[str], root: pathlib.Path, text: str) -> str:
        digest = hashlib.sha256(repr([version(command[0]), command, text]).encode())
        for file in closure(root, text):
            digest.update(f"{file}\0{read(file)}\0".encode())
        return digest.hexdigest()

    def get(self, key: str) -> str | None:
        """Returns the text noted for this key, if any, and keeps it for the next run."""
        if key in self.before:
            self.now[key] = self.before[key]
        return self.before.get(key)

    def note(self, key: str, said: str = "") -> None:
        self.now[key] = said

    def save(self) -> None:
        self.file.parent.mkdir(parents=True, exist_ok=True)
        self.file.write_text(json.dumps(self.now))
