#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Fails if a tracked path begins with "-" or has a control character, or a script of tools/ has no --help.

A program that takes such a path for an option may do anything; one that takes an option for a path makes such a path.
Usage: check_paths.py ROOT
"""

import pathlib
import re
import subprocess
import sys

import arguments

ODD = re.compile(r"(^|/)-|[\x00-\x1f\x7f]")
RUNS = re.compile(r"^if __name__ == ", re.MULTILINE)
PARSES = re.compile(r"^import (?:argparse|arguments)$", re.MULTILINE)


def main(root: pathlib.Path) -> int:
    listed = subprocess.run(["git", "ls-files", "-z"], cwd=root, capture_output=True, text=True, check=True).stdout
    paths = [path for path in listed.split("\0") if path]
    wrong = [f"{path}: git and shells take such a name for something else" for path in paths if ODD.search(path)]
    for path in paths:
        if re.fullmatch(r"tools/\w+\.py", path) and (root / path).exists():
            text = (root / path).read_text(encoding="utf-8")
            if RUNS.search(text) and not PARSES.search(text):
                wrong.append(f"{path}: read the command line by arguments.py, so that it has --help")
    print(*wrong, sep="\n", end="\n" if wrong else "")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main(pathlib.Path(arguments.words(__doc__, "ROOT", 1)[0])))
