"""Runs `skua get` and its siblings, and parses the responses, for the tests in this folder."""
import dataclasses
import json
import os
import pathlib
import re
import subprocess

from served import TIMEOUT
from servers import peer

# Exit codes of `skua`.
DONE, UNFOLLOWED, CLIENT_ERROR, SERVER_ERROR = 0, 3, 4, 5
NOT_RESOLVED, NOT_CONNECTED, TLS, TIMED_OUT, PROTOCOL, FILE = 6, 7, 8, 9, 10, 11

HEAD = re.compile(rb"HTTP/(?P<version>[\d.]+) (?P<status>\d{3})[^\r\n]*\r?\n(?P<lines>(?:[^\r\n]+\r?\n)*)(?:\r?\n|$)")


@dataclasses.dataclass
class Answer:
    """The last response on stdout, and all of stderr."""
    status: int
    version: str
    fields: dict[str, str]  # names in lower case; the last field line wins
    content: bytes
    told: str

    def json(self):
        return json.loads(self.content)


def equal(actual, expected, about: str = ""):
    assert actual == expected, f"{about}: {repr(actual)[:1000]} is not {repr(expected)[:1000]}"


def environment_without_proxies(**more: str) -> dict[str, str]:
    kept = {name: value for name, value in os.environ.items() if not name.lower().endswith("_proxy")}
    return {**kept, "NO_COLOR": "1", "SKUA_CONFIG": "", **more}  # no file of who runs the tests


class Skua:
    """`Skua(program)("get", url, "--follow")`: one run, with the head on stdout."""

    def __init__(self, program: str, *options: str):
        self.program, self.options = program, options

    def given(self, *options: str) -> "Skua":
        """Returns a Skua with options for every run."""
        return Skua(self.program, *self.options, *options)

    def run(self, *words: str, code: int | tuple[int, ...] = DONE, text: bytes = b"",
            environment: dict[str, str] | None = None, folder: pathlib.Path | None = None) -> subprocess.CompletedProcess:
        command = [self.program, words[0], *self.options, *words[1:]]
        done = subprocess.run(command, input=text, capture_output=True, timeout=TIMEOUT, cwd=folder,
                              env=environment_without_proxies(**(environment or {})))
        codes = code if isinstance(code, tuple) else (code,)
        assert done.returncode in codes, (f"{' '.join(command)} ended with {done.returncode}, not {code}: "
                                          f"{done.stderr.decode(errors='replace')}{done.stdout[:500]!r}")
        return done

    def __call__(self, *words: str, **how) -> Answer:
        done = self.run(words[0], "-i", *words[1:], **how)
        told, rest, last = done.stderr.decode(errors="replace"), done.stdout, None
        while match := HEAD.match(rest):
            last, rest = match, rest[match.end():]
            if not (100 <= int(last["status"]) < 200):
                break
        assert last, f"{words} shows no head: {done.stdout[:500]!r} {told}"
        lines = [line.split(":", 1) for line in last["lines"].decode("latin-1").splitlines()]
        fields = {name.lower(): value.strip() for name, value in lines}
        return Answer(int(last["status"]), last["version"].decode().removesuffix(".0") if last["version"][:1] == b"2"
                      else last["version"].decode(), fields, rest, told)

    def refused(self, *words: str, code: int, says: str = "", **how) -> str:
        """Runs a command that must exit with `code` and report the reason on stderr."""
        told = self.run(*words, code=code, **how).stderr.decode(errors="replace")
        assert told.strip() and re.search(says, told, re.I | re.S), f"{words} says {told!r}, not {says!r}"
        return told


def has_http2(skua: Skua) -> bool:
    """Reports whether this build sends the HTTP/2 preface. RFC 9113 §3.4"""
    begins = []
    with peer(lambda connection: begins.append(connection.recv(3))) as port:
        skua.run("get", "--http2", "--timeout", "5", f"http://127.0.0.1:{port}/", code=tuple(range(1, 12)))
    if begins != [b"PRI"]:
        print("HTTP/2: skipped, not supported by this build")
    return begins == [b"PRI"]
