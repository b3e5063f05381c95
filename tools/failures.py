#!/usr/bin/env python3
"""Prints the end of the output of each test that failed: the end of a long log then says what is wrong.

Usage: failures.py JUNIT_FILE (what `ctest --output-junit` has written)
"""
import pathlib
import sys
import xml.etree.ElementTree as ElementTree

import arguments

LINES = 30


def main(arguments: list[str]) -> None:
    if len(arguments) != 1:
        sys.exit(__doc__)
    if not pathlib.Path(arguments[0]).exists():
        return  # no test has run
    for test in ElementTree.parse(arguments[0]).iter("testcase"):
        if test.get("status") == "fail":
            lines = (test.findtext("system-out") or "").splitlines()
            print(f"\n{test.get('name')} failed; the end of its output:")
            print("\n".join(lines[-LINES:]))


if __name__ == "__main__":
    main(arguments.words(__doc__, "FILE", 1))
