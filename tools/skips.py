#!/usr/bin/env python3
"""Lists what tests skipped, with reasons. In CI a skip that tests/skips.txt does not argue for is a failure.

Usage: skips.py [--list FILE] PRESET JUNIT_FILE...      a JUNIT_FILE is what `ctest --output-junit` has written

A skip is a line of a test's output with the word "skipped", or what GoogleTest prints for GTEST_SKIP: a source file and
a reason. A line of tests/skips.txt is `PRESETS | PLACE | REASON | WHY`: names of presets or *, regular expressions that match the
whole place (a test of ctest, or a source file) and the whole reason, and why nothing is lost.
"""
import argparse
import collections
import os
import pathlib
import re
import sys
import xml.etree.ElementTree as ElementTree
from typing import Iterator, NamedTuple

ROOT = pathlib.Path(__file__).resolve().parent.parent
IN_SOURCE = re.compile(r"(?:.*/)?((?:src|tests)/[\w/.]+):\d+: Skipped|(?:.*[/\\])?((?:src|tests)[/\\][\w/\\.]+)\(\d+\): Skipped")
IN_WORDS = re.compile(r"\bskipped\b")
A_COUNT = re.compile(r"\b\d+ (tests? )?skipped\b|\bSKIPPED\b")


class Rule(NamedTuple):
    presets: set[str]
    place: re.Pattern[str]
    reason: re.Pattern[str]
    why: str


def rules(file: pathlib.Path) -> list[Rule]:
    found = []
    for number, line in enumerate(file.read_text().splitlines(), 1):
        if not line.strip() or line.startswith("#"):
            continue
        parts = [part.strip() for part in line.split(" | ")]
        if len(parts) != 4 or not all(parts):
            sys.exit(f"{file}:{number}: not `PRESETS | PLACE | REASON | WHY`")
        found.append(Rule(set(parts[0].split()), re.compile(parts[1]), re.compile(parts[2]), parts[3]))
    return found


def skips_of(test: str, output: str) -> Iterator[tuple[str, str]]:
    """Yields the place and the reason of each skip in the output of a test."""
    lines = output.splitlines()
    for at, line in enumerate(lines):
        if source := IN_SOURCE.match(line):
            reason = lines[at + 1].strip() if at + 1 < len(lines) else ""
            yield (source[1] or source[2]).replace("\\", "/"), reason or "(no reason)"
        elif IN_WORDS.search(line) and not A_COUNT.search(line):
            yield test, line.strip()


def all_skips(junit: pathlib.Path) -> collections.Counter[tuple[str, str]]:
    found: collections.Counter[tuple[str, str]] = collections.Counter()
    for test in ElementTree.parse(junit).iter("testcase"):
        name, told = test.get("name") or "", False
        for skip in skips_of(name, test.findtext("system-out") or ""):
            found[skip] += 1
            told = True
        if not told and test.get("status") not in ("run", "fail"):
            found[name, f"(not run: {test.get('status')})"] += 1
    return found


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("preset")
    parser.add_argument("junit", type=pathlib.Path, nargs="+")
    parser.add_argument("--list", type=pathlib.Path, default=ROOT / "tests/skips.txt")
    given = parser.parse_args()
    argued = rules(given.list)
    unknown = []
    for (place, reason), count in sorted(sum(map(all_skips, given.junit), collections.Counter()).items()):
        rule = next((rule for rule in argued if rule.presets & {"*", given.preset} and rule.place.fullmatch(place)
                     and rule.reason.fullmatch(reason)), None)
        line = f"{place}{f' ({count} times)' if count > 1 else ''}: {reason}"
        if rule:
            print(f"skipped: {line}: {rule.why}")
        else:
            unknown.append(line)
    if not unknown:
        return 0
    print(f"skips that {given.list.name} does not argue for" + ("" if os.environ.get("CI") else " (an error in CI)"),
          *unknown, sep="\n  ")
    return 1 if os.environ.get("CI") else 0


if __name__ == "__main__":
    sys.exit(main())
