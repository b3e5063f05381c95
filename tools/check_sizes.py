#!/usr/bin/env python3
"""Checks the size limits of STYLE.md.

A file over 600 lines fails, one over 400 is reported. A function over 70 lines, braces included, fails.
A folder of src/ or cli/ with more than 45 entries fails.
Usage: check_sizes.py ROOT...
"""
import re
import sys

import arguments
from cpp_text import blank, blank_preprocessor, sources

FILE_FAILS, FILE_SMELLS, FUNCTION_FAILS, FOLDER_FAILS = 600, 400, 70, 45

SCOPE = re.compile(r"\b(namespace|class|struct|union|enum|extern)\b")
INITIALISER = re.compile(r"=(?!\s*\[)[^=]*$|=\s*$")


def without_brackets(header: str) -> str:
    """Replaces (...) by @ and removes <...>, so that the rest shows what the brace opens."""
    header = re.sub(r"\boperator\s*(\(\)|\[\]|[-+*/%^&|~!=<>]+)", "operator_", header)
    while True:
        shorter = re.sub(r"(?<=\w)\s*<[^<>]*>", " ", re.sub(r"\([^()]*\)", " @ ", header))
        if shorter == header:
            return header
        header = shorter


def kind(header: str) -> str:
    """Classifies a brace outside functions: a `scope` to descend into, a `function` or an `initialiser`."""
    words = without_brackets(header)
    if SCOPE.search(words) and not re.search(r"@\s*(const|noexcept|override|final|->.*)?\s*$", words):
        return "scope"
    if INITIALISER.search(words):
        return "initialiser"
    return "function"


def functions(text: str):
    """Yields (first line, number of lines, header) of every function that is not nested in another."""
    text = blank_preprocessor(blank(text))
    depth_in, header_start, opened = 0, 0, 0
    scopes = []
    for at, char in enumerate(text):
        if depth_in:
            depth_in += {"{": 1, "}": -1}.get(char, 0)
            if depth_in == 0:
                if scopes[-1] == "function":
                    first = text.count("\n", 0, opened) + 1
                    yield first, text.count("\n", opened, at) + 1, text[header_start:opened]
                if scopes.pop() == "function":
                    header_start = at + 1
        elif char == "{":
            what = kind(text[header_start:at])
            scopes.append(what)
            opened = at
            if what == "scope":
                header_start = at + 1
            else:
                depth_in = 1
        elif char == "}":
            if scopes:
                scopes.pop()
            header_start = at + 1
        elif char == ";":
            header_start = at + 1


def name_of(header: str) -> str:
    found = re.search(r"([~\w:]+|operator\s*\S+)\s*\(", header)
    return (" ".join(re.search(r"\(([^)]*)\)", header)[1].split()) if found and found[1].startswith("TEST")
            else found[1]) if found else "a function"


def main(roots: list[str]) -> int:
    wrong, files = 0, sources(roots)
    for file in files:
        text = file.read_text(errors="replace")
        lines = text.count("\n")
        if lines > FILE_SMELLS:
            print(f"{file}: {lines} lines" + (f", more than {FILE_FAILS}" if lines > FILE_FAILS else " (long)"))
            wrong += lines > FILE_FAILS
        for first, length, header in functions(text):
            if length > FUNCTION_FAILS:
                print(f"{file}:{first}: {name_of(header)} has {length} lines, more than {FUNCTION_FAILS}")
                wrong += 1
    for folder in sorted({file.parent for file in files}):
        entries = len(list(folder.iterdir()))
        if entries > FOLDER_FAILS and folder.parts[0] in ("src", "cli"):
            print(f"{folder}: {entries} entries, more than {FOLDER_FAILS}")
            wrong += 1
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main(arguments.words(__doc__, "ROOT", "+")))
