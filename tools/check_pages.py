#!/usr/bin/env python3
"""Checks that the files and symbols that the documentation names exist.

Looks at code spans (`...`) outside of code blocks. A span that starts with a top-level folder, or with a folder of
src/, is a path: `src/h1/framing.cpp`, `h1/framing` (any extension), `tests/cases/*.md`. A word in capitals stands for any
name. A span with `::` or that ends
with `()` is a symbol: each of its names must occur in the sources. A path that ends in a line's last `:` and the
symbols after it belong together: `server/connection.cpp`: `Connection::on_receive()` must be in that file.
On pages named coming-from-*.md the first column of a table has the names of another library.
Usage: check_pages.py ROOT
"""
import pathlib
import re
import subprocess
import sys

import arguments

SPAN = re.compile(r"`([^`\n]+)`")
PATH = re.compile(r"[\w.*{},-]+(?:/[\w.*{},-]+)+/?|[\w-]+/")
SYMBOL = re.compile(r"~?[A-Za-z_]\w*(?:::~?\w+)*(?:\(\))?")
NAME = re.compile(r"[A-Za-z_]\w*")
SOURCES = {".hpp", ".cpp", ".h", ".py", ".sh", ".cmake", ".txt", ".json"}


def tracked(root: pathlib.Path) -> list[pathlib.PurePosixPath]:
    listed = subprocess.run(["git", "-C", root, "ls-files", "--cached", "--others", "--exclude-standard"],
                            check=True, capture_output=True, text=True).stdout.split("\n")
    return [pathlib.PurePosixPath(name) for name in listed if name and (root / name).exists()]


def expand(path: str) -> list[str]:
    """`a.{hpp,cpp}` as `a.hpp` and `a.cpp`."""
    if not (found := re.search(r"\{([^{}]*,[^{}]*)\}", path)):
        return [path]
    return [one for word in found[1].split(",") for one in expand(path[:found.start()] + word + path[found.end():])]


class Tree:
    def __init__(self, root: pathlib.Path):
        self.root = root
        self.files = tracked(root)
        self.top = {file.parts[0] for file in self.files if len(file.parts) > 1}
        self.layers = {file.parts[1] for file in self.files if file.parts[0] == "src" and len(file.parts) > 2}
        self.names = set()
        for file in self.files:
            if file.suffix in SOURCES or file.name == "Makefile":
                self.names.update(NAME.findall((root / file).read_text(errors="replace")))

    def is_path(self, span: str) -> bool:
        return (PATH.fullmatch(span) is not None and span.split("/")[0] in self.top | self.layers
                and not re.fullmatch(r"http/[\d.]+", span))  # ALPN

    def find(self, path: str) -> list[pathlib.PurePosixPath]:
        """The files and folders that a path stands for: from the root, or from src/."""
        for base in ("", "src/"):
            for ending in ("", ".*"):
                pattern = re.sub(r"\b[A-Z]{3,}(?=[/_.]|$)(?!\.md)", "*", base + path).rstrip("/") + ending
                if found := [pathlib.PurePosixPath(p.relative_to(self.root)) for p in self.root.glob(pattern)]:
                    return found
        return []


def prose(text: str):
    """Yields (line number, line) for the lines outside of code blocks."""
    fence = None
    for number, line in enumerate(text.splitlines(), 1):
        mark = re.match(r"\s*(```+|~~~+)", line)
        if mark and fence is None:
            fence = mark[1]
        elif mark and mark[1].startswith(fence):
            fence = None
        elif fence is None:
            yield number, line


def ours(page: pathlib.PurePosixPath, line: str) -> str:
    """Returns a line of a page without the names of other libraries."""
    return re.sub(r"^\|(?:[^|\\]|\\.)*\|", "|", line) if page.name.startswith("coming-from-") else line


def problems(tree: Tree, line: str):
    place: list[pathlib.PurePosixPath] = []
    for found in SPAN.finditer(line):
        span = found[1]
        if tree.is_path(span):
            place = []
            for path in expand(span):
                if matches := tree.find(path):
                    place += matches
                else:
                    yield f"`{path}` does not exist"
            if not line[found.end():].lstrip().startswith(":"):
                place = []
        elif SYMBOL.fullmatch(span) and ("::" in span or span.endswith("()")):
            files = [file for file in place if (tree.root / file).is_file()]
            here = {name for file in files for name in NAME.findall((tree.root / file).read_text(errors="replace"))}
            for name in NAME.findall(span):
                if name not in tree.names and name != "std":
                    yield f"`{span}`: no {name} in the sources"
            last = NAME.findall(span)[-1]
            if files and last not in here:
                yield f"`{span}`: no {last} in {', '.join(map(str, files))}"


def main(root: pathlib.Path) -> int:
    tree = Tree(root)
    wrong = 0
    for page in tree.files:
        if page.suffix != ".md" or page.parts[0] == "tests":
            continue
        for number, line in prose((root / page).read_text()):
            for problem in problems(tree, ours(page, line)):
                print(f"{page}:{number}: {problem}")
                wrong += 1
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main(pathlib.Path(arguments.words(__doc__, "ROOT", 1)[0])))
