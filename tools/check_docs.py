#!/usr/bin/env python3
"""Builds the site of build_docs.py and checks that

- Doxygen has no warnings, and all links lead somewhere,
- each public class has a page that begins with a sentence,
- the parts of a comment (`Waits for:` and so on) are in the order of STYLE.md, after the text and each on its own lines,
- code spans of pages look as they were written,
- a search for `Router` finds the class first: in Chromium if it is installed, otherwise only that the index has it.
Usage: check_docs.py      in the root of the tree
"""
import collections
import html
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

import build_docs

import arguments

SITE = build_docs.BUILD / "html"
INTERNAL = re.compile(r"^namespace (?:skua::)?detail \{$.*?^\}  //", re.M | re.S)
CLASS = re.compile(r"^(?:class|struct) (?:SKUA_\w+ )?(?:\[\[[^\]]*\]\] )?(\w+)(?: final)?(?: : [^;{]*)? \{", re.M)
COMMENT = re.compile(r"(?:^ *///.*\n)+", re.M)
PARTS = ("Waits for", "Ends with", "Lifetime", "RFC")
PART = re.compile(rf"({'|'.join(PARTS)}): ")
TEXT = re.compile(r'<div class="textblock">(?:<div class="compoundTemplParams">.*?</div>)?<p ?>', re.S)
CODE = re.compile(r"<code>(.*?)</code>", re.S)
RESULT = re.compile(r'<li><a href="([^"]*)">')
BROWSERS = ("chromium", "chromium-browser", "google-chrome")


def classes_without_a_sentence(index: list[tuple[str, str, str]]) -> list[str]:
    names = [name for header in sorted(pathlib.Path("include").rglob("*.hpp"))
             for name in CLASS.findall(INTERNAL.sub("", header.read_text()))]
    pages = {name.rpartition("::")[2]: url for name, kind, url in index if kind in ("class", "struct")}
    return [f"{name} has no page" for name in names if name not in pages] + [
        f"{name} has no sentence" for name in names if name in pages and not TEXT.search((SITE / pages[name]).read_text())]


def disordered(comment: str) -> str | None:
    """Returns the first line of a comment that is not where it belongs."""
    last = -1
    for line in comment.splitlines():
        text = line.strip().removeprefix("///").removeprefix(" ")
        if part := PART.match(text):
            if PARTS.index(part[1]) <= last:
                return line.strip()
            last = PARTS.index(part[1])
        elif PART.search(text) or (last >= 0 and not text.startswith("  ")):
            return line.strip()
    return None


def disordered_comments() -> list[str]:
    return [f"{header}: not where it belongs: {line}" for header in sorted(pathlib.Path("include").rglob("*.hpp"))
            for comment in COMMENT.findall(header.read_text()) if (line := disordered(comment))]


def spans_that_changed() -> list[str]:
    wrong = []
    for page in build_docs.pages():
        prose = build_docs.FENCE.sub("", pathlib.Path(page).read_text())
        written = collections.Counter(re.sub(r"\s+", " ", span.replace("\\|", "|")) for span in build_docs.CODE.findall(prose))
        shown = (SITE / build_docs.page_url(page)).read_text()
        shown = collections.Counter(html.unescape(re.sub(r"<[^>]+>|\u200b", "", span)) for span in CODE.findall(shown))
        wrong += [f"{page}: `{span}` looks different on the site" for span in written - shown]
    return wrong


def searched(index: list[tuple[str, str, str]], text: str) -> list[str]:
    """The URLs that a search on the main page finds."""
    browser = next(filter(None, map(shutil.which, BROWSERS)), None)
    if browser is None:
        print("check_docs.py: no Chromium, so the search was not tried")
        return [url for name, _, url in index if name == text]
    with tempfile.TemporaryDirectory() as profile:
        command = [browser, "--headless", "--no-sandbox", "--disable-gpu", "--disable-background-networking",
                   "--disable-component-update", "--disable-sync", "--no-first-run", f"--user-data-dir={profile}",
                   "--dump-dom", f"{(SITE / 'index.html').resolve().as_uri()}?q={text}"]
        return RESULT.findall(subprocess.run(command, capture_output=True, text=True, timeout=60, check=True).stdout)


def main() -> int:
    if build_docs.main():
        return 1
    index = build_docs.index(build_docs.BUILD / "skua.tag")
    wrong = classes_without_a_sentence(index) + disordered_comments() + spans_that_changed()
    if not (found := searched(index, "Router")) or found[0] != "classskua_1_1Router.html":
        wrong.append(f"a search for Router finds {found[:1]} first")
    if wrong:
        print("\n".join(wrong))
    return 1 if wrong else 0


if __name__ == "__main__":
    arguments.words(__doc__, count=0)
    sys.exit(main())
