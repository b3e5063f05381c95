#!/usr/bin/env python3
"""A browser on the examples' pages: events tick, a picture moves, an upload's progress bar completes.

Usage: pages_test.py SKUA      expects the examples beside it; exits with 77 (skipped) without them, or without Chromium
and its driver
"""
import base64
import json
import pathlib
import shutil
import subprocess
import sys
import tempfile
import time
import urllib.request

from served import SKIP, TIMEOUT, Program

UPLOAD_BYTES = 20_000_000


class Browser:
    """A headless Chromium, driven by the WebDriver protocol."""

    def __init__(self, profile: str, accepts_any_certificate: bool = False):
        self.driver = subprocess.Popen([shutil.which("chromedriver"), "--port=0"], stdout=subprocess.PIPE,
                                       stderr=subprocess.DEVNULL, text=True)
        for line in self.driver.stdout:
            if "started successfully on port" in line:
                port = line.split("port")[-1].strip(" .\n")
                self.root = f"http://127.0.0.1:{port}"
                break
        options = {"args": ["--headless", "--no-sandbox", "--disable-gpu", "--no-first-run", "--disable-dev-shm-usage",
                            "--disable-background-networking", f"--user-data-dir={profile}"]}
        capabilities = {"alwaysMatch": {"browserName": "chrome", "goog:chromeOptions": options,
                                        "acceptInsecureCerts": accepts_any_certificate, "pageLoadStrategy": "none"}}
        self.session = f"/session/{self.ask('/session', {'capabilities': capabilities})['sessionId']}"

    def ask(self, path: str, body=None):
        request = urllib.request.Request(self.root + path, None if body is None else json.dumps(body).encode())
        opener = urllib.request.build_opener(urllib.request.ProxyHandler({}))
        with opener.open(request, timeout=2 * TIMEOUT) as response:
            return json.load(response)["value"]

    def open(self, url: str):
        self.ask(f"{self.session}/url", {"url": url})

    def run(self, script: str):
        return self.ask(f"{self.session}/execute/sync", {"script": script, "args": []})

    def screenshot(self) -> bytes:
        return base64.b64decode(self.ask(f"{self.session}/screenshot"))

    def close(self):
        try:
            request = urllib.request.Request(self.root + self.session, method="DELETE")
            urllib.request.build_opener(urllib.request.ProxyHandler({})).open(request, timeout=TIMEOUT).close()
        finally:
            self.driver.terminate()
            self.driver.wait(TIMEOUT)


def until(what: str, ask):
    """Polls `ask`, as pages change at any time; returns its first true result."""
    deadline = time.monotonic() + 2 * TIMEOUT
    while time.monotonic() < deadline:
        answer = ask()
        if answer:
            return answer
        time.sleep(0.05)
    raise AssertionError(f"{what} did not happen")


def events_tick(browser: Browser, url: str):
    browser.open(url)
    tick = "const it = document.getElementById('tick'); return it && it.textContent.startsWith('tick') && it.textContent"
    first = until("the first tick", lambda: browser.run(tick))
    until("another tick", lambda: browser.run(tick) not in (first, None, False))


def picture_moves(browser: Browser, url: str):
    browser.open(url)
    until("the first frame", lambda: browser.run("const it = document.images[0]; return it && it.naturalWidth == 160"))
    first = browser.screenshot()
    until("another frame", lambda: browser.screenshot() != first)


def upload_arrives(browser: Browser, url: str, folder: pathlib.Path):
    browser.open(url)
    until("the page", lambda: browser.run("return document.readyState == 'complete' && typeof send == 'function'"))
    browser.run(f"send(new Blob([new Uint8Array({UPLOAD_BYTES})]), 'from a page.bin')")
    state = until("the end of the upload", lambda: browser.run(
        "const text = document.getElementById('state').textContent; return text.endsWith('done') && text"))
    assert state == f"from a page.bin: {UPLOAD_BYTES} bytes, done", state
    assert browser.run("return document.getElementById('bar').value") == 1
    assert (folder / "from a page.bin").stat().st_size == UPLOAD_BYTES


def main(arguments: list[str]) -> int:
    programs = pathlib.Path(arguments[0]).resolve().parent
    if not (shutil.which("chromedriver") and shutil.which("chromium") and (programs / "example-sse").exists()):
        print("skipped: chromium, chromedriver or the examples are missing")
        return SKIP
    with tempfile.TemporaryDirectory() as folder, tempfile.TemporaryDirectory() as profile:
        browser = Browser(profile)
        try:
            with Program(str(programs / "example-sse"), "0") as url:
                events_tick(browser, url)
                browser.open("about:blank")
            with Program(str(programs / "example-mjpeg"), "0") as url:
                picture_moves(browser, url)
                browser.open("about:blank")
            with Program(str(programs / "example-upload"), "0", folder) as url:
                upload_arrives(browser, url, pathlib.Path(folder))
        finally:
            browser.close()
    print(f"events tick, the picture moves, {UPLOAD_BYTES} bytes are uploaded with progress")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
