#!/usr/bin/env python3
"""The metrics of `skua serve` and `skua proxy`: promtool has nothing to say against them, and a Prometheus scrapes them.

Usage: metrics_test.py SKUA      exits with 77 (skipped) without prometheus
"""
import json
import pathlib
import re
import shutil
import socket
import subprocess
import sys
import tempfile
import time
import urllib.parse
import urllib.request

from asked import equal
from served import SKIP, TIMEOUT, Program

SCRAPE = """
global:
  scrape_interval: 1s
scrape_configs:
- job_name: skua
  static_configs:
  - targets: ['%s']
"""


def ask(url: str, **fields: str):
    opener = urllib.request.build_opener(urllib.request.ProxyHandler({}))
    return opener.open(urllib.request.Request(url, headers=fields), timeout=TIMEOUT)


def text_of(url: str, **fields: str) -> str:
    with ask(url, **fields) as answer:
        return answer.read().decode()


class Server(Program):
    """`skua serve` or `skua proxy` with an admin listener; `.admin` is its URL."""

    def __init__(self, program: str, *command: str):
        super().__init__(program, *command, "--port", "0", "--admin", "0", "--no-status")

    def __enter__(self) -> str:
        url = super().__enter__()
        self.admin = self.process.stdout.readline().removeprefix("admin on ").strip()
        return url


class Prometheus:
    """A Prometheus that scrapes one target; another port is tried if somebody was faster."""

    def __init__(self, folder: pathlib.Path, target: str):
        self.folder = folder
        self.config = folder / "prometheus.yml"
        self.config.write_text(SCRAPE % target)

    def __enter__(self) -> str:
        for _ in range(5):
            with socket.socket() as probe:
                probe.bind(("127.0.0.1", 0))
                port = probe.getsockname()[1]
            self.process = subprocess.Popen(
                ["prometheus", f"--config.file={self.config}", f"--storage.tsdb.path={self.folder / 'data'}",
                 f"--web.listen-address=127.0.0.1:{port}"], stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
            for line in self.process.stderr:
                if "Server is ready" in line:
                    return f"http://127.0.0.1:{port}"
            self.process.wait(TIMEOUT)
        raise RuntimeError("prometheus does not start")

    def __exit__(self, *_):
        self.process.terminate()
        self.process.communicate(timeout=TIMEOUT)


def promtool(text: str) -> None:
    checked = subprocess.run(["promtool", "check", "metrics"], input=text, text=True, capture_output=True, timeout=TIMEOUT,
                             check=False)
    equal(checked.returncode, 0, checked.stdout + checked.stderr)
    equal(checked.stdout + checked.stderr, "", "promtool's remarks")


def value(prometheus: str, query: str) -> float | None:
    found = json.loads(text_of(f"{prometheus}/api/v1/query?" + urllib.parse.urlencode({"query": query})))["data"]["result"]
    return float(found[0]["value"][1]) if found else None


def counted(text: str) -> int:
    found = re.search(r'http_server_requests_total\{route="[^"]*",method="GET",status="2xx"\} (\d+)', text)
    return int(found[1]) if found else 0


def run(program: str) -> None:
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        site = folder / "site"
        site.mkdir()
        (site / "index.html").write_text("<h1>home</h1>")
        server = Server(program, "serve", str(site))
        with server as url:
            for _ in range(7):
                equal(text_of(url), "<h1>home</h1>", "the page")
            end = time.monotonic() + TIMEOUT
            while (count := counted(plain := text_of(server.admin + "/metrics"))) != 7:  # a client may be told before it is counted
                assert time.monotonic() < end, f"{count} requests were counted, not 7"
            promtool(plain)
            accept = "application/openmetrics-text;version=1.0.0,application/openmetrics-text;version=0.0.1;q=0.75"
            opened = text_of(server.admin + "/metrics", Accept=accept)
            equal(opened.endswith("\n# EOF\n"), True, "OpenMetrics ends")
            equal(text_of(server.admin + "/readyz"), "[+] server: ok\nready\n", "ready")
            with Prometheus(folder, server.admin.removeprefix("http://")) as prometheus:
                end = time.monotonic() + TIMEOUT
                while value(prometheus, 'sum(http_server_requests_total{status="2xx",method="GET"})') != 7:
                    if time.monotonic() > end:
                        raise AssertionError("prometheus has not scraped the requests")
                    time.sleep(0.2)
                equal(value(prometheus, 'up{job="skua"}'), 1, "up")
                equal(value(prometheus, "http_server_request_duration_seconds_count"), 7, "durations")
            gateway = Server(program, "proxy", url)
            with gateway as front:
                equal(text_of(front), "<h1>home</h1>", "the page behind a gateway")
                plain = text_of(gateway.admin + "/metrics")
                promtool(plain)
                equal('\nskua_client_requests_total{client="targets",result="2xx"} 1\n' in plain, True, "a request was passed on")
                opened = text_of(gateway.admin + "/metrics", Accept=accept)
                equal("\n# TYPE skua_client_wait_seconds histogram\n" in opened, True, "OpenMetrics of a client")
            behind = Server(program, "serve", str(site), "--proxy", f"/index.html={url}")
            with behind as front:
                equal(text_of(front + "/index.html"), "<h1>home</h1>", "the page of another server")
                plain = text_of(behind.admin + "/metrics")
                equal('\nskua_client_requests_total{client="proxy",result="2xx"} 1\n' in plain, True, "the proxy's request")
    print("ok")


def main() -> int:
    if not shutil.which("prometheus") or not shutil.which("promtool"):
        print("skipped: no prometheus")
        return SKIP
    run(sys.argv[1])
    return 0


if __name__ == "__main__":
    sys.exit(main())
