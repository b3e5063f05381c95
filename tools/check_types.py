#!/usr/bin/env python3
"""Checks that each qualified type name has only one definition in the whole project.

Two types with one name in two files break the one definition rule, and neither compiler nor linker says so: the linker
keeps one copy of an inline function for both. Types in unnamed namespaces are local to their file and not checked; a
`_posix` file and its `_windows` twin are never linked together.
Usage: check_types.py FOLDER...
"""
import collections
import re
import sys

import arguments
from cpp_text import blank, blank_preprocessor, sources

# clang-format starts types at namespace scope in the first column, and marks the ends of namespaces.
_END = re.compile(r"^\}  // namespace.*$", re.M)
_TOKEN = re.compile(
    r"^(?:inline )?namespace(?P<opened> [\w:]+)?(?: SKUA_\w+)? \{[ \t]*$"
    r"|^(?P<closed>\}namespace)$"
    r"|^(?:struct|class|union|enum class|enum|enum struct) (?:\[\[[^\]]*\]\] |SKUA_\w+ )*(?P<type>[A-Za-z][\w:]*)(?P<rest>[^;(){]*)\{",
    re.M,
)

TWIN = re.compile(r"_(posix|windows)(?=[_.])")


def types(text: str) -> list[str]:
    """Returns the qualified names of the types that this text defines at namespace scope."""
    spaces: list[str | None] = []
    found = []
    for match in _TOKEN.finditer(blank_preprocessor(blank(_END.sub("}namespace", text)))):
        if match["closed"]:
            spaces.pop()
        elif match["type"]:
            is_specialisation = match["rest"].lstrip().startswith("<")
            if None not in spaces and not is_specialisation:
                found.append("::".join([*filter(None, spaces), match["type"]]))
        else:
            spaces.append(match["opened"].strip() if match["opened"] else None)
    return found


def main(roots: list[str]) -> int:
    places = collections.defaultdict(list)
    for source in sources(roots):
        for name in set(types(source.read_text())):
            places[name].append(str(source))
    bad = {name: files for name, files in places.items() if len({TWIN.sub("", file) for file in files}) > 1}
    for name, files in sorted(bad.items()):
        print(f"{name} is defined in {' and in '.join(files)}: rename one, or move it to an unnamed namespace")
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main(arguments.words(__doc__, "FOLDER", "+")))
