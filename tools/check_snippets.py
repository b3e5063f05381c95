#!/usr/bin/env python3
"""Compiles the ```cpp blocks of the README and docs/ as a reader would paste them, and checks links to files.

A block fenced ```cpp is a whole file. A block fenced ```cpp fragment is the body of a function. It is compiled
verbatim, after the #include and `using namespace` lines shown above it on the same page; the function is a
coroutine if the fragment awaits. Nothing else is added. No block may have a statement that GCC 12 miscompiles, nor
may those in the comments of public headers.
The README must mention two commands: make run, make test.
Usage: check_snippets.py [ROOT]      compiler: $CXX, else g++
"""
import concurrent.futures
import os
import pathlib
import re
import subprocess
import sys

import arguments
import check_coroutines
from remembered import Remembered

FLAGS = "-std=c++20 -Wall -Wextra -Wno-unused -Wno-dangling-reference -fsyntax-only".split()
FENCE = re.compile(r"^```cpp(?P<how>[^\n]*)\n(?P<code>.*?)^```$", re.M | re.S)
COMMENT = re.compile(r"^ */// ```cpp\n(?P<code>(?: *///.*\n)*?) */// ```$", re.M)
LINK = re.compile(r"(?<!!)\[[^\]]*\]\((?P<target>[^)\s#]+)(?:#[^)]*)?\)")
SHOWN = re.compile(r"^(?:#include .*|using namespace .*)$", re.M)
AWAITS = re.compile(r"^co_|^(?:\w.*)?\bco_await\b", re.M)


def units(file: pathlib.Path, text: str) -> list[str]:
    """Returns the texts to compile for a page: each whole file, then all fragments as one."""
    whole, page, fragments = [], "", 0
    for match in FENCE.finditer(text):
        place = f'#line {text.count(chr(10), 0, match.start()) + 2} "{file}"\n'
        if match["how"].strip() != "fragment":
            whole.append(place + match["code"])
            page += "".join(line + "\n" for line in SHOWN.findall(match["code"]))
            continue
        fragments += 1
        result = "skua::Task<>" if AWAITS.search(match["code"]) else "void"
        page += f"{result} fragment_{fragments}() {{\n{place}{match['code']}}}\n"
    return whole + ([page] if fragments else [])


def compile_unit(memory: Remembered, root: pathlib.Path, file: pathlib.Path, text: str) -> bool:
    command = [os.environ.get("CXX", "g++"), *FLAGS, "-I", str(root / "include"), "-x", "c++", "-"]
    key = memory.key(command, root / "include", text)
    if memory.get(key) is not None:
        return True
    errors = subprocess.run(command, input=text, capture_output=True, text=True)
    if errors.returncode:
        print(f"{file}: this snippet does not compile:\n{errors.stderr}")
    else:
        memory.note(key)
    return errors.returncode == 0


def miscompiled(file: pathlib.Path, text: str, blocks: re.Pattern) -> int:
    """Reports the blocks with statements that check_coroutines.py flags."""
    wrong = 0
    for match in blocks.finditer(text):
        first = text.count("\n", 0, match.start()) + 1
        code = re.sub(r"^\s*/// ?", "", match["code"], flags=re.M)
        for line, what in check_coroutines.check(code):
            print(f"{file}:{first + line}: {what}")
            wrong += 1
    return wrong


def links(root: pathlib.Path, file: pathlib.Path, text: str) -> int:
    wrong = 0
    for match in LINK.finditer(re.sub(r"```.*?```", "", text, flags=re.S)):
        target = match["target"]
        if not re.match(r"[a-z]+:", target) and not (file.parent / target).exists():
            print(f"{file}: broken link to {target}")
            wrong += 1
    return wrong


def main(arguments: list[str]) -> int:
    root = pathlib.Path(arguments[0] if arguments else ".")
    files = sorted(root.glob("*.md")) + sorted((root / "docs").rglob("*.md"))
    memory = Remembered(root, "snippets")
    blocks, wrong = [], 0
    for file in files:
        text = file.read_text()
        wrong += links(root, file, text)
        wrong += miscompiled(file, text, FENCE)
        if file.name in {"README.md"} or root / "docs" in file.parents:
            blocks += [(memory, root, file, unit) for unit in units(file, text)]
    for file in sorted((root / "include").rglob("*.hpp")):
        wrong += miscompiled(file, file.read_text(), COMMENT)
    readme = (root / "README.md").read_text() if (root / "README.md").exists() else ""
    for command in ("make run", "make test"):
        if command not in readme:
            print(f"README.md does not mention `{command}`")
            wrong += 1
    if not (root / "include/skua.hpp").exists():
        print(f"include/skua.hpp does not exist yet: {len(blocks)} snippets were not compiled")
        blocks = []
    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        wrong += [*pool.map(lambda block: compile_unit(*block), blocks)].count(False)
    memory.save()
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main(arguments.words(__doc__, "ROOT", "*")))
