#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Fails if a comment names a file or a member of a class that does not exist.

Files (`fetch.cpp`, `docs/design.md`) may be named by the end of their path, and are those that git knows. Of `Class::member`, both words have
to occur in the code. Examples, between lines of ```, and addresses are not looked at. Usage: check_comments.py ROOT...
"""

import re
import subprocess
import sys

import arguments
import cpp_text

FILE = re.compile(r"(?<![\w./-])[\w./-]*\w\.(?:cpp|hpp|py|sh|cmake|md)\b")
MEMBER = re.compile(r"\b([A-Z]\w*)::([A-Za-z_]\w*)")
URL = re.compile(r"\w+://\S+")


def prose(text: str):
    """Yields the number and the text of each comment that is not part of an example."""
    is_example, last = False, 0
    for number, comment in cpp_text.comments(text):
        is_example = is_example and number == last + 1
        last = number
        if "```" in comment:
            is_example = not is_example
        elif not is_example:
            yield number, URL.sub("", comment)


def main(roots: list[str]) -> int:
    listed = subprocess.run(["git", "ls-files", "-z"], check=True, capture_output=True, text=True).stdout
    files = "\0/" + listed.replace("\0", "\0/")
    texts = {path: path.read_text(encoding="utf-8") for path in cpp_text.sources(roots)}
    words = {word for text in texts.values() for word in re.findall(r"\w+", cpp_text.blank(text))}
    wrong = 0
    for path, text in texts.items():
        for number, comment in prose(text):
            gone = [name for name in FILE.findall(comment) if f"/{name.removeprefix('./')}\0" not in files]
            gone += [match[0] for match in MEMBER.finditer(comment) if not words.issuperset(match.groups())]
            for name in gone:
                print(f"{path}:{number}: there is no {name}")
            wrong += len(gone)
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main(arguments.words(__doc__, "ROOT", "+")))
