#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Fails if no test looks at the text of the problem with which a public function may end.

These are the functions of include/skua that return a Result<..., Problem>: `HEADER.FUNCTION`, such as `socket.bind`. Tests that compare the
text with what the program gave (an address, a URL, a file, an option) name them in lines `// names: FUNCTION...`. Functions that programs
override or call back are not looked at, nor private ones. Usage: check_problems.py HEADERS TESTS...
"""

import pathlib
import re
import sys

import arguments
import cpp_text

RESULT = re.compile(r"Result<")
FUNCTION = re.compile(r"\s*(\w+)\s*\(")
SECTION = re.compile(r"^(?:\};|class )|^ (?:public|protected|private):", re.MULTILINE)
NAMES = re.compile(r"^// names: (.*)$", re.MULTILINE)
COMMENT = re.compile(r"//.*$", re.MULTILINE)


def functions(header: pathlib.Path) -> set[str]:
    text = COMMENT.sub("", header.read_text(encoding="utf-8"))
    found = set()
    for begin in RESULT.finditer(text):
        end = cpp_text.end_of_type(text, begin.end())
        before = re.split(r"[;{}]", text[: begin.start()])[-1]
        section = [match[0] for match in SECTION.finditer(text, 0, begin.start())][-1:]
        is_called = "virtual" not in before and "(" not in before and section != [" private:"]
        if text[begin.end() : end].endswith(", Problem>") and is_called:
            while text[end] == ">":
                end += 1
            named = FUNCTION.match(text, end)
            if named:
                found.add(f"{header.stem}.{named[1]}")
    return found


def main() -> int:
    headers, *tests = (pathlib.Path(word) for word in arguments.words(__doc__, "FOLDER", "+"))
    wanted = set().union(*(functions(header) for header in sorted(headers.rglob("*.hpp"))))
    looked_at = set()
    for test in (file for folder in tests for file in sorted(folder.rglob("*_test.cpp"))):
        for line in NAMES.findall(test.read_text(encoding="utf-8")):
            looked_at.update(line.split())
    for name in sorted(wanted - looked_at):
        print(f"{name}: no test looks at its problem (`// names: {name}`)")
    for name in sorted(looked_at - wanted):
        print(f"{name}: a test names this function, but no public header has it")
    return 1 if wanted != looked_at else 0


if __name__ == "__main__":
    sys.exit(main())
