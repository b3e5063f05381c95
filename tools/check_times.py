#!/usr/bin/env python3
"""Finds sums of a time and a wait that do not use later().

A wait may be Duration::max(), which means never; such a sum overflows and the wait is over at once. later(time, wait) in
src/loop/clock.hpp saturates. Flagged: `+` after a word that names a time (now, began, since, heard, deadline), and `+`
before one that names a wait (timeouts, timeout, idle_time, lifetime).
A sum that cannot overflow says why in a comment: `// time-safe: both are lengths`.
Usage: check_times.py ROOT...
"""
import re
import sys

import arguments
from cpp_text import blank, sources

TIME = r"\b(?:\w*_)?(?:now|began|begun|since|heard|deadline)_?(?:\(\))?"
WAIT = r"(?:[\w.]|->|\(\))*\b(?:timeouts?|idle_time|lifetime)\b"
SUM = re.compile(rf"{TIME}\s*\+(?![+=])|(?<!\+)\+(?![+=])\s*{WAIT}")
MARK = "time-safe:"


def main(roots: list[str]) -> int:
    found = False
    for path in sources(roots):
        if path.stem.endswith(("_test", "_test_support", "_bench")):
            continue
        text = path.read_text()
        lines = text.split("\n")
        clean = blank(text)
        for match in SUM.finditer(clean):
            line = clean.count("\n", 0, match.start()) + 1
            if any(MARK in said for said in lines[max(line - 2, 0):line]):
                continue
            print(f"{path}:{line}: this sum overflows for Duration::max(): use later()")
            found = True
    return int(found)


if __name__ == "__main__":
    sys.exit(main(arguments.words(__doc__, "ROOT", "+")))
