"""Runs an example as a newcomer would: starts it, sends it requests, ends it with SIGTERM."""
import http.client
import re
import signal
import subprocess
import sys
import urllib.parse

TIMEOUT = 30
SKIPPED = 77  # for ctest
LACKING = re.compile(r"this build of skua has no TLS|no coding is available")


class Example:
    running: list[subprocess.Popen] = []  # not ended yet

    def __init__(self, program: str, *arguments: str, environment: dict | None = None):
        self.start([program, "0", *arguments], "http", environment)

    def start(self, command: list[str], scheme: str, environment: dict | None = None):
        self.process = subprocess.Popen(command, text=True, stdout=subprocess.PIPE, stderr=subprocess.PIPE, env=environment)
        self.running.append(self.process)
        first = self.process.stdout.readline()
        if not first.startswith(f"listening on {scheme}://127.0.0.1:"):
            self.process.kill()
            errors = self.process.stderr.read()
            if lacking := LACKING.search(errors):
                print(f"skipped: {lacking[0]}")
                sys.exit(SKIPPED)
            raise AssertionError(f"the first line is {first!r}; {errors}")
        self.port = urllib.parse.urlsplit(first.split()[-1]).port

    def connection(self) -> http.client.HTTPConnection:
        return http.client.HTTPConnection("127.0.0.1", self.port, timeout=TIMEOUT)

    def ask_bytes(self, method: str, target: str, body=None, **fields) -> tuple[int, bytes, dict]:
        """Sends one request on its own connection. Returns status, content, fields (names in lower case)."""
        connection = self.connection()
        headers = {name.replace("_", "-"): value for name, value in fields.items()}
        connection.request(method, target, body, headers)
        response = connection.getresponse()
        content = response.read()
        connection.close()
        return response.status, content, {name.lower(): value for name, value in response.getheaders()}

    def ask(self, method: str, target: str, body=None, **fields) -> tuple[int, str, dict]:
        status, content, found = self.ask_bytes(method, target, body, **fields)
        return status, content.decode(), found

    def get(self, target: str, **fields) -> tuple[int, str, dict]:
        return self.ask("GET", target, **fields)

    def end(self) -> tuple[str, str]:
        self.process.send_signal(signal.SIGTERM)
        out, errors = self.process.communicate(timeout=TIMEOUT)
        self.running.remove(self.process)
        assert self.process.returncode == 0, f"exit code {self.process.returncode}: {errors}"
        return out, errors


def equal(actual, expected):
    assert actual == expected, f"{actual!r} is not {expected!r}"
