# SPDX-License-Identifier: MIT
"""Command lines of the scripts: `--help` prints what the script says of itself, and a word that begins with `-` is never a file."""

import argparse


def parser(description: str | None) -> argparse.ArgumentParser:
    """Returns a parser that prints the whole description, as it is written."""
    text = (description or "").replace("%", "%%")
    return argparse.ArgumentParser(description=text, formatter_class=argparse.RawDescriptionHelpFormatter)


def words(description: str | None, name: str = "WORD", count: int | str = "*") -> list[str]:
    """Returns the words of the command line: as many as `count` says, in argparse's terms."""
    made = parser(description)
    if count != 0:
        made.add_argument("words", nargs=count, metavar=name)
    return getattr(made.parse_args(), "words", None) or []
