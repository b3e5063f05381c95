"""Helpers for the checks: C++ text without comments and literals, where a type ends, and the list of source files."""
import pathlib
import re

SUFFIXES = {".h", ".hpp", ".cc", ".cpp"}

# Raw strings first: quotes and slashes mean nothing inside them. A ' between digits is not a literal.
_NOISE = re.compile(
    r'(?P<raw>\b(?:u8|[uUL])?R"(?P<mark>[^()\\\s]{0,16})\(.*?\)(?P=mark)")'
    r"|(?P<line>//(?:\\\n|[^\n])*)"
    r"|(?P<block>/\*.*?\*/)"
    r'|(?P<string>"(?:\\.|[^"\\\n])*")'
    r"|(?P<char>(?<![0-9a-fA-F])'(?:\\.|[^'\\\n])+')",
    re.S,
)


def blank(text: str) -> str:
    """Returns the text without comments and with empty literals; line numbers stay."""

    def replace(match: re.Match) -> str:
        newlines = "\n" * match[0].count("\n")
        return newlines if match["line"] or match["block"] else '""' + newlines

    return _NOISE.sub(replace, text)


def comments(text: str):
    """Yields the number and the text of each line that ends in a comment."""
    for match in _NOISE.finditer(text):
        if match["line"]:
            yield text.count("\n", 0, match.start()) + 1, match[0]


def blank_preprocessor(text: str) -> str:
    """Blanks preprocessor lines and their continuations; line numbers stay."""
    return re.sub(r"^[ \t]*#(?:\\\n|[^\n])*", lambda match: "\n" * match[0].count("\n"), text, flags=re.M)


def end_of_type(text: str, begin: int) -> int:
    """Returns the place after the `>` that closes the `<` before `begin`."""
    depth, at = 1, begin
    while depth:
        depth += {"<": 1, ">": -1}.get(text[at], 0)
        at += 1
    return at


def sources(roots: list[str]) -> list[pathlib.Path]:
    """Returns every C++ file under the folders (or the file itself), in a stable order."""
    found: set[pathlib.Path] = set()
    for root in map(pathlib.Path, roots):
        found.update([root] if root.is_file() else (p for p in root.rglob("*") if p.suffix in SUFFIXES))
    return sorted(found)
