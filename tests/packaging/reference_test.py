#!/usr/bin/env python3
"""The manual pages and shell completions of `skua`, checked against its --help and in the shells themselves.

Usage: reference_test.py BUILD_FOLDER      after the targets skua-man and skua-completions; what needs a program that
is not installed (mandoc, man, zsh, fish) is skipped
"""
import pathlib
import re
import shlex
import shutil
import subprocess
import sys
import tempfile
import unittest

from shell import TIMEOUT, Shell

BUILD = pathlib.Path(sys.argv[1] if len(sys.argv) > 1 else "build/release").resolve()
PAGES = {"serve": "serve", "bench": "bench", "ws": "ws", "curl": "curl",
         **dict.fromkeys(["get", "post", "put", "patch", "delete", "head", "request"], "get")}
SECTIONS = {"serve": "OPERANDS OPTIONS 'EXIT STATUS' ENVIRONMENT FILES EXAMPLES", "get": "ITEMS ENVIRONMENT FILES EXAMPLES",
            "curl": "OPTIONS 'EXIT STATUS' ENVIRONMENT EXAMPLES", "bench": "OPTIONS 'EXIT STATUS' EXAMPLES", "ws": "OPTIONS 'EXIT STATUS' EXAMPLES"}


def output_of(*words: str | pathlib.Path, **options) -> str:
    done = subprocess.run(words, capture_output=True, text=True, timeout=TIMEOUT, check=False, **options)
    assert done.returncode == 0, f"{words} ended with {done.returncode}: {done.stdout}{done.stderr}"
    return done.stdout + done.stderr


def options_of(command: str) -> list[str]:
    """Every name of every option, as --help lists them."""
    listed = re.findall(r"^  (-[^ ]+)", output_of(BUILD / "bin" / "skua", command, "--help"), re.M)
    return [name for names in listed for name in names.split(",")]


def commands_of(page: str) -> list[str]:
    """The `skua serve` commands between backticks in a page, without what is before them."""
    text = (pathlib.Path(__file__).resolve().parents[2] / "docs" / page).read_text()
    return re.findall(r"`[^`]*?(skua serve[^`]*)`", text)


def read(name: str) -> str:
    return (BUILD / name).read_text()


def needs(program: str):
    return unittest.skipUnless(shutil.which(program), f"{program} is not installed")


class Documents(unittest.TestCase):
    def test_have_commands_that_run(self):
        commands = commands_of("serve.md")
        self.assertGreater(len(commands), 30)
        with tempfile.TemporaryDirectory() as folder:
            (pathlib.Path(folder) / "skua.toml").touch()
            for command in commands:
                with self.subTest(command):
                    done = subprocess.run([BUILD / "bin" / "skua", *shlex.split(command)[1:], "--print-config"], cwd=folder,
                                          capture_output=True, text=True, timeout=TIMEOUT, check=False)
                    is_lacking = "this build of skua has no " in done.stderr
                    self.assertTrue(done.returncode == 0 or is_lacking, done.stderr)


class ManualPages(unittest.TestCase):
    def test_have_every_option(self):
        for command, page in PAGES.items():
            text = read(f"man/skua-{page}.1")
            for option in options_of(command):
                self.assertIn("\\fB" + option.replace("-", "\\-") + "\\fR", text, f"{command} {option}")

    def test_have_every_command_and_section(self):
        overview = read("man/skua.1")
        for command, page in PAGES.items():
            self.assertIn(f".TP\n\\fB{command}\\fR\n", overview)
            self.assertRegex(read(f"man/skua-{page}.1").partition(" \\- ")[0], rf"\bskua\\-{command}\b")
        for page, names in SECTIONS.items():
            for name in ["NAME", "SYNOPSIS", "DESCRIPTION", "SEE ALSO", *re.findall(r"'[^']+'|\w+", names)]:
                self.assertIn(f"\n.SH {name.strip(chr(39))}\n", read(f"man/skua-{page}.1"), page)

    def test_have_the_date_of_the_version(self):
        version = output_of(BUILD / "bin" / "skua", "--version").split()[1]
        changes = (pathlib.Path(__file__).parents[2] / "CHANGELOG.md").read_text()
        date = re.search(rf"^## \[{re.escape(version)}\] - (\d{{4}}-\d\d-\d\d)$", changes, re.M)[1]
        self.assertIn(f' 1 "{date}" "skua {version}" ', read("man/skua.1"))

    @needs("mandoc")
    def test_satisfy_mandoc(self):
        self.assertEqual(output_of("mandoc", "-Tlint", *(BUILD / "man").glob("*.1")), "")

    @needs("man")
    def test_satisfy_groff(self):
        for page in (BUILD / "man").glob("*.1"):
            warnings = subprocess.run(["man", "--warnings", "-E", "UTF-8", "-Tutf8", "-Z", "-l", page], text=True,
                                      stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, timeout=TIMEOUT, check=True)
            self.assertEqual(warnings.stderr, "", page.name)


class Completions(unittest.TestCase):
    """What the three shells have in common."""

    def test_have_every_option_and_command(self):
        texts = {name: read(f"completions/{name}") for name in ("skua.bash", "_skua", "skua.fish")}
        for command in PAGES:
            for text in texts.values():
                self.assertRegex(text, rf"\b{command}\b")
            for option in options_of(command):
                name = option.lstrip("-")
                kind = "long" if option.startswith("--") else "short"
                for shell, pattern in {"skua.bash": rf"[ ']{option}[ ']", "_skua": rf"['{{,*]{option}[+=\[,}}]",
                                       "skua.fish": rf"--{kind}-option {name} "}.items():
                    self.assertTrue(re.search(pattern, texts[shell]), f"{shell}: {command} {option}")


class TypingTest(unittest.TestCase):
    """Runs in a folder with the folder `www`, the file `www.pem` and the file `key.pem`."""

    def setUp(self):
        temporary = tempfile.TemporaryDirectory()
        self.addCleanup(temporary.cleanup)
        self.folder = pathlib.Path(temporary.name)
        (self.folder / "www").mkdir()
        (self.folder / "www.pem").touch()
        (self.folder / "key.pem").touch()


class Bash(TypingTest):
    def test_completes_in_a_terminal(self):
        setup = f"bind 'set enable-bracketed-paste off'; source '{BUILD}/completions/skua.bash'"
        every = "\x1b*"  # inserts all completions
        with Shell("bash", self.folder, setup) as shell:
            self.assertEqual(shell.line("skua ser\t"), "skua serve ")
            self.assertEqual(shell.line("skua serve --ba\t"), "skua serve --backend ")
            self.assertEqual(shell.line("skua serve --backend " + every), "skua serve --backend auto epoll io_uring iocp kqueue poll ")
            self.assertEqual(shell.line("skua serve --backend io_\t"), "skua serve --backend io_uring ")
            self.assertEqual(shell.line("skua serve --backend=io_\t"), "skua serve --backend=io_uring ")
            self.assertEqual(shell.line("skua serve ww\t"), "skua serve www/")
            self.assertEqual(shell.line("skua get --output ke\t"), "skua get --output key.pem ")
            self.assertEqual(shell.line("skua serve --port \t"), "skua serve --port ")
            self.assertEqual(shell.line("skua request OP\t"), "skua request OPTIONS ")
            self.assertEqual(shell.line("skua get -X OP\t"), "skua get -X OPTIONS ")
            self.assertEqual(shell.line("skua post --col" + every), "skua post --color --colour ")


@needs("zsh")
class Zsh(TypingTest):
    def test_completes_in_a_terminal(self):
        setup = f"fpath=('{BUILD}/completions' $fpath); autoload -Uz compinit; compinit -u -D; unsetopt beep prompt_sp"
        with Shell("zsh", self.folder, setup) as shell:
            self.assertEqual(shell.line("skua ser\t"), "skua serve ")
            self.assertEqual(shell.line("skua serve --ba\t"), "skua serve --backend=")
            self.assertEqual(shell.line("skua serve --backend io_\t"), "skua serve --backend io_uring ")
            self.assertEqual(shell.line("skua serve ww\t"), "skua serve www/")
            self.assertEqual(shell.line("skua get --output ke\t"), "skua get --output key.pem ")
            self.assertEqual(shell.line("skua request OP\t"), "skua request OPTIONS ")
            listed = shell.press("skua serve --backend \t")
            for name in ("auto", "epoll", "io_uring", "poll"):
                self.assertRegex(listed, rf"\b{name}\b")
            self.assertIn("Disable HTTP/2", shell.press("skua serve --no-\t"))


@needs("fish")
class Fish(TypingTest):
    def complete(self, line: str) -> dict[str, str]:
        """The suggestions and their descriptions."""
        script = f"source '{BUILD}/completions/skua.fish'; complete --do-complete '{line}'"
        lines = output_of("fish", "--no-config", "--command", script, cwd=self.folder).splitlines()
        return dict(line.partition("\t")[::2] for line in lines)

    def test_completes(self):
        self.assertEqual(self.complete("skua ser"), {"serve": "Serve a folder over HTTP"})
        self.assertEqual(list(self.complete("skua serve --ba")), ["--backend"])
        self.assertEqual(list(self.complete("skua serve --backend ")), ["auto", "epoll", "iocp", "io_uring", "kqueue", "poll"])
        self.assertEqual(list(self.complete("skua serve ww")), ["www/"])
        self.assertEqual(list(self.complete("skua get --output ke")), ["key.pem"])
        self.assertEqual(list(self.complete("skua serve --port ")), [])
        self.assertIn("OPTIONS", self.complete("skua request "))
        self.assertNotIn("OPTIONS", self.complete("skua request GET "))


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
