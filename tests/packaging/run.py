#!/usr/bin/env python3
"""Tests what users of an installed skua do: each case builds a program outside of this folder and runs it.

Usage: run.py [--short | CASE...]     default: every case; --list lists them; --short leaves out those that compile much
The library is built once for each kind of installation, in build/packaged*.
"""
import pathlib
import shutil
import sys
import tempfile
import time

import consuming
import debian
import documented
from harness import Failure, Skipped

LONG = {"add-subdirectory", "fetch-content", "examples", "newcomer"}


def main(arguments: list[str]) -> int:
    cases = {function.__name__.replace("_", "-"): function for function in consuming.CASES + documented.CASES + debian.CASES}
    if arguments == ["--list"]:
        print("\n".join(cases))
        return 0
    if arguments == ["--short"]:
        arguments = [name for name in cases if name not in LONG]
    if unknown := [name for name in arguments if name not in cases]:
        print("no such case:", *unknown, file=sys.stderr)
        return 2
    failed = []
    for name in arguments or cases:
        # The space finds paths that are not quoted.
        folder = pathlib.Path(tempfile.mkdtemp(prefix="skua packaging "))
        start = time.monotonic()
        try:
            cases[name](folder)
            said = "ok"
        except Skipped as reason:
            said = f"skipped: {reason}"
        except Failure as failure:
            failed.append(name)
            said = f"FAILED: {failure}"
        finally:
            shutil.rmtree(folder)
        print(f"{time.monotonic() - start:6.1f} s  {name}: {said}", flush=True)
    if failed:
        print("failed:", *failed)
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
