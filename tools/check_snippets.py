#!/usr/bin/env python3
"""Compiles every ```cpp block of the README and of docs/, and follows their links to files of the tree.

A block fenced ```cpp is a whole file. One fenced ```cpp fragment is the inside of a function, with
<skua.hpp> included, `using namespace skua::literals` and a coroutine around it if it awaits.
The README must name the two commands that it promises: make run, make test.
Usage: check_snippets.py [ROOT]      compiler: $CXX, else g++
"""
import concurrent.futures
import os
import pathlib
import re
import subprocess
import sys

FLAGS = "-std=c++20 -Wall -Wextra -Wno-unused -Wno-dangling-reference -fsyntax-only".split()
FENCE = re.compile(r"^```cpp(?P<how>[^\n]*)\n(?P<code>.*?)^```$", re.M | re.S)
LINK = re.compile(r"(?<!!)\[[^\]]*\]\((?P<target>[^)\s#]+)(?:#[^)]*)?\)")
INCLUDES = "#include <skua.hpp>\n#include <chrono>\n#include <cstdio>\n#include <map>\n#include <string>\n#include <vector>\n"


def whole(how: str, code: str) -> str:
    if how.strip() != "fragment":
        return code
    head = INCLUDES + "using namespace std::chrono_literals;\nusing namespace skua::literals;\n"
    awaits = re.search(r"^co_|^(?:\w.*)?\bco_await\b", code, re.M)
    result = "skua::Task<>" if awaits else "void"
    return f"{head}{result} snippet() {{\n#line 1\n{code}}}\n"


def compile_block(root: pathlib.Path, file: pathlib.Path, line: int, text: str) -> bool:
    command = [os.environ.get("CXX", "g++"), *FLAGS, "-I", str(root / "include"), "-x", "c++", "-"]
    errors = subprocess.run(command, input=text, capture_output=True, text=True)
    if errors.returncode:
        print(f"{file}:{line}: this snippet does not compile:\n{errors.stderr}")
    return errors.returncode == 0


def links(root: pathlib.Path, file: pathlib.Path, text: str) -> int:
    wrong = 0
    for match in LINK.finditer(re.sub(r"```.*?```", "", text, flags=re.S)):
        target = match["target"]
        if not re.match(r"[a-z]+:", target) and not (file.parent / target).exists():
            print(f"{file}: the link to {target} leads nowhere")
            wrong += 1
    return wrong


def main(arguments: list[str]) -> int:
    root = pathlib.Path(arguments[0] if arguments else ".")
    files = sorted(root.glob("*.md")) + sorted((root / "docs").rglob("*.md"))
    blocks, wrong = [], 0
    for file in files:
        text = file.read_text()
        wrong += links(root, file, text)
        if file.name in {"README.md"} or root / "docs" in file.parents:
            blocks += [(root, file, text.count("\n", 0, match.start()) + 1, whole(match["how"], match["code"]))
                       for match in FENCE.finditer(text)]
    readme = (root / "README.md").read_text() if (root / "README.md").exists() else ""
    for command in ("make run", "make test"):
        if command not in readme:
            print(f"README.md does not name `{command}`")
            wrong += 1
    if not (root / "include/skua.hpp").exists():
        print(f"include/skua.hpp is not there yet: {len(blocks)} snippets were not compiled")
        blocks = []
    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        wrong += [*pool.map(lambda block: compile_block(*block), blocks)].count(False)
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
