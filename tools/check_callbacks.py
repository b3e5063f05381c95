#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Fails if no test throws from a callback that the public headers take.

A callback is a std::function that is a member, a parameter or an alias in a header of include/skua. Its name is `HEADER.NAME`, such as
`options.on_response`; a parameter called call, callback, make or produce has the name of its function: `loop.post`. Tests name those that
they throw from in lines `// throws: NAME...`. Usage: check_callbacks.py HEADERS TESTS
"""

import pathlib
import re
import sys

import arguments
import cpp_text

BEGIN = re.compile(r"\bstd::function<")
ALIAS = re.compile(r"\busing (\w+) =\s*$")
NAMED = re.compile(r"\s*&?\s*(\w+)\s*(\(?)")
FUNCTION = re.compile(r"(\w+)\s*\(")
THROWS = re.compile(r"^\s*// throws: (.*)$", re.MULTILINE)
COMMENT = re.compile(r"//.*$", re.MULTILINE)
UNNAMED = {"call", "callback", "make", "produce"}


def function_around(text: str, at: int) -> str | None:
    """Returns the name of the function that has a parameter here; None elsewhere."""
    declaration = re.split(r"[;{}]", text[:at])[-1]
    if declaration.count("(") <= declaration.count(")"):
        return None
    names = FUNCTION.findall(declaration)
    return names[0] if names else None


def callbacks(header: pathlib.Path) -> set[str]:
    text = COMMENT.sub("", header.read_text(encoding="utf-8"))
    found = set()
    for begin in BEGIN.finditer(text):
        alias = ALIAS.search(text[: begin.start()])
        named = NAMED.match(text, cpp_text.end_of_type(text, begin.end()))
        function = function_around(text, begin.start())
        if alias:
            name = alias[1]
        elif named is None or named[2] or named[1].endswith("_"):
            continue  # an expression, a function that returns one, or a private member
        elif function is not None and named[1] in UNNAMED:
            name = function
        else:
            name = named[1]
        found.add(f"{header.stem}.{name}")
    return found


def main() -> int:
    headers, tests = (pathlib.Path(word) for word in arguments.words(__doc__, "FOLDER", 2))
    wanted = set().union(*(callbacks(header) for header in sorted(headers.rglob("*.hpp"))))
    thrown = set()
    for test in sorted(tests.rglob("*_test.cpp")):
        for line in THROWS.findall(test.read_text(encoding="utf-8")):
            thrown.update(line.split())
    for name in sorted(wanted - thrown):
        print(f"{name}: no test throws from this callback (`// throws: {name}`)")
    for name in sorted(thrown - wanted):
        print(f"{name}: a test names this callback, but no public header has it")
    return 1 if wanted != thrown else 0


if __name__ == "__main__":
    sys.exit(main())
