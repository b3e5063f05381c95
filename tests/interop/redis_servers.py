"""Redis servers, Sentinels and clusters with a test's configuration, on free ports; and the client that drives skua."""
import contextlib
import pathlib
import queue
import subprocess
import threading
import time

from servers import Server, found, until

LINE_SECONDS = 60


class Redis(Server):
    """redis-server that saves nothing. `text` may set @port@ itself, or another."""
    program = "redis-server"
    prefix = 'save ""\nappendonly no\ndaemonize no\nbind 127.0.0.1\ndir @folder@\n'

    def command(self, configuration: str) -> list[str]:
        return [found(self.program), configuration]

    def cli(self, *words: str, arguments: tuple[str, ...] = ()) -> str:
        done = subprocess.run(["redis-cli", "-p", str(self.ports["port"]), *arguments, *words], capture_output=True, text=True,
                              timeout=LINE_SECONDS)
        return done.stdout.strip()


class Sentinel(Redis):
    """redis-sentinel: the same program."""

    def command(self, configuration: str) -> list[str]:
        return [found(self.program), configuration, "--sentinel"]


class Driven:
    """`with Driven(program, "redis://...", "repl") as client:`: lines in, lines out."""

    def __init__(self, program: str, *arguments: str):
        self.command = [program, *arguments]

    def __enter__(self):
        self.process = subprocess.Popen(self.command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, bufsize=1)
        self.lines: queue.Queue[tuple[float, str]] = queue.Queue()
        self.time = 0.0  # at which the last line that was taken came
        self.thread = threading.Thread(target=self.read, daemon=True)
        self.thread.start()
        return self

    def read(self):
        for line in self.process.stdout:
            self.lines.put((time.monotonic(), line.rstrip("\n")))

    def line(self, seconds: float = LINE_SECONDS) -> str:
        self.time, line = self.lines.get(timeout=seconds)
        return line

    def ask(self, line: str) -> str:
        self.process.stdin.write(line + "\n")
        self.process.stdin.flush()
        return self.line()

    def ready(self):
        first = self.line()
        assert first == "ready", first
        return self

    def finish(self) -> list[str]:
        """Ends the input; returns the lines that were not read yet."""
        self.process.stdin.close()
        self.process.wait(LINE_SECONDS)
        self.thread.join(LINE_SECONDS)
        rest = []
        while not self.lines.empty():
            rest.append(self.line())
        return rest

    def __exit__(self, *_):
        with contextlib.suppress(OSError):
            self.process.stdin.close()
        self.process.kill()  # does nothing if it has ended
        self.process.wait(LINE_SECONDS)


@contextlib.contextmanager
def cluster(folder: pathlib.Path, masters: int = 3, replicas: int = 1, node_timeout: int = 2000):
    """Yields the nodes of a new cluster."""
    text = (f"port @port@\ncluster-enabled yes\ncluster-config-file nodes.conf\ncluster-node-timeout {node_timeout}\n"
            "cluster-port @bus@\n")
    with contextlib.ExitStack() as stack:
        nodes = [stack.enter_context(Redis(folder / f"node-{number}", text)) for number in range(masters * (1 + replicas))]
        places = [f"127.0.0.1:{node.ports['port']}" for node in nodes]
        done = subprocess.run(["redis-cli", "--cluster", "create", *places, "--cluster-replicas", str(replicas), "--cluster-yes"],
                              capture_output=True, text=True, timeout=LINE_SECONDS)
        assert done.returncode == 0, done.stdout + done.stderr
        until(lambda: all("cluster_state:ok" in node.cli("cluster", "info") for node in nodes), "the cluster")
        until(lambda: sum("role:slave" in node.cli("info", "replication") and "master_link_status:up" in
                          node.cli("info", "replication") for node in nodes) == masters * replicas, "the replicas")
        yield nodes


def alive(nodes: list[Redis]) -> list[Redis]:
    return [node for node in nodes if node.process.poll() is None]


