"""Compares what a shared library exports with what its public headers declare."""
import pathlib
import re
import subprocess

TYPE = re.compile(r"^(?:class|struct) (?:\[\[nodiscard\]\] )?(?:SKUA_API )?(\w+)[^;{]*\{", re.M)
FUNCTION = re.compile(r"^(?:\[\[|[A-Za-z])[^(\n]*?\b(\w+)\(", re.M)
MARKED = re.compile(r"SKUA_API [^(;{]*?(\w+|operator\S+)(?: final)?(?=\(| \{| : )")
NAMESPACE = re.compile(r"^(?:(?:inline )?namespace (?P<opened>[\w:]+) \{|\}  // namespace [\w:]+)$", re.M)

FORWARD = re.compile(r"^namespace [\w:]+ \{\n[^\n]*\n\}$", re.M)  # one declaration: its end has no comment


def symbols(file: pathlib.Path, kinds: str, *options: str) -> set[str]:
    listed = subprocess.run(["nm", "--demangle", *options, file], check=True, capture_output=True, text=True).stdout
    found = (line.split(maxsplit=2)[1:] for line in listed.splitlines() if len(line.split(maxsplit=2)) == 3)
    return {name for kind, name in found if kind in kinds and name.startswith("skua::")}


def by_namespace(header: str) -> list[tuple[str, str]]:
    """Returns the pieces of a header, each with the namespace that it stands in, such as "skua::redis::"."""
    header = FORWARD.sub("", header)
    pieces, opened, begin = [], [], 0
    for line in NAMESPACE.finditer(header):
        pieces.append(("".join(opened), header[begin : line.start()]))
        begin = line.end()
        if line["opened"]:
            opened.append(line["opened"] + "::")
        else:
            opened.pop()
    return pieces


def owner(symbol: str, namespaces: set[str]) -> str:
    """Returns the type or function that a symbol of skua belongs to, with its namespace."""
    namespace = max((name for name in namespaces if symbol.startswith(name)), key=len)
    return namespace + re.match(r"operator[^(]+|\w+", symbol[len(namespace) :])[0]


def compare(include: pathlib.Path, shared: pathlib.Path, static: pathlib.Path) -> list[str]:
    """Returns what is wrong: symbols that are exported without need, or missing."""
    pieces = [piece for header in sorted(include.rglob("*.hpp")) for piece in by_namespace(header.read_text())]
    namespaces = {namespace for namespace, _ in pieces if namespace}
    marked = {namespace + name for namespace, text in pieces for name in MARKED.findall(text)}
    declared = {namespace + name for namespace, text in pieces for name in TYPE.findall(text) + FUNCTION.findall(text)}
    exported = symbols(shared, "TDBRVWu", "--dynamic", "--defined-only")
    problems = [f"exported, but not marked with SKUA_API: {name}" for name in exported
                if owner(name, namespaces) not in marked]
    # Inline functions are weak: each program has its own.
    problems += [f"declared in a public header, but not exported: {name}"
                 for name in symbols(static, "TDBR", "--defined-only") - exported
                 if owner(name, namespaces) in declared]
    return sorted(problems)
