#!/usr/bin/env python3
"""Checks commit subjects: `type(scope): subject`, lower case, imperative, at most 72 columns.

The scope is a folder of src/ (or a planned layer) or one of the short list below.
Usage: check_commits.py [BASE]           the commits since BASE; default: those that origin/main lacks,
                                         or only the last one
       check_commits.py --message FILE   one message, for use as a commit-msg hook
"""
import pathlib
import re
import subprocess
import sys

import arguments

ROOT = pathlib.Path(__file__).resolve().parent.parent
TYPES = {"feat", "fix", "perf", "refactor", "test", "docs", "build"}
ELSEWHERE = {"api", "bench", "ci", "cli", "cmake", "docs", "examples", "fuzz", "packaging", "tests", "tools"}
SUBJECT = re.compile(r"(?P<type>[a-z]+)(\((?P<scope>[^()]*)\))?: (?P<subject>.+)")


def scopes() -> set[str]:
    layers = re.sub(r"#.*|^deny:.*", "", (ROOT / "src/LAYERS").read_text(), flags=re.M).split()
    folders = {path.name for path in (ROOT / "src").iterdir() if path.is_dir()}
    return folders | {name for name in layers if "." not in name} | ELSEWHERE


def complaints(subject: str) -> list[str]:
    match = SUBJECT.fullmatch(subject)
    if not match:
        return ["is not `type(scope): subject`"]
    wrong = []
    if match["type"] not in TYPES:
        wrong.append(f"{match['type']} is not one of {' '.join(sorted(TYPES))}")
    if match["scope"] is None and match["type"] not in {"build", "docs"}:
        wrong.append("has no scope")
    if match["scope"] is not None and match["scope"] not in scopes():
        wrong.append(f"{match['scope']} is neither a folder of src/ nor one of {' '.join(sorted(ELSEWHERE))}")
    if match["subject"][0].isupper() and not match["subject"].split()[0].isupper():
        wrong.append("begins with a capital")
    if match["subject"].endswith("."):
        wrong.append("ends with a full stop")
    if len(subject) > 72:
        wrong.append(f"has {len(subject)} columns, more than 72")
    return wrong


def git(*arguments: str) -> str:
    done = subprocess.run(["git", "-C", str(ROOT), *arguments], capture_output=True, text=True)
    return done.stdout.strip() if done.returncode == 0 else ""


def subjects(base: str | None) -> list[str]:
    if not git("rev-parse", "HEAD"):
        print("no git history: commit subjects were not checked")
        return []
    if base is None and git("rev-parse", "--verify", "-q", "origin/main"):
        base = "origin/main"
    listed = git("log", "--no-merges", "--format=%s", f"{base}..HEAD") if base else ""
    return (listed or git("log", "--no-merges", "-1", "--format=%s")).splitlines()


def main() -> int:
    parser = arguments.parser(__doc__)
    parser.add_argument("--message", type=pathlib.Path, metavar="FILE")
    parser.add_argument("base", nargs="?", metavar="BASE")
    given = parser.parse_args()
    listed = given.message.read_text().splitlines()[:1] if given.message else subjects(given.base)
    wrong = 0
    for subject in listed:
        for complaint in complaints(subject):
            print(f"commit {subject!r}: {complaint}")
            wrong += 1
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
