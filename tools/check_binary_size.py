#!/usr/bin/env python3
"""Prints the size of a program without symbols, and fails if it exceeds a limit.
Usage: check_binary_size.py PROGRAM MOST_BYTES"""
import pathlib
import subprocess
import sys
import tempfile

import arguments


def main() -> int:
    path, most_text = arguments.words(__doc__, "WORD", 2)
    program, most = pathlib.Path(path), int(most_text)
    with tempfile.TemporaryDirectory() as folder:
        stripped = pathlib.Path(folder) / program.name
        subprocess.run(["strip", "-o", stripped, program], check=True)
        size = stripped.stat().st_size
    print(f"{program.name}: {size:,} bytes, stripped (limit {most:,})")
    return int(size > most)


if __name__ == "__main__":
    sys.exit(main())
