#!/usr/bin/env python3
"""Three browser windows on the chat example: two talk in one room, and the third, in another room, sees none of it.

Usage: chat_test.py SKUA [SCREENSHOT_FOLDER]      expects the example beside it; exits with 77 (skipped) without it, or
                                                  without Chromium and its driver
"""
import pathlib
import shutil
import sys
import tempfile
import urllib.request

from browser_test import color_count
from pages_test import Browser, until
from served import SKIP, TIMEOUT, Program

SITE = pathlib.Path(__file__).resolve().parents[2] / "examples" / "chat"
ENTER = "\ue007"
ELEMENT = "element-6066-11e4-a52e-4f735466cecf"  # the key of an element reference in the WebDriver standard
LINES = "return [...document.querySelectorAll('#log li')].map(it => it.querySelector('b').textContent + ': ' + it.querySelector('p').textContent)"
PEOPLE = "return [...document.querySelectorAll('#people li')].map(it => it.textContent).sort()"
ONLINE = "return document.getElementById('state').className == 'online' && !document.getElementById('text').disabled"


class Page:
    """One browser window, used by one person."""

    def __init__(self, browser: Browser, url: str, room: str, name: str):
        self.browser, self.name = browser, name
        self.window = browser.ask(f"{browser.session}/window/new", {"type": "window"})["handle"]
        self.look()
        browser.ask(f"{browser.session}/window/rect", {"width": 900, "height": 640})
        browser.open(f"{url}/#{room}")
        until("the question for a name", lambda: self.run("const it = document.getElementById('ask'); return it && it.open"))
        self.type("#name", name)
        until(f"{name} is online", lambda: self.run(ONLINE))

    def look(self):
        self.browser.ask(f"{self.browser.session}/window", {"handle": self.window})

    def run(self, script: str):
        self.look()
        return self.browser.run(script)

    def type(self, where: str, text: str):
        self.look()
        found = self.browser.ask(f"{self.browser.session}/element", {"using": "css selector", "value": where})[ELEMENT]
        self.browser.ask(f"{self.browser.session}/element/{found}/value", {"text": text + ENTER})

    def close(self):
        self.look()
        request = urllib.request.Request(f"{self.browser.root}{self.browser.session}/window", method="DELETE")
        urllib.request.build_opener(urllib.request.ProxyHandler({})).open(request, timeout=TIMEOUT).close()

    def shows(self, lines: list[str], people: list[str]):
        """Waits until the page shows exactly these lines and names."""
        seen = []

        def right() -> bool:
            seen[:] = [self.run(LINES), self.run(PEOPLE)]
            return seen == [lines, sorted(people)]
        try:
            until("the page", right)
        except AssertionError as error:
            raise AssertionError(f"{self.name} sees {seen}, not {lines} and {people}") from error

    def shot(self, path: pathlib.Path) -> bytes:
        self.look()
        path.write_bytes(self.browser.screenshot())
        assert color_count(path) > 64, f"{path} is blank"
        return path.read_bytes()


def talk(browser: Browser, url: str, shots: pathlib.Path):
    ada = Page(browser, url, "gulls", "Ada")
    ada.shows([], ["Ada (you)"])
    before = ada.shot(shots / "before.png")
    ben = Page(browser, url, "gulls", "Ben")
    eve = Page(browser, url, "open%20sea", "Eve")
    ada.type("#text", "hello, is there anybody?")
    ben.shows(["Ada: hello, is there anybody?"], ["Ada", "Ben (you)"])
    ben.type("#text", "<b>me</b> & 世界")
    talked = ["Ada: hello, is there anybody?", "Ben: <b>me</b> & 世界"]
    ada.shows(talked, ["Ada (you)", "Ben"])
    ben.shows(talked, ["Ada", "Ben (you)"])
    after, other = ada.shot(shots / "after.png"), ben.shot(shots / "other.png")
    assert len({before, after, other}) == 3, "the pages look the same"
    eve.shows([], ["Eve (you)"])

    # A broken connection is restored by itself, along with messages missed meanwhile.
    ben.run("socket.onopen = null; socket.close()")
    ada.type("#text", "still there?")
    talked.append("Ada: still there?")
    ben.shows(talked, ["Ada", "Ben (you)"])
    until("Ben is online again", lambda: ben.run(ONLINE))

    # Latecomers see the history; people who leave disappear.
    eve.run("location.hash = 'gulls'")
    eve.shows(talked, ["Ada", "Ben", "Eve (you)"])
    ben.look()
    browser.open("about:blank")
    ada.shows(talked, ["Ada (you)", "Eve"])
    for page in (ada, ben, eve):
        page.close()


def main(arguments: list[str]) -> int:
    program = pathlib.Path(arguments[0]).resolve().with_name("example-chat")
    if not (shutil.which("chromedriver") and shutil.which("chromium") and program.exists()):
        print("skipped: chromium, chromedriver or the example is missing")
        return SKIP
    with tempfile.TemporaryDirectory() as folder, tempfile.TemporaryDirectory() as profile:
        shots = pathlib.Path(arguments[1] if len(arguments) > 1 else folder)
        shots.mkdir(parents=True, exist_ok=True)
        browser = Browser(profile)
        try:
            with Program(str(program), "0", str(SITE)) as url:
                talk(browser, url, shots)
        finally:
            browser.close()
    print("two pages see each other's messages, a third in another room does not, a broken connection is restored")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
