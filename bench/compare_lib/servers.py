# SPDX-License-Identifier: MIT
"""The servers that the comparison knows by name: their commands and configurations."""

import os
import shlex
import shutil

from .process import Failure, Server

BODY = b"Hello, World!"
BUILT_IN = ("skua-epoll", "skua-io_uring", "raw-epoll", "raw-io_uring", "nginx", "h2o")

NGINX = """\
daemon off;
master_process {master};
worker_processes 1;
pid {folder}/nginx.pid;
error_log stderr crit;
events {{ worker_connections 20000; }}
http {{
  access_log off;
  default_type text/plain;
  keepalive_timeout 600s;
  keepalive_requests 1000000000;
  client_body_temp_path {folder}/body;
  proxy_temp_path {folder}/proxy;
  fastcgi_temp_path {folder}/fastcgi;
  uwsgi_temp_path {folder}/uwsgi;
  scgi_temp_path {folder}/scgi;
  server {{
    listen 127.0.0.1:PORT backlog=4096;
    location / {{ return 200 "Hello, World!"; }}
  }}
}}
"""

# h2o sends a constant response only through mruby; a small file without ETag is cheaper.
H2O = """\
listen:
  host: 127.0.0.1
  port: PORT
num-threads: 1
max-connections: 20000
tcp-fastopen: 0
http1-request-timeout: 600
file.etag: OFF
file.index: [index.txt]
{user}
hosts:
  default:
    paths:
      /:
        file.dir: {folder}/www
"""


def find(program, package):
    """Returns the path of an installed program."""
    # sbin may not be in PATH.
    found = shutil.which(program) or shutil.which(program, path="/usr/sbin:/usr/local/sbin")
    if not found:
        raise Failure(f"{program} is not installed (Debian: apt-get install {package})")
    return found


class ConfiguredServer(Server):
    """A server with its port in a configuration file, written once the port is known."""

    def __init__(self, name, command, path, text):
        super().__init__(name, command)
        self.path = path
        self.text = text

    def choose_port(self):
        port = super().choose_port()
        with open(self.path, "w", encoding="ascii") as file:
            file.write(self.text.replace("PORT", str(port)))
        return port


def nginx(folder, single_process):
    os.makedirs(folder, exist_ok=True)
    path = os.path.join(folder, "nginx.conf")
    text = NGINX.format(folder=folder, master="off" if single_process else "on")
    # -e: the default error log may not be writable; -p: keeps all files in the folder.
    command = [find("nginx", "nginx-light"), "-e", "stderr", "-p", folder, "-c", path]
    return ConfiguredServer("nginx", command, path, text)


def h2o(folder):
    www = os.path.join(folder, "www")
    os.makedirs(www, exist_ok=True)
    with open(os.path.join(www, "index.txt"), "wb") as file:
        file.write(BODY)
    path = os.path.join(folder, "h2o.conf")
    user = "user: root" if os.geteuid() == 0 else ""
    return ConfiguredServer(
        "h2o",
        [find("h2o", "h2o"), "-m", "worker", "-c", path],
        path,
        H2O.format(folder=folder, user=user),
    )


def own(name, binary, mode):
    """Returns skua-BACKEND in the given mode of skua-bench-server, or the mode raw-BACKEND."""
    if not os.access(binary, os.X_OK):
        raise Failure(f"{binary} is not built: cmake --build --preset release")
    kind, backend = name.split("-", 1)
    words = [mode, "--backend", backend] if kind == "skua" else [name]
    return Server(
        name, [binary, *words, "--host", "127.0.0.1", "--port", "{port}", "--threads", "1"]
    )


def make(name, binary, folder, single_process=False, mode="plaintext"):
    """Returns the server called `name`, or one described by `NAME=COMMAND`."""
    if "=" in name:
        label, command = name.split("=", 1)
        if "{port}" not in command:
            raise Failure(f"{label}: the command must contain {{port}}")
        return Server(label, shlex.split(command))
    if name == "nginx":
        return nginx(os.path.join(folder, name), single_process)
    if name == "h2o":
        return h2o(os.path.join(folder, name))
    if name in BUILT_IN:
        return own(name, binary, mode)
    raise Failure(f"{name} is neither NAME=COMMAND nor one of {', '.join(BUILT_IN)}")
