#!/usr/bin/env python3
"""Checks the sizes that STYLE.md promises.

A file over 600 lines fails, one over 400 is reported. A function over 70 lines, braces included, fails.
Half of all lines are in files of at most 250 (asked once there are ten files).
Usage: check_sizes.py ROOT...
"""
import re
import sys

from cpp_text import blank, blank_preprocessor, sources

FILE_FAILS, FILE_SMELLS, FILE_SMALL, FUNCTION_FAILS = 600, 400, 250, 70

SCOPE = re.compile(r"\b(namespace|class|struct|union|enum|extern)\b")
INITIALISER = re.compile(r"=(?!\s*\[)[^=]*$|=\s*$")


def without_brackets(header: str) -> str:
    """Makes (...) an @ and takes <...> out, so that what is left says what the brace opens."""
    header = re.sub(r"\boperator\s*(\(\)|\[\]|[-+*/%^&|~!=<>]+)", "operator_", header)
    while True:
        shorter = re.sub(r"(?<=\w)\s*<[^<>]*>", " ", re.sub(r"\([^()]*\)", " @ ", header))
        if shorter == header:
            return header
        header = shorter


def kind(header: str) -> str:
    """What a brace opens outside of functions: a `scope` to look into, a `function` or an `initialiser`."""
    words = without_brackets(header)
    if SCOPE.search(words) and not re.search(r"@\s*(const|noexcept|override|final|->.*)?\s*$", words):
        return "scope"
    if INITIALISER.search(words):
        return "initialiser"
    return "function"


def functions(text: str):
    """Yields (first line, number of lines, header) of every function that is not inside another."""
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
    wrong, total, small, files = 0, 0, 0, sources(roots)
    for file in files:
        text = file.read_text(errors="replace")
        lines = text.count("\n")
        total += lines
        small += lines if lines <= FILE_SMALL else 0
        if lines > FILE_SMELLS:
            print(f"{file}: {lines} lines" + (f", more than {FILE_FAILS}" if lines > FILE_FAILS else " (a smell)"))
            wrong += lines > FILE_FAILS
        for first, length, header in functions(text):
            if length > FUNCTION_FAILS:
                print(f"{file}:{first}: {name_of(header)} has {length} lines, more than {FUNCTION_FAILS}")
                wrong += 1
    if len(files) >= 10 and small * 2 < total:
        print(f"only {small} of {total} lines are in files of at most {FILE_SMALL} lines")
        wrong += 1
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
