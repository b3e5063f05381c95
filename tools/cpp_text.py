"""What the checks share: C++ text without comments and literals, and the list of source files."""
import pathlib
import re

SUFFIXES = {".h", ".hpp", ".cc", ".cpp"}

# Raw strings first: inside them neither quotes nor slashes mean anything. A ' between digits is no literal.
_NOISE = re.compile(
    r'(?P<raw>\b(?:u8|[uUL])?R"(?P<mark>[^()\\\s]{0,16})\(.*?\)(?P=mark)")'
    r"|(?P<line>//(?:\\\n|[^\n])*)"
    r"|(?P<block>/\*.*?\*/)"
    r'|(?P<string>"(?:\\.|[^"\\\n])*")'
    r"|(?P<char>(?<![0-9a-fA-F])'(?:\\.|[^'\\\n])+')",
    re.S,
)


def blank(text: str) -> str:
    """The same text, every line where it was, with comments gone and literals emptied."""

    def replace(match: re.Match) -> str:
        newlines = "\n" * match[0].count("\n")
        return newlines if match["line"] or match["block"] else '""' + newlines

    return _NOISE.sub(replace, text)


def blank_preprocessor(text: str) -> str:
    """Takes out # lines, and with them the second half of what only one branch of an #if would close."""
    return re.sub(r"^[ \t]*#(?:\\\n|[^\n])*", lambda match: "\n" * match[0].count("\n"), text, flags=re.M)


def sources(roots: list[str]) -> list[pathlib.Path]:
    """Every C++ file under the folders (or the file itself), in a stable order."""
    found: set[pathlib.Path] = set()
    for root in map(pathlib.Path, roots):
        found.update([root] if root.is_file() else (p for p in root.rglob("*") if p.suffix in SUFFIXES))
    return sorted(found)
