"""Compares what a shared library exports with what its public headers declare."""
import pathlib
import re
import subprocess

TYPE = re.compile(r"^(?:class|struct) (?:\[\[nodiscard\]\] )?(?:SKUA_API )?(\w+)[^;{]*\{", re.M)
FUNCTION = re.compile(r"^(?:\[\[|[A-Za-z])[^(\n]*?\b(\w+)\(", re.M)
MARKED = re.compile(r"SKUA_API [^(;{]*?(\w+|operator\S+)(?: final)?(?=\(| \{| : )")
NAMESPACES = re.compile(r"skua::(?:(?:auth|blocking|detail|testing)::)?")


def symbols(file: pathlib.Path, kinds: str, *options: str) -> set[str]:
    listed = subprocess.run(["nm", "--demangle", *options, file], check=True, capture_output=True, text=True).stdout
    found = (line.split(maxsplit=2)[1:] for line in listed.splitlines() if len(line.split(maxsplit=2)) == 3)
    return {name for kind, name in found if kind in kinds and name.startswith("skua::")}


def owner(symbol: str) -> str:
    """Returns the type or function that a symbol of skua belongs to."""
    return re.match(r"operator[^(]+|\w+", NAMESPACES.sub("", symbol, count=1))[0]


def compare(include: pathlib.Path, shared: pathlib.Path, static: pathlib.Path) -> list[str]:
    """Returns what is wrong: symbols that are exported without need, or missing."""
    headers = "\n".join(header.read_text() for header in sorted(include.rglob("*.hpp")))
    marked = set(MARKED.findall(headers))
    declared = set(TYPE.findall(headers) + FUNCTION.findall(headers))
    exported = symbols(shared, "TDBRVWu", "--dynamic", "--defined-only")
    problems = [f"exported, but not marked with SKUA_API: {name}" for name in exported if owner(name) not in marked]
    # Inline functions are weak: each program has its own.
    problems += [f"declared in a public header, but not exported: {name}"
                 for name in symbols(static, "TDBR", "--defined-only") - exported if owner(name) in declared]
    return sorted(problems)
