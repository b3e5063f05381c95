#!/usr/bin/env python3
"""Checks that every public header compiles alone, when included twice, with warnings as errors and as
if installed; and that skua.hpp includes all of them.

"As if installed" means with include/ as the only include root, so that no header of src/ slips in.
Also compares the time to compile a hello world at -O0 with that for ten standard headers (budget: 1.5).
Usage: check_headers.py [INCLUDE_FOLDER]      compilers: $CXX, else g++; and clang++-19 if installed
"""
import concurrent.futures
import os
import pathlib
import re
import resource
import shutil
import subprocess
import sys
import tempfile

import arguments
from remembered import Remembered

FLAGS = "-std=c++20 -Wall -Wextra -Wpedantic -Wshadow -Wconversion -Werror".split()
TEN = "algorithm chrono functional map memory optional string string_view variant vector".split()
HELLO = """#include <skua.hpp>
int main() { skua::Router router; router.get("/", [] { return "Hello, world!"; }); }
"""
BUDGET = 1.5


def alone(memory: Remembered, compiler: str, root: pathlib.Path, header: pathlib.Path) -> bool:
    line = f"#include <{header.relative_to(root).as_posix()}>\n"
    text = line + line + "int main() {}\n"
    command = [compiler, *FLAGS, "-I", str(root), "-x", "c++", "-", "-fsyntax-only"]
    key = memory.key(command, root, text)
    if memory.get(key) is not None:
        return True
    errors = subprocess.run(command, input=text, capture_output=True, text=True).stderr
    if not errors:
        memory.note(key)
    else:
        print(f"{header} does not compile alone with {compiler}:\n{errors}")
    return not errors


def whole(root: pathlib.Path) -> bool:
    """Reports whether skua.hpp includes every other public header."""
    if not (root / "skua.hpp").exists():
        return True
    included = set(re.findall(r'^#include "(skua/[^"]+)"', (root / "skua.hpp").read_text(), re.M))
    missing = sorted({header.relative_to(root).as_posix() for header in (root / "skua").rglob("*.hpp")} - included)
    for header in missing:
        print(f"skua.hpp does not include {header}")
    return not missing


def seconds(compiler: str, root: pathlib.Path, text: str) -> float:
    """Returns the CPU seconds to compile this at -O0, the minimum of three runs; 0 if it does not compile."""
    best = float("inf")
    with tempfile.TemporaryDirectory() as folder:
        source = pathlib.Path(folder, "hello.cpp")
        source.write_text(text)
        for _ in range(3):
            before = resource.getrusage(resource.RUSAGE_CHILDREN)
            command = [compiler, "-std=c++20", "-O0", "-I", str(root), "-c", str(source), "-o", os.devnull]
            if subprocess.run(command, capture_output=True).returncode:
                return 0
            after = resource.getrusage(resource.RUSAGE_CHILDREN)
            best = min(best, after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime)
    return best


def report_budget(memory: Remembered, compiler: str, root: pathlib.Path) -> None:
    key = memory.key([compiler, "budget"], root, HELLO)
    if (said := memory.get(key)) is not None:
        print(f"{said}, cached")
        return
    ten = seconds(compiler, root, "".join(f"#include <{name}>\n" for name in TEN) + "int main() {}\n")
    hello = seconds(compiler, root, HELLO)
    if not hello:
        print("hello world does not compile yet: no budget reported")
    else:
        said = (f"hello world: {hello:.2f} s with {compiler} -O0, {hello / ten:.2f}x ten standard headers "
                f"(budget {BUDGET}x)")
        print(said)
        memory.note(key, said)


def main(arguments: list[str]) -> int:
    root = pathlib.Path(arguments[0] if arguments else "include")
    compilers = [os.environ.get("CXX", "g++")] + (["clang++-19"] if shutil.which("clang++-19") else [])
    headers = sorted(root.rglob("*.hpp"))
    memory = Remembered(root.parent, "headers")
    jobs = [(memory, compiler, root, header) for header in headers for compiler in compilers]
    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        good = all([*pool.map(lambda job: alone(*job), jobs)])
    good = whole(root) and good
    if good and (root / "skua.hpp").exists():
        report_budget(memory, compilers[0], root)
    memory.save()
    return 0 if good else 1


if __name__ == "__main__":
    sys.exit(main(arguments.words(__doc__, "FOLDER", "*")))
