"""An interactive shell on a terminal of its own, to press the Tab key in."""
import fcntl
import os
import pathlib
import pty
import select
import signal
import struct
import termios
import time

TIMEOUT = 30
# Prints the command line as it is now; the quotes keep the echo of this command from matching.
SHOW = {"bash": r"""bind -x '"\C-t": printf "<%s>\n" "$READLINE_LINE"'""",
        "zsh": r"""show() { printf '<%s>\n' "$BUFFER" }; zle -N show; bindkey '^T' show"""}


class Shell:
    """Starts bash or zsh without a user's settings, and runs the commands of `setup`."""

    def __init__(self, name: str, folder: pathlib.Path, setup: str):
        words = {"bash": ["bash", "--norc", "--noprofile", "-i"], "zsh": ["zsh", "-f", "-i"]}[name]
        environment = {**os.environ, "TERM": "dumb", "PS1": "$ ", "HOME": str(folder), "INPUTRC": os.devnull}
        self.process, self.terminal = pty.fork()
        if self.process == 0:
            os.chdir(folder)
            os.execvpe(words[0], words, environment)
        fcntl.ioctl(self.terminal, termios.TIOCSWINSZ, struct.pack("HHHH", 50, 200, 0, 0))
        self.send(f"{setup}\n{SHOW[name]}\necho rea''dy\n")
        self.read_until("ready\r\n")

    def __enter__(self):
        return self

    def __exit__(self, *_):
        os.kill(self.process, signal.SIGKILL)
        os.waitpid(self.process, 0)
        os.close(self.terminal)

    def send(self, text: str):
        os.write(self.terminal, text.encode())

    def read_until(self, mark: str) -> str:
        text, end = "", time.monotonic() + TIMEOUT
        while mark not in text:
            if not select.select([self.terminal], [], [], max(0, end - time.monotonic()))[0]:
                raise AssertionError(f"the shell did not print {mark!r}, but {text!r}")
            text += os.read(self.terminal, 65536).decode()
        return text

    def press(self, keys: str) -> str:
        """Types `keys` on an empty line; returns all that is printed, up to the line that results: `<...>`."""
        self.send(keys + "\x14")
        text = self.read_until(">\r\n")
        self.send("\x15\x0becho do''ne\n")  # Ctrl-U, Ctrl-K: empty the line
        self.read_until("done\r\n")
        return text

    def line(self, keys: str) -> str:
        """The command line after typing `keys`."""
        return self.press(keys).rpartition("<")[2].partition(">")[0]
