"""Third-party servers with a test's configuration, on free ports."""
import contextlib
import os
import pathlib
import re
import shutil
import signal
import socket
import subprocess
import threading
import time

START_SECONDS = 30
STARTS = 3


def until(condition, what: str, seconds: float = START_SECONDS):
    """Polls `condition`, for events in other processes; returns its first true result."""
    end = time.monotonic() + seconds
    while not (result := condition()):
        if time.monotonic() > end:
            raise TimeoutError(f"{what} did not happen within {seconds} s")
        time.sleep(0.01)
    return result


def found(program: str) -> str | None:
    """Returns the path of a server, which is often not in a user's PATH."""
    return shutil.which(program, path=os.environ.get("PATH", "") + ":/usr/sbin:/usr/local/sbin")


def is_root() -> bool:
    return os.geteuid() == 0


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


def accepts(port: int) -> bool:
    try:
        socket.create_connection(("127.0.0.1", port), 1).close()
        return True
    except OSError:
        return False


@contextlib.contextmanager
def peer(serve):
    """A listener that runs `serve` on each connection; yields its port."""
    with socket.create_server(("127.0.0.1", 0)) as listener:
        def work():
            with contextlib.suppress(OSError):
                while True:
                    connection, _ = listener.accept()
                    with connection, contextlib.suppress(OSError):
                        serve(connection)
        thread = threading.Thread(target=work, daemon=True)
        thread.start()
        yield listener.getsockname()[1]
        listener.shutdown(socket.SHUT_RDWR)
        thread.join(10)


class Server:
    """`with Nginx(folder, text) as server:` where @NAME@ in the text is a free port, and @folder@ the folder.

    If a port is taken between the search and the start, retries with others. Each server needs its own folder.
    """
    program = ""
    prefix, suffix = "", ""  # added to every configuration

    def __init__(self, folder: pathlib.Path, text: str):
        folder.mkdir(parents=True, exist_ok=True)
        folder.chmod(0o777)  # a server started by root switches to another user
        self.folder, self.text = folder.resolve(), text

    def command(self, configuration: str) -> list[str]:
        raise NotImplementedError

    def __enter__(self):
        for _ in range(STARTS):
            self.ports = {name: free_port() for name in re.findall(r"@(\w+)@", self.prefix + self.text) if name != "folder"}
            if self.start():
                return self
        raise RuntimeError(f"{self.program} does not start: {self.said()[-2000:]}")

    def start(self) -> bool:
        """Starts the server on `self.ports`; returns false if it exits instead."""
        text = (self.prefix + self.text + self.suffix).replace("@folder@", str(self.folder))
        for name, port in self.ports.items():
            text = text.replace(f"@{name}@", str(port))
        configuration = self.folder / f"{self.program}.conf"
        configuration.write_text(text)
        with (self.folder / "said.txt").open("wb") as said:
            self.process = subprocess.Popen(self.command(str(configuration)), cwd=self.folder, stdin=subprocess.DEVNULL,
                                            stdout=said, stderr=said)
        until(lambda: self.process.poll() is not None or all(map(accepts, self.ports.values())), f"the start of {self.program}")
        return self.process.poll() is None

    def restart(self, text: str):
        """Restarts on the same ports, as a server that was down; the log is kept."""
        if self.process.poll() is None:
            self.end()
        self.text = text
        assert self.start(), f"{self.program} does not start again: {self.said()[-2000:]}"

    def end(self, kind: int = signal.SIGTERM):
        self.process.send_signal(kind)
        try:
            self.process.wait(START_SECONDS)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait(START_SECONDS)
            raise

    def __exit__(self, *_):
        if self.process.poll() is None:
            self.end()

    def url(self, port: str = "port", scheme: str = "http", host: str = "localhost") -> str:
        return f"{scheme}://{host}:{self.ports[port]}"

    def said(self) -> str:
        return "".join(path.read_text(errors="replace") for path in (self.folder / "said.txt", self.folder / "error.log")
                       if path.exists())

    def log(self, *parts: str, count: int = 1) -> list[str]:
        """Waits for `count` lines of access.log, written after the response, that have all `parts`."""
        path = self.folder / "access.log"

        def lines():
            all_of_them = path.read_text().splitlines() if path.exists() else []
            chosen = [line for line in all_of_them if all(part in line for part in parts)]
            return chosen if len(chosen) >= count else None
        return until(lines, f"a line with {parts} in the log of {self.program}")


class Nginx(Server):
    """nginx; `text` goes inside `http { }`. A single process, so that a signal hits the one that serves."""
    program = "nginx"
    prefix = """
@user@ daemon off; master_process off; pid @folder@/nginx.pid; error_log @folder@/error.log warn;
events { worker_connections 64; }
http {
@temporary@
types { text/plain txt; text/html html; application/json json; application/octet-stream bin; }
log_format interop '$connection $connection_requests $server_protocol $status "$request" range=$http_range '
                   'coding=$sent_http_content_encoding authorization=$http_authorization cookie=$http_cookie '
                   'agent=$http_user_agent';
access_log @folder@/access.log interop;
"""
    suffix = "}"

    def __init__(self, folder: pathlib.Path, text: str):
        temporary = "".join(f"{kind}_temp_path @folder@/{kind};\n" for kind in
                            ("client_body", "proxy", "fastcgi", "uwsgi", "scgi"))
        self.prefix = self.prefix.replace("@temporary@", temporary).replace("@user@", "user root;" if is_root() else "")
        super().__init__(folder, text)

    def command(self, configuration: str) -> list[str]:
        return [found("nginx"), "-p", str(self.folder), "-e", str(self.folder / "error.log"), "-c", configuration]


class Apache(Server):
    program = "apache2"
    prefix = """
@load@
ServerRoot @folder@
ServerName localhost
DefaultRuntimeDir @folder@
PidFile @folder@/apache.pid
@user@
StartServers 1
ThreadsPerChild 25
MaxRequestWorkers 25
TypesConfig /dev/null
ErrorLog @folder@/error.log
LogFormat "%>s \\"%r\\" user=%u agent=%{User-Agent}i" interop
CustomLog @folder@/access.log interop
"""
    modules_folder = pathlib.Path("/usr/lib/apache2/modules")

    def __init__(self, folder: pathlib.Path, modules: str, text: str):
        load = "".join(f"LoadModule {name}_module {self.modules_folder}/mod_{name}.so\n" for name in
                       ["mpm_event", "authz_core", "authn_core", "mime", *modules.split()])
        self.prefix = self.prefix.replace("@load@", load).replace("@user@", "User www-data\nGroup www-data" if is_root() else "")
        super().__init__(folder, text)

    def command(self, configuration: str) -> list[str]:
        return [found("apache2"), "-D", "FOREGROUND", "-f", configuration]


class Haproxy(Server):
    program = "haproxy"
    prefix = """
global
  maxconn 100
  tune.ssl.default-dh-param 2048
defaults
  mode http
  timeout connect 5s
  timeout client 30s
  timeout server 30s
  timeout http-request 10s
"""

    def command(self, configuration: str) -> list[str]:
        return [found("haproxy"), "-db", "-f", configuration]


class Squid(Server):
    program = "squid"
    prefix = """
visible_hostname localhost
cache deny all
pid_filename @folder@/squid.pid
cache_log @folder@/error.log
access_log stdio:@folder@/access.log
coredump_dir @folder@
shutdown_lifetime 0 seconds
pinger_enable off
netdb_filename none
"""

    def command(self, configuration: str) -> list[str]:
        return [found("squid"), "-N", "-f", configuration]
