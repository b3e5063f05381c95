#!/usr/bin/env python3
"""A browser uploads by the form of a listing, through a relay that cuts connections: large files go on where they stopped.

Usage: upload_form_test.py SKUA      exits with 77 (skipped) without Chromium and its driver
"""
import pathlib
import re
import shutil
import socket
import sys
import tempfile
import threading

from pages_test import Browser, until
from served import SKIP, Served

SIZE = 8_000_000
CUT_BYTES = 2_000_000  # of a connection, from the browser
NAME = "large ü%.bin"

# Files of a pattern, which the form then sends.
CHOOSE = """
const [name, size] = arguments, bytes = new Uint8Array(size).map((_, i) => i % 251);
const chosen = new DataTransfer();
chosen.items.add(new File([bytes], name));
form.file.files = chosen.files;
form.requestSubmit();
"""


class Relay:
    """Passes connections on to a server, and cuts some of them in the middle of a request."""

    def __init__(self, port: int):
        self.port, self.cuts_left, self.offsets = port, 0, []
        self.is_holding = threading.Event()
        self.listener = socket.create_server(("127.0.0.1", 0))
        self.url = f"http://127.0.0.1:{self.listener.getsockname()[1]}"
        threading.Thread(target=self.accept, daemon=True).start()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.listener.shutdown(socket.SHUT_RDWR)
        self.listener.close()

    def accept(self):
        while True:
            try:
                client, _ = self.listener.accept()
                server = socket.create_connection(("127.0.0.1", self.port))
            except OSError:
                return
            threading.Thread(target=self.serve, args=(client, server), daemon=True).start()
            del client, server

    def serve(self, client: socket.socket, server: socket.socket):
        with client, server:  # closed in the end: a browser that still sends must hear of it
            is_cut = threading.Event()
            down = threading.Thread(target=self.pass_down, args=(server, client, is_cut), daemon=True)
            down.start()
            self.pass_up(client, server, is_cut)
            down.join()

    def pass_up(self, client: socket.socket, server: socket.socket, is_cut: threading.Event):
        passed = 0
        try:
            while piece := client.recv(65536):
                server.sendall(piece)
                passed += len(piece)
                self.offsets += map(int, re.findall(rb"\r\nUpload-Offset: (\d+)\r\n", piece))
                if passed > CUT_BYTES and self.cuts_left > 0:
                    self.cuts_left -= 1
                    is_cut.set()
                    server.shutdown(socket.SHUT_WR)
                    return
                if passed > CUT_BYTES and self.is_holding.is_set():
                    return
        except OSError:
            pass
        for sock in (client, server):
            try:
                sock.shutdown(socket.SHUT_RDWR)
            except OSError:
                pass

    @staticmethod
    def pass_down(server: socket.socket, client: socket.socket, is_cut: threading.Event):
        try:
            while piece := server.recv(65536):
                if not is_cut.is_set():  # the browser hears of a cut once the server has read all that was passed up
                    client.sendall(piece)
            client.shutdown(socket.SHUT_WR)
        except OSError:
            pass


def open_page(browser: Browser, url: str):
    browser.open(url)
    until("the page", lambda: browser.run("return document.readyState == 'complete' && typeof send == 'function'"))


def send(browser: Browser, name: str, size: int):
    browser.ask(f"{browser.session}/execute/sync", {"script": CHOOSE, "args": [name, size]})


def upload_goes_on(browser: Browser, relay: Relay, folder: pathlib.Path):
    open_page(browser, relay.url)
    relay.cuts_left = 3
    send(browser, NAME, SIZE)
    until("the reload", lambda: browser.run(
        f"return [...document.links].some((link) => link.textContent === {NAME!r})"))
    assert relay.cuts_left == 0, f"{relay.cuts_left} of the cuts did not happen"
    assert (folder / NAME).read_bytes() == bytes(i % 251 for i in range(251)) * (SIZE // 251) + bytes(range(SIZE % 251))
    # Chromium repeats a request itself if a connection that it has used before is cut.
    assert relay.offsets[0] == 0 and relay.offsets[-1] > CUT_BYTES, f"the upload began again: {relay.offsets}"


def upload_is_cancelled(browser: Browser, relay: Relay, folder: pathlib.Path):
    open_page(browser, relay.url)
    relay.is_holding.set()
    send(browser, "cancelled.bin", SIZE)
    until("progress", lambda: browser.run("const bar = document.querySelector('progress'); return bar && bar.value > 0"))
    browser.run("document.querySelector('#uploads button').click()")
    until("its end", lambda: browser.run(
        "return document.getElementById('uploads').textContent === 'cancelled.bin: cancelled'"))
    relay.is_holding.clear()
    until("nothing is left", lambda: not list(folder.glob(".skua-upload-*")))
    assert not (folder / "cancelled.bin").exists()


def failures_are_told(browser: Browser, relay: Relay):
    open_page(browser, relay.url)
    for size in (10, SIZE):
        send(browser, NAME, size)
        until("the reason", lambda: browser.run(
            f"return document.getElementById('uploads').textContent.includes({NAME + ': there is a file with this name'!r})"))
        open_page(browser, relay.url)


def upload_arrives_whole(browser: Browser, relay: Relay, folder: pathlib.Path, sizes: tuple[int, ...]):
    for size in sizes:
        open_page(browser, relay.url)
        send(browser, f"{size}.bin", size)
        until(f"the upload of {size} bytes", lambda: (folder / f"{size}.bin").exists())
        assert (folder / f"{size}.bin").stat().st_size == size


def main(arguments: list[str]) -> int:
    program = str(pathlib.Path(arguments[0]).resolve())
    if not (shutil.which("chromedriver") and shutil.which("chromium")):
        print("skipped: chromium or chromedriver is missing")
        return SKIP
    with tempfile.TemporaryDirectory() as temporary, tempfile.TemporaryDirectory() as profile:
        folder = pathlib.Path(temporary)
        browser = Browser(profile)
        try:
            with Served(program, folder, "--upload") as url, Relay(int(url.rsplit(":", 1)[1])) as relay:
                upload_goes_on(browser, relay, folder)
                upload_is_cancelled(browser, relay, folder)
                failures_are_told(browser, relay)
                upload_arrives_whole(browser, relay, folder, (0, 1, 1_000_000))
                browser.open("about:blank")
            with Served(program, folder, "--upload", "--upload-keep", "0") as url, Relay(int(url.rsplit(":", 1)[1])) as relay:
                upload_arrives_whole(browser, relay, folder, (3_000_000,))
                browser.open("about:blank")
        finally:
            browser.close()
    print(f"{SIZE} bytes go on after 3 cuts; uploads are cancelled, refused, small, and whole without resumption")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
