# SPDX-License-Identifier: MIT
"""The tables of docs/ladder.md: written by bench/ladder/run, read by ladder_test.py."""

import re

COUNTS = ("system calls", "of 16 at once", "allocations")


def row(cells, widths):
    return "| " + " | ".join(cell.ljust(width) if i == 0 else cell.rjust(width)
                             for i, (cell, width) in enumerate(zip(cells, widths))) + " |"


def table(heads, rows):
    widths = [max(len(cells[i]) for cells in [heads, *rows]) for i in range(len(heads))]
    return "\n".join(row(cells, widths) for cells in [heads, ["-" * width for width in widths], *rows])


def block(name):
    """The text between two marks, which are comments of Markdown."""
    return re.compile(rf"(?<=<!-- {name} -->\n).*?(?=<!-- end of {name} -->)", re.S)


def replaced(page, name, text):
    if not block(name).search(page):
        raise ValueError(f"the page has no place for {name}")
    return block(name).sub(lambda _: f"\n{text}\n\n", page)


def counts(page):
    """Returns the counts that a page states, by rung."""
    lines = [[cell.strip() for cell in line.strip("| ").split("|")]
             for line in block("counts").search(page)[0].splitlines() if line.startswith("|")]
    return {name: cells for name, *cells in lines[2:]}
