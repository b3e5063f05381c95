#!/usr/bin/env python3
"""Writes the bytes of every case in tests/cases as a seed for the fuzz targets that read them.

Usage: seed_corpus.py FOLDER (seeds go to FOLDER/TARGET/NAME)
"""
import pathlib
import re
import sys

import arguments

ROOT = pathlib.Path(__file__).resolve().parent.parent
ESCAPES = {"r": "\r", "n": "\n", "t": "\t", "\\": "\\", '"': '"', "{": "{"}
# The bytes that each target expects before the input.
PREFIXES = {"head_parser": b"\x07\x01\x00", "response_head": b"\x07\x01\x00", "response_reader": b"\x07\x01\x00",
            "body_decoder": b"\x07\x01", "server": b"\x04\x03\x00"}


def unescape(text: str) -> bytes:
    out = bytearray()
    at = 0
    group = None  # where {text} began
    while at < len(text):
        c = text[at]
        if c == "\\" and text[at + 1] == "x":
            out.append(int(text[at + 2 : at + 4], 16))
            at += 4
        elif c == "\\":
            out += ESCAPES[text[at + 1]].encode()
            at += 2
        elif c == "{":
            group = len(out)
            at += 1
        elif c == "}" and group is not None:
            repeat = re.match(r"}\*(\d+)", text[at:])
            count = int(repeat.group(1)) if repeat else 1
            out[group:] = bytes(out[group:]) * count
            at += len(repeat.group(0)) if repeat else 1
            group = None
        else:
            out += c.encode()
            at += 1
    return bytes(out)


def main() -> None:
    folder = pathlib.Path(arguments.words(__doc__, "FOLDER", 1)[0])
    for file in sorted([*(ROOT / "tests/cases").glob("*.md"), *(ROOT / "tests/cases/client").glob("*.md")]):
        for number, block in enumerate(re.findall(r"```\n(.*?)```", file.read_text(), re.S)):
            data = unescape(block.replace("\n", ""))
            if file.name == "README.md" or len(data) > 8192:
                continue
            for target, prefix in PREFIXES.items():
                place = folder / target / f"{file.stem}-{number}"
                place.parent.mkdir(parents=True, exist_ok=True)
                place.write_bytes(prefix + data)
            lines = data.split(b" ")
            if len(lines) > 1 and lines[1]:
                place = folder / "target_path" / f"{file.stem}-{number}"
                place.parent.mkdir(parents=True, exist_ok=True)
                place.write_bytes(lines[1])
    for file in sorted((ROOT / "tests/cases/websocket").glob("*.md")):
        for number, case in enumerate(file.read_text().split("\n## ")[1:]):
            data = unescape(re.search(r"```\n(.*?)```", case, re.S).group(1).replace("\n", ""))
            flags = ("from a client" in case) | ("with permessage-deflate" in case) << 1
            if len(data) <= 8192:
                place = folder / "websocket" / f"{file.stem}-{number}"
                place.parent.mkdir(parents=True, exist_ok=True)
                place.write_bytes(bytes([flags, 3, 0]) + data)


main()
