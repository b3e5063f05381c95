#!/usr/bin/env python3
"""Prints a line `FILE<tab>COMMAND` for each source in the compilation database of a build folder: the shell
command that preprocesses it. Usage: compile_commands.py BUILD_FOLDER"""
import json
import pathlib
import shlex
import sys

import arguments


def preprocess(command: str) -> str:
    words = shlex.split(command)
    while not words[0].split("/")[-1].startswith(("clang", "g++", "c++")):  # ccache and its environment
        words = words[1:]
    kept, skip = [], False
    for word in words:
        if skip:
            skip = False
        elif word in ("-o", "-MF", "-MT", "-MQ"):
            skip = True
        elif word not in ("-c", "-MD", "-MMD"):
            kept.append(word)
    return shlex.join([*kept, "-E", "-CC"])


def main() -> None:
    database = json.loads((pathlib.Path(arguments.words(__doc__, "FOLDER", 1)[0]) / "compile_commands.json").read_text())
    for entry in database:
        print(entry["file"], preprocess(entry["command"]), sep="\t")


if __name__ == "__main__":
    main()
