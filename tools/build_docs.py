#!/usr/bin/env python3
"""Builds the API reference and the guides with Doxygen: build/docs/html/index.html. A warning is an error.

Doxygen reads a copy of the public headers and the pages in build/docs/input, which differs from the originals in that
- private members, the overloads of setters for temporaries, and those that only explain a typical mistake are left out,
- `Waits for:` and its siblings (see STYLE.md) are commands, and so are links between pages,
- the files and folders that pages link to are pages, too.
Usage: build_docs.py      in the root of the tree
"""
import collections
import json
import os
import pathlib
import re
import shutil
import subprocess
import sys
import xml.etree.ElementTree as xml

import arguments

BUILD = pathlib.Path("build/docs")
PART = re.compile(r"^(\s*///) (Waits for|Ends with|Lifetime|RFC): +", re.M)
MISTAKE = re.compile(r"\s*(?:return )?(?:static_assert\(\s*)?(?:detail::)?(?:never|need_\w+|too_many)<")
FENCE = re.compile(r"^```.*?^```$", re.M | re.S)
HEADING = re.compile(r"^(#+) (.+)$", re.M)
LINK = re.compile(r"(?<!!)\[(?P<text>[^\]]*)\]\((?P<target>[^)\s#]*)(?:#(?P<anchor>[^)]*))?\)")
IMAGE = re.compile(r"!\[(?P<text>[^\]]*)\]\((?P<target>[^):]+)\)")
CODE = re.compile(r"(?<![`\\])`((?:[^`\n]|\n(?!\n))+)`(?!`)")
SPECIAL = re.compile(r'\\(?!\|)|[@&$#<>%"]|(?<!\w)::|--+')
SPECIALIZATION = re.compile(r"^template <>\nstruct std::.*?^};$", re.M | re.S)
PRIVATE = re.compile(r"^( *) private:\n.*?(?=^\1(?:\}| public:| protected:))", re.M | re.S)
ARGUMENTS = r'\((?:[^;"]|"[^"]*")*?\)'
BODY = r"\{(?:.*\}|\n[\s\S]*?^\1\})"
CHAINED = re.compile(rf"^( *)(?:template <.*>\n(?: *requires .*\n)?\1)?\w+&& \w+{ARGUMENTS} && {BODY}\n", re.M)
LANGUAGES = {".cpp": "cpp", ".hpp": "cpp", ".sh": "sh"}


def without_mistakes(text: str) -> str:
    """Blanks the templates whose body begins with the sentence for a typical mistake, and their comments."""
    lines = text.split("\n")
    for number, line in enumerate(lines):
        if not line.endswith("{") or not MISTAKE.match(" ".join(lines[number + 1:number + 3])):
            continue
        first = number
        while not lines[first].lstrip().startswith("template <"):
            first -= 1
        while lines[first - 1].lstrip().startswith("//"):
            first -= 1
        indent = line[:len(lines[first]) - len(lines[first].lstrip())]
        last = next(n for n in range(number, len(lines)) if lines[n] == indent + "}")
        lines[first:last + 1] = [""] * (last + 1 - first)
    return "\n".join(lines)


def code_spans(text: str) -> str:
    """Replaces `code` with an element in which Doxygen sees no command and no markup, but names to link."""
    def element(code: re.Match) -> str:
        shown = SPECIAL.sub(r"\\\g<0>", code[1])
        if shown.count("*") > 1:  # a pair is emphasis
            shown = shown.replace("*", r"\*")
        return f"<code>{shown}</code>"

    return CODE.sub(element, text)


def header(text: str) -> str:
    for unwanted in (SPECIALIZATION, PRIVATE, CHAINED):
        text = unwanted.sub(lambda it: "\n" * it[0].count("\n"), text)
    text = re.sub(r"^\s*///.*$", lambda line: code_spans(line[0]), text, flags=re.M)
    return PART.sub(lambda part: f"{part[1]} @{part[2].split()[0].lower()} ", without_mistakes(text))


def pages() -> list[str]:
    return [str(page) for page in [*sorted(pathlib.Path().glob("*.md")), *sorted(pathlib.Path("docs").rglob("*.md"))]]


def page_id(path: str) -> str:
    if path == "README.md":
        return "mainpage"
    name = re.sub(r"(?:/README)?\.md$", "", path.removeprefix("docs/")).lower()
    return re.sub(r"\W+", "_", name)


def page_url(path: str) -> str:
    return "index.html" if path == "README.md" else page_id(path) + ".html"


def slug(heading: str) -> str:
    """The anchor that code forges give a heading."""
    return re.sub(r"[^\w -]", "", heading.lower()).replace(" ", "-")


class Anchors:
    """Gives each heading of a page its anchor; that of the second one with the same words ends in -1, and so on."""

    def __init__(self, path: str):
        self.page = page_id(path)
        self.uses = collections.Counter()

    def add(self, heading: re.Match) -> str:
        anchor = self.page + ("" if heading[1] == "#" else "_" + slug(heading[2]))
        again = self.uses[anchor]
        self.uses[anchor] += 1
        return f"{heading[0]} {{#{anchor}{f'-{again}' if again else ''}}}"


def from_root(page: str, path: str) -> str:
    """Returns a path in a page, relative to the root of the tree."""
    return os.path.normpath(os.path.join(os.path.dirname(page), path))


class Site:
    def __init__(self):
        self.files: dict[str, str] = {}  # the pages to write, by their path
        self.waiting = pages()

    def target(self, page: str, link: re.Match) -> str:
        path = link["target"]
        if ":" in path:
            return link[0]
        path = from_root(page, path) if path else page
        if not os.path.exists(path):
            return link[0]  # which check_snippets.py reports
        if path not in self.files and path not in self.waiting:
            self.waiting.append(path)
        anchor = f"#{page_id(path)}_{link['anchor']}" if link["anchor"] else ""
        return f'<a href="{page_url(path)}{anchor}">{link["text"]}</a>'

    def markdown(self, path: str, text: str) -> str:
        anchors = Anchors(path)

        def prose(piece: str) -> str:
            piece = IMAGE.sub(lambda image: f"![{image['text']}]({from_root(path, image['target'])})", piece)
            piece = LINK.sub(lambda link: self.target(path, link), piece)
            return code_spans(HEADING.sub(anchors.add, piece))

        result, end = "", 0
        for fence in FENCE.finditer(text):
            result += prose(text[end:fence.start()]) + fence[0].replace("```cpp fragment", "```cpp", 1)
            end = fence.end()
        return result + prose(text[end:])

    def source(self, path: str) -> str:
        """A page for a file or folder that is not a page itself."""
        file = pathlib.Path(path)
        if file.is_dir():
            entries = sorted(entry.name for entry in file.iterdir() if entry.is_file())
            return self.markdown(f"{path}/README.md", f"# {path}\n\n" + "".join(f"- [{name}]({name})\n" for name in entries))
        return f"# {path} {{#{page_id(path)}}}\n\n```{LANGUAGES.get(file.suffix, 'text')}\n{file.read_text()}```\n"

    def write(self, folder: pathlib.Path) -> None:
        for path in self.waiting:  # grows
            self.files[path] = ""
            self.files[path] = self.markdown(path, pathlib.Path(path).read_text()) if path.endswith(".md") else self.source(path)
        for path, text in self.files.items():
            file = folder / (path if path.endswith(".md") else path + ".md")
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_text(text)
        for path in pathlib.Path("include").rglob("*.hpp"):
            file = folder / path
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_text(header(path.read_text()))


def index(tags: pathlib.Path) -> list[tuple[str, str, str]]:
    """What can be found: (name, kind, URL) of every class, member, page and heading."""
    found = []
    for compound in xml.parse(tags).getroot():
        kind, name, file = compound.get("kind"), compound.findtext("name"), compound.findtext("filename")
        if kind == "page":
            file += "" if file.endswith(".html") else ".html"
            found.append((compound.findtext("title"), "page", file))
            found += [(anchor.get("title"), compound.findtext("title"), f"{anchor.get('file')}#{anchor.text}")
                      for anchor in compound.findall("docanchor") if anchor.get("title")]
        elif kind in ("class", "struct", "concept"):
            found.append((name, kind, file))
        if kind in ("class", "struct", "namespace"):
            found += [(f"{name}::{member.findtext('name')}", member.get("kind"),
                       f"{member.findtext('anchorfile')}#{member.findtext('anchor')}") for member in compound.findall("member")]
    return [(name.removeprefix("skua::"), kind, url) for name, kind, url in found]


def walk(folder: pathlib.Path) -> list[str]:
    """Follows all links from the index, deletes the files that none leads to, and returns the broken links."""
    anchors, links, waiting = {}, [], ["index.html", *{url.partition("#")[0] for _, _, url in index(BUILD / "skua.tag")}]
    for name in waiting:  # grows
        if name in anchors or not (folder / name).exists():
            continue
        text = (folder / name).read_text() if name.endswith(".html") else ""
        anchors[name] = set(re.findall(r'\bid="([^"]*)"', text))
        for target, anchor in re.findall(r'(?:href|src|data)="(?!\w+:)([^"#]*)#?([^"]*)"', text):
            links.append((name, target or name, anchor))
            waiting.append(target or name)
    for file in set(folder.iterdir()) - {folder / name for name in anchors}:
        file.unlink()
    return [f"{name}: broken link to {target}#{anchor}" for name, target, anchor in links
            if target not in anchors or (anchor and anchor not in anchors[target])]


def main() -> int:
    if not shutil.which("doxygen"):
        sys.exit("build_docs.py: doxygen is not installed: run tools/deps.sh docs")
    shutil.rmtree(BUILD, ignore_errors=True)
    Site().write(BUILD / "input")
    done = subprocess.run(["doxygen", "docs/site/Doxyfile"], capture_output=True, text=True)
    print(done.stdout + done.stderr, end="")
    if done.returncode or done.stderr:
        return 1
    (BUILD / "html/index.js").write_text(f"const index = {json.dumps(index(BUILD / 'skua.tag'), separators=(',', ':'))};\n")
    broken = walk(BUILD / "html")
    if broken:
        print("\n".join(broken))
    return 1 if broken else 0


if __name__ == "__main__":
    arguments.words(__doc__, count=0)
    sys.exit(main())
