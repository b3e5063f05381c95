#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Fails if numbers are written or read by the rules of the program's locale, in which 1.5 may be "1,5".

printf() of floating point, strtod() and their kind obey setlocale(LC_ALL, ""), which any program may call: base/text/number_text.hpp,
std::to_chars() and std::from_chars() do not. A format that is not a literal cannot be checked, and is refused, too.
A line with `// locale: why` is right. Usage: check_locale.py FOLDER...
"""

import pathlib
import re
import sys

import arguments

CALL = re.compile(r"\b(?:std::)?(v?(?:f|s|sn|as|d)?printf)\s*\(")
FLOAT = re.compile(r"%[-+ #0']*(?:\*|\d+)?(?:\.(?:\*|\d+)?)?[lL]?[aAeEfFgG]")
OTHERS = re.compile(r"\bstd::sto(?:d|f|ld)\b|\b(?:std::)?strto(?:d|f|ld)\s*\(|\b(?:std::)?atof\s*\(|\bstd::s?scanf\s*\(|\bsetlocale\s*\(")
LITERAL = re.compile(r'"((?:[^"\\]|\\.)*)"')
FORMAT_AT = {"printf": 0, "vprintf": 0, "snprintf": 2, "vsnprintf": 2}  # 1 for the others
EXCUSE = "// locale: "


def arguments_of(text, begin):
    """Returns the arguments of the call whose parenthesis is before `begin`."""
    parts, depth, start, at = [], 0, begin, begin
    while at < len(text):
        if text[at] == '"':
            at = LITERAL.match(text, at).end()
            continue
        if text[at] == "'":
            at += 3 if text[at + 1] != "\\" else 4
            continue
        if text[at] in "([{":
            depth += 1
        elif text[at] in ")]}":
            depth -= 1
            if depth < 0:
                return [*parts, text[start:at]]
        elif text[at] == "," and depth == 0:
            parts.append(text[start:at])
            start = at + 1
        at += 1
    return parts


def complaints(path):
    text = path.read_text(encoding="utf-8")
    code = re.sub(r"^[ \t]*//.*$", "", text, flags=re.MULTILINE)
    lines = code.splitlines()

    def at(offset):
        number = code.count("\n", 0, offset)
        return None if EXCUSE in lines[number] else f"{path}:{number + 1}"

    for call in CALL.finditer(code):
        given = arguments_of(code, call.end())
        index = FORMAT_AT.get(call[1], 1)
        form = given[index].strip() if len(given) > index else ""
        place = at(call.start())
        if place and not form.startswith('"'):
            yield f"{place}: the format of {call[1]}() is not a literal"
        elif place and FLOAT.search("".join(LITERAL.findall(form)).replace("%%", "")):
            yield f"{place}: {call[1]}() of floating point obeys the locale: see base/text/number_text.hpp"
    for other in OTHERS.finditer(code):
        place = at(other.start())
        if place:
            yield f"{place}: {other[0].rstrip('(')} obeys the locale: use std::from_chars() or std::to_chars()"


def main():
    found = []
    for folder in arguments.words(__doc__, "FOLDER", "+"):
        for path in sorted(pathlib.Path(folder).rglob("*.[ch]pp")):
            if not path.stem.endswith(("_test", "_bench")):
                found += complaints(path)
    print(*found, sep="\n", end="\n" if found else "")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
