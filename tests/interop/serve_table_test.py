#!/usr/bin/env python3
"""Runs each command of docs/serve.md: it starts, answers, and stops.

Usage: serve_table_test.py SKUA      exits with 77 (skipped) without curl and openssl
"""
import os
import pathlib
import re
import shlex
import shutil
import signal
import subprocess
import sys
import tempfile

from served import SKIP, TIMEOUT, Program, certificate

PAGE = pathlib.Path(__file__).resolve().parents[2] / "docs" / "serve.md"
FEWEST_ROWS = 40
REFUSING = ("--allow", "--tls-client-ca", "--auth", "--proxy-protocol")  # these servers do not answer a stranger with 200
SIGNALS = {"kill -HUP PID": signal.SIGHUP, "kill -USR1 PID": signal.SIGUSR1, "kill -TERM PID": signal.SIGTERM}


def rows() -> list[tuple[str, list[str]]]:
    """Returns what the page claims, and the commands that show it."""
    found = []
    for line in PAGE.read_text().splitlines():
        cells = [cell.strip() for cell in line.strip("|").split(" | ")]
        if not line.startswith("| ") or len(cells) != 5:
            continue
        commands = re.findall(r"`([^`]+)`", cells[1])
        if commands:
            found.append((cells[0], commands))
    return found


def make_site(folder: pathlib.Path) -> pathlib.Path:
    site = folder / "site"
    site.mkdir()
    (site / "a").write_text("0123456789" * 10)
    os.utime(site / "a", (1_000_000_000, 1_000_000_000))  # or its tag would be weak at first
    (site / "404.html").write_text("gone")
    (site / "index.html").write_text("home")
    (site / "skua.toml").write_text("port = 0\n")
    chain, key = certificate(folder)
    (folder / "cert.pem").write_text(pathlib.Path(chain).read_text() + pathlib.Path(key).read_text())
    shutil.copy(chain, folder / "ca.pem")
    password = subprocess.run(["openssl", "passwd", "-6", "pw"], capture_output=True, text=True, check=True, timeout=TIMEOUT)
    (folder / "users").write_text(f"ada:{password.stdout}")
    return site


def curl(*arguments: str) -> str:
    """Returns the status of the response."""
    done = subprocess.run(["curl", "-sk", "--noproxy", "*", "-m", str(TIMEOUT), "-o", os.devnull, "-w", "%{http_code}", *arguments],
                          capture_output=True, text=True, timeout=2 * TIMEOUT)
    return done.stdout


def with_free_ports(words: list[str], environment: dict[str, str], folder: pathlib.Path) -> list[str]:
    words = ["0" if before == "--redirect-http" else word for before, word in zip(["", *words], words)]
    words = [word.replace("unix:/tmp/", f"unix:{folder}/") for word in words]
    if "SKUA_SERVE_PORT" in environment:
        environment["SKUA_SERVE_PORT"] = "0"
    elif not {"--host", "--config", "--port"} & set(words):
        words += ["--port", "0"]
    return words


def serve(program: str, command: str, more: list[str], folder: pathlib.Path):
    words = shlex.split(command)
    environment = {**os.environ, "PATH": str(folder / "nothing")}  # so that --open finds no browser
    while "=" in words[0]:
        name, value = words.pop(0).split("=", 1)
        environment[name] = value
    words = with_free_ports(words[1:], environment, folder)
    if "--print-config" in words:
        printed = subprocess.run([program, *words], capture_output=True, text=True, timeout=TIMEOUT, env=environment)
        assert printed.returncode == 0 and "port = " in printed.stdout, printed
        return
    running = Program(program, *words, environment=environment)
    with running as url:
        for text in more:
            if text in SIGNALS:
                running.process.send_signal(SIGNALS[text])
        if "kill -TERM PID" in more:
            return
        asked = ("--unix-socket", url.split("unix:", 1)[1], "http://localhost/") if "unix:" in url else (url + "/a",)
        status = curl(*asked)
        assert status == "200" or set(REFUSING) & set(words), f"status {status}"


def ask(program: str, command: str, site: pathlib.Path):
    """Runs a command of curl, as it is but for the port, against the server that the page names."""
    assert "localhost:8080/" in command, "the command names no server"
    with Program(program, "serve", str(site), "--port", "0", "--quiet", "--upload", "--upload-overwrite") as url:
        words = shlex.split(command.replace("localhost:8080", url))[1:]
        heads = subprocess.run(["curl", "-sI", "--noproxy", "*", f"{url}/a"], capture_output=True, text=True, timeout=TIMEOUT).stdout
        tag = re.search(r'(?i)^etag: (".*")', heads, re.M)[1]
        status = curl(*(word.replace('"tag"', tag) for word in words))
        assert status in ("200", "204", "206"), f"status {status}"


def main(arguments: list[str]) -> int:
    program = str(pathlib.Path(arguments[0]).resolve())
    for name in ("curl", "openssl"):
        if not shutil.which(name):
            print(f"skipped: {name} is not installed")
            return SKIP
    shown = rows()
    assert len(shown) >= FEWEST_ROWS, f"the page has {len(shown)} rows with a command"
    left_out = []
    with tempfile.TemporaryDirectory() as temporary:
        folder = pathlib.Path(temporary)
        site = make_site(folder)
        os.chdir(site)
        for claim, (command, *more) in shown:
            # Activation has a test of its own.
            if command.startswith("systemd-") or ("--user" in command and os.geteuid() != 0):
                left_out.append(claim)
                continue
            try:
                if command.startswith("curl "):
                    ask(program, command, site)
                else:
                    serve(program, "skua serve" if command in SIGNALS else command, [command, *more], folder)
            except (AssertionError, RuntimeError) as error:
                raise AssertionError(f"{claim}: {command}: {error}") from error
    print(f"{len(shown) - len(left_out)} commands were run; left out: {'; '.join(left_out)}")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
