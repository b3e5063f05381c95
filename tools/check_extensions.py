#!/usr/bin/env python3
"""Finds extensions of GCC and Clang outside of the header that wraps them, src/base/compiler.hpp.

Attributes in brackets are not extensions: a compiler ignores those that it does not know.
Usage: check_extensions.py ROOT...
"""
import re
import sys

import arguments
from cpp_text import blank, sources

EXTENSION = re.compile(r"\b__builtin_\w+|\b__attribute__|\b__u?int128(?:_t)?\b|\b(?:__)?asm(?:__)?\b|\b__typeof__\b|#\s*pragma (?:GCC|clang)")
# config.hpp is public, and can include nothing of src/.
ALLOWED = ("base/compiler.hpp", "skua/config.hpp")


def main(roots: list[str]) -> int:
    found = False
    for path in sources(roots):
        if path.as_posix().endswith(ALLOWED):
            continue
        clean = blank(path.read_text())
        for match in EXTENSION.finditer(clean):
            line = clean.count("\n", 0, match.start()) + 1
            print(f"{path}:{line}: {match[0]} is an extension: wrap it in base/compiler.hpp")
            found = True
    return int(found)


if __name__ == "__main__":
    sys.exit(main(arguments.words(__doc__, "ROOT", "+")))
