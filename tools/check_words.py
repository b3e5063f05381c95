#!/usr/bin/env python3
"""Checks that the tree is free of the turns of phrase that STYLE.md lists in its ```grep block, one pattern a line.

Each is given to `git grep -nE`. A hit is an error; STYLE.md itself is not searched.
Usage: check_words.py ROOT
"""
import pathlib
import re
import subprocess
import sys

import arguments


def main(root: pathlib.Path) -> int:
    block = re.search(r"^```grep\n(.*?)^```", (root / "STYLE.md").read_text(), re.M | re.S)
    if not block:
        print("STYLE.md has no ```grep block with patterns")
        return 1
    wrong = 0
    for pattern in block[1].splitlines():
        found = subprocess.run(["git", "-C", root, "grep", "--untracked", "-nIE", "-e", pattern, "--", ":!STYLE.md",
                                ":!fuzz/corpus"], capture_output=True, text=True)
        if found.returncode > 1:
            sys.exit(f"git grep: {found.stderr}")
        for line in found.stdout.splitlines():
            print(f"{line}\n    matches {pattern}")
            wrong += 1
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main(pathlib.Path(arguments.words(__doc__, "ROOT", 1)[0])))
