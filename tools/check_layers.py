#!/usr/bin/env python3
"""Checks that includes only go down the layers listed in a LAYERS file.

LAYERS has one layer per line, lowest first: folders, and public headers by path (skua/error.hpp).
Names on one line may not include each other. A line `deny: A B -> C D` forbids includes that the
order would allow: A and B may not include C or D. Every folder and every public header must be
listed, and every listed name must exist. A public header (one under skua/) may include public and standard headers only.
Usage: check_layers.py LAYERS ROOT...
"""
import pathlib
import re
import sys

import arguments

INCLUDE = re.compile(r'^\s*#\s*include\s*(?:"([^"]+)"|<([^>]+)>)', re.M)


def read(layers: pathlib.Path) -> tuple[dict[str, int], set[tuple[str, str]]]:
    rank: dict[str, int] = {}
    denied: set[tuple[str, str]] = set()
    for height, line in enumerate(layers.read_text().splitlines()):
        words = line.split("#")[0]
        if words.startswith("deny:"):
            above, below = (side.split() for side in words.removeprefix("deny:").split("->"))
            denied.update((a, b) for a in above for b in below)
        else:
            rank.update((name, height) for name in words.split())
    unknown = {name for pair in denied for name in pair} - rank.keys()
    if unknown:
        sys.exit(f"{layers}: deny names unknown layers: {' '.join(sorted(unknown))}")
    return rank, denied


def main(layers: pathlib.Path, roots: list[pathlib.Path]) -> int:
    rank, denied = read(layers)

    def layer(path: str) -> str:
        return path if path in rank else path.split("/")[0]

    def reason(here: str, target: str, public: bool) -> str:
        there = layer(target)
        if public and ("." in target and not target.startswith("skua")):
            return " (a public header may include public and standard headers only)"
        if here == there or here not in rank or there not in rank:
            return ""
        if (here, there) in denied:
            return " (denied)"
        return " (not a lower layer)" if rank[there] >= rank[here] else ""

    wrong = 0
    for name in rank:
        if not any((root / name).exists() for root in roots):
            print(f"{layers}: {name} does not exist")
            wrong += 1
    for root in roots:
        for file in sorted(p for p in root.rglob("*") if p.suffix in {".h", ".hpp", ".cc", ".cpp"}):
            name = file.relative_to(root).as_posix()
            here = layer(name)
            if here not in rank:
                print(f"{file}: {here if '/' not in name or here != 'skua' else name} is missing from {layers}")
                wrong += 1
            public = name.startswith("skua/") or name == "skua.hpp"
            for ours, systems in INCLUDE.findall(file.read_text(errors="replace")):
                target = ours or systems
                # <net/if.h> is not in our folder net/, but no public header may include it either.
                if systems and not public and not systems.startswith("skua/"):
                    continue
                if why := reason(here, target, public):
                    print(f"{file}: {here} may not include {target}{why}")
                    wrong += 1
    return 1 if wrong else 0


if __name__ == "__main__":
    given = [pathlib.Path(word) for word in arguments.words(__doc__, "FILE", "+")]
    sys.exit(main(given[0], given[1:]))
