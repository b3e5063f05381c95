#!/usr/bin/env python3
"""A browser in a served folder: listings are browsed, sorted, searched and dark; pages reload as their files change; an app has its routes.

Usage: listing_test.py SKUA      exits with 77 (skipped) without Chromium and its driver
"""
import pathlib
import shutil
import sys
import tempfile

from pages_test import Browser, until
from served import SKIP, Served

NAMES = "return [...document.querySelectorAll('tbody tr')].filter(row => !row.hidden).map(row => row.cells[0].textContent)"
SEARCH = """
const field = document.querySelector('[type=search]');
field.value = arguments[0];
field.dispatchEvent(new Event('input'));
return document.querySelector('[role=status]').textContent"""
PAGE = '<!doctype html><title>{title}</title><link rel="stylesheet" href="style.css"><p>{title}</p>'


def call(browser: Browser, script: str, *arguments):
    return browser.ask(f"{browser.session}/execute/sync", {"script": script, "args": arguments})


def until_names(browser: Browser, wanted: list[str]):
    until(f"a listing of {wanted}", lambda: browser.run(NAMES) == wanted)


def click(browser: Browser, selector: str):
    call(browser, "document.querySelector(arguments[0]).click()", selector)


def listing_is_browsed(browser: Browser, url: str):
    browser.open(url)
    until_names(browser, ["sub/", "a.bin", "b.txt", "c.txt"])
    click(browser, "th:nth-child(3) button")
    until_names(browser, ["sub/", "b.txt", "c.txt", "a.bin"])
    click(browser, "th:nth-child(3) button")
    until("the other order", lambda: browser.run(NAMES)[-3:] == ["a.bin", "c.txt", "b.txt"])
    assert call(browser, SEARCH, "TXT") == "2 matches"
    assert browser.run(NAMES) == ["c.txt", "b.txt"], browser.run(NAMES)
    assert call(browser, SEARCH, "") == ""
    click(browser, "a[href='./sub/']")
    until_names(browser, ["../", "inner.txt"])
    click(browser, "a[href='../']")
    until_names(browser, ["sub/", "a.bin", "b.txt", "c.txt"])


def listing_is_dark(browser: Browser):
    colors = {}
    for scheme in ("light", "dark"):
        features = {"features": [{"name": "prefers-color-scheme", "value": scheme}]}
        browser.ask(f"{browser.session}/goog/cdp/execute", {"cmd": "Emulation.setEmulatedMedia", "params": features})
        colors[scheme] = browser.run("return getComputedStyle(document.querySelector('td a')).color")
    assert colors == {"light": "rgb(11, 110, 133)", "dark": "rgb(92, 198, 223)"}, colors


def page_reloads(browser: Browser, url: str, folder: pathlib.Path):
    browser.open(f"{url}/page.html")
    color = "return document.querySelector('p') && getComputedStyle(document.querySelector('p')).color"
    until("the style", lambda: browser.run(color) == "rgb(1, 2, 3)")
    browser.run("window.isKept = true")
    (folder / "style.css").write_text("p{color:rgb(4,5,6)}")
    until("the new style", lambda: browser.run(color) == "rgb(4, 5, 6)")
    assert browser.run("return window.isKept === true"), "a style sheet has reloaded the page"
    (folder / "page.html").write_text(PAGE.format(title="after"))
    until("the new page", lambda: browser.run("return document.title") == "after")
    assert browser.run("return window.isKept === undefined")


def app_has_its_routes(browser: Browser, url: str):
    browser.open(f"{url}/users/7")
    until("the app", lambda: browser.run("return document.title + location.pathname") == "app/users/7")


def main(arguments: list[str]) -> int:
    program = str(pathlib.Path(arguments[0]).resolve())
    if not (shutil.which("chromedriver") and shutil.which("chromium")):
        print("skipped: chromium or chromedriver is missing")
        return SKIP
    with tempfile.TemporaryDirectory() as temporary, tempfile.TemporaryDirectory() as profile:
        folder = pathlib.Path(temporary)
        for name, content in (("listed/a.bin", "a" * 5000), ("listed/b.txt", "b"), ("listed/c.txt", "c" * 2000), ("listed/sub/inner.txt", "i"),
                              ("live/page.html", PAGE.format(title="before")), ("live/style.css", "p{color:rgb(1,2,3)}"),
                              ("app/index.html", PAGE.format(title="app"))):
            (folder / name).parent.mkdir(parents=True, exist_ok=True)
            (folder / name).write_text(content)
        browser = Browser(profile)
        try:
            with Served(program, folder / "listed") as url:
                listing_is_browsed(browser, url)
                listing_is_dark(browser)
            with Served(program, folder / "live", "--watch") as url:
                page_reloads(browser, url, folder / "live")
                browser.open("about:blank")
            with Served(program, folder / "app", "--spa") as url:
                app_has_its_routes(browser, url)
                browser.open("about:blank")
        finally:
            browser.close()
    print("a listing is browsed, sorted, searched and dark; a page reloads, its style without it; an app has its routes")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
