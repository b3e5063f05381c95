#!/usr/bin/env python3
"""WebSockets over HTTP/2 (RFC 8441): Node's HTTP/2 client and a browser against skua-bench-server.

Usage: websocket_http2_test.py SKUA_BENCH_SERVER     skips what is not installed; exits with 77 (skipped) without both
"""
import pathlib
import shutil
import subprocess
import sys
import tempfile

from pages_test import Browser, until
from served import SKIP, TIMEOUT, Program, certificate

HERE = pathlib.Path(__file__).parent
SOCKETS = 5
# Sockets of a page loaded over HTTP/2; once all are open, each sends three messages, one of them large.
SCRIPT = """
window.said = [];
const sockets = Array.from({length: %d}, () => new WebSocket("wss://" + location.host + "/ws"));
const texts = ["hello", "Grüße, 世界", "x".repeat(300000)];
let open = 0;
for (const socket of sockets) {
  let next = 0;
  socket.onopen = () => { if (++open == sockets.length) sockets.forEach((it) => texts.forEach((text) => it.send(text))); };
  socket.onmessage = (event) => {
    if (event.data != texts[next++]) said.push("wrong");
    if (next == texts.length) said.push(socket.extensions);
  };
  socket.onclose = (event) => said.push("closed " + event.code);
}
window.leave = () => sockets.forEach((socket) => socket.close(4000));
""" % SOCKETS


def node(url: str, chain: str | None):
    command = ["node", str(HERE / "websocket_http2.mjs"), url, *([chain] if chain else [])]
    done = subprocess.run(command, capture_output=True, text=True, timeout=2 * TIMEOUT)
    assert done.returncode == 0, f"node against {url}: {done.stdout[-2000:]}{done.stderr[-2000:]}"


def connection_count(url: str) -> int:
    """Counts a server's connections: columns `sl local remote st`, where 01 is ESTABLISHED."""
    port = f":{int(url.rsplit(':', 1)[1].strip('/')):04X}"
    lines = [line.split() for line in pathlib.Path("/proc/net/tcp").read_text().splitlines()[1:]]
    return sum(line[1].endswith(port) and line[3] == "01" for line in lines)


def browse(url: str):
    with tempfile.TemporaryDirectory() as profile:
        browser = Browser(profile, accepts_any_certificate=True)
        try:
            browser.open(url + "/")
            until("the page", lambda: browser.run("return location.protocol == 'https:' && document.body.textContent == 'OK'"))
            protocol = browser.run("return performance.getEntriesByType('navigation')[0].nextHopProtocol")
            assert protocol == "h2", f"the page came by {protocol}"
            browser.run(SCRIPT)
            said = until("all messages", lambda: len(got := browser.run("return said")) >= SOCKETS and got)
            assert said == ["permessage-deflate"] * SOCKETS, said
            # HTTP/1.1 would need a connection for each.
            assert connection_count(url) < SOCKETS, f"{SOCKETS} sockets took {connection_count(url)} connections"
            browser.run("leave()")
            said = until("all closes", lambda: len(got := browser.run("return said")) >= 2 * SOCKETS and got)
            assert said[SOCKETS:] == ["closed 4000"] * SOCKETS, said
        finally:
            browser.close()


def main(arguments: list[str]) -> int:
    has_node, has_browser = shutil.which("node"), shutil.which("chromium") and shutil.which("chromedriver")
    if not (has_node or has_browser):
        print("skipped: neither Node nor Chromium with its driver is installed")
        return SKIP
    server = str(pathlib.Path(arguments[0]).resolve())
    with tempfile.TemporaryDirectory() as name:
        pair = certificate(pathlib.Path(name))
        for backend in ("epoll", "io_uring", "poll"):
            for flags in [[], ["--tls-cert", pair[0], "--tls-key", pair[1]]] if pair else [[]]:
                command = [server, "conformance", "--port", "0", "--threads", "1", "--backend", backend, *flags]
                with Program(*command) as url:
                    if has_node:
                        node(url, pair[0] if flags else None)
                        print(f"node against {backend}{', TLS' if flags else ''}: ok", flush=True)
                    if has_browser and flags:
                        browse(url)
                        print(f"chromium against {backend}, TLS: ok", flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
