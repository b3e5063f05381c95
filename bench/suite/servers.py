# SPDX-License-Identifier: MIT
"""The servers that the comparison knows by name: their commands and configurations."""

import os
import pathlib
import shlex
import subprocess

from . import gateways, peers
from .place import JSON, JSON_FIELDS, find
from .process import Failure, Server

NGINX = """\
daemon off;
master_process {master};
worker_processes {threads};
pid {folder}/nginx.pid;
error_log stderr crit;
events {{ worker_connections 20000; }}
http {{
  access_log off;
  default_type text/plain;
  keepalive_timeout 600s;
  keepalive_requests 1000000000;
  large_client_header_buffers 4 128k;
  client_max_body_size 32m;
  sendfile on;
  tcp_nopush on;
  open_file_cache max=1000 inactive=60s;
  open_file_cache_valid 1s;
  client_body_temp_path {folder}/body;
  proxy_temp_path {folder}/proxy;
  fastcgi_temp_path {folder}/fastcgi;
  uwsgi_temp_path {folder}/uwsgi;
  scgi_temp_path {folder}/scgi;
  {upstream}
  server {{
    listen 127.0.0.1:PORT{listen} backlog=4096;
    {tls}
    {locations}
  }}
}}
"""
NGINX_TLS = """\
http2_max_requests 1000000000;
    ssl_certificate {chain};
    ssl_certificate_key {key};
    ssl_protocols TLSv1.2 TLSv1.3;
"""
NGINX_LOCATIONS = """\
location = / {{ return 200 "Hello, World!"; }}
    location = /json {{
      default_type application/json;
      {fields}
      return 200 '{json}';
    }}
    location /files/ {{ root {www}; }}
"""

# h2o sends a constant response only through mruby; a small file without ETag is cheaper.
H2O = """\
listen:
  host: 127.0.0.1
  port: PORT
{tls}
num-threads: {threads}
max-connections: 20000
tcp-fastopen: 0
http1-request-timeout: 600
http2-idle-timeout: 600
file.etag: OFF
file.index: [index.txt]
{user}
hosts:
  default:
    paths:
      /:
        file.dir: {www}
      /json:
        file.file: {www}/json
        file.mime.setdefaulttype: application/json
{fields}
"""
H2O_TLS = """\
  ssl:
    certificate-file: {chain}
    key-file: {key}
    minimum-version: TLSv1.2
"""

# HAProxy reserves a descriptor of a server for each connection, and refuses to start with fewer, unless its limits are not strict.
HAPROXY = """\
global
  nbthread {threads}
  maxconn 20000
  no strict-limits
  tune.bufsize {buffer_bytes}
defaults
  mode http
  timeout connect 10s
  timeout client 600s
  timeout server 600s
  timeout http-keep-alive 600s
frontend in
  bind 127.0.0.1:PORT backlog 4096 {bind}
{rules}
"""
HAPROXY_RULES = """\
  http-request return status 200 content-type application/json {fields} string '{json}' if {{ path /json }}
  http-request return status 200 content-type text/plain string "Hello, World!"
"""
HAPROXY_BUFFER_BYTES = 131_072  # for heads of 64 KiB

APACHE = """\
ServerRoot {folder}
ServerName localhost
PidFile {folder}/pid
DefaultRuntimeDir {folder}
ErrorLog /dev/stderr
LogLevel crit
LoadModule mpm_event_module {modules}/mod_mpm_event.so
LoadModule authz_core_module {modules}/mod_authz_core.so
LoadModule dir_module {modules}/mod_dir.so
LoadModule mime_module {modules}/mod_mime.so
LoadModule ssl_module {modules}/mod_ssl.so
LoadModule http2_module {modules}/mod_http2.so
{user}
Listen 127.0.0.1:PORT
ListenBacklog 4096
StartServers 1
ServerLimit {threads}
ThreadsPerChild 64
ThreadLimit 64
MaxRequestWorkers {workers}
AsyncRequestWorkerFactor 400
MaxConnectionsPerChild 0
KeepAlive On
MaxKeepAliveRequests 0
KeepAliveTimeout 600
LimitRequestFieldSize 131072
FileETag None
EnableSendfile On
DocumentRoot {www}
DirectoryIndex index.txt
<Directory {www}>
  Require all granted
</Directory>
TypesConfig /dev/null
AddType text/plain .txt
{tls}
"""
APACHE_TLS = """\
SSLEngine On
SSLCertificateFile {chain}
SSLCertificateKeyFile {key}
SSLSessionCache none
Protocols h2 http/1.1
"""

# What each of them can be asked for; those in peers.PEERS say it there.
OFFERS = {
    "skua": {"plain", "json", "routes", "echo", "upload", "big-head", "files", "websocket", "publish", "tls", "h2c", "h2", "threads",
             "tcp", "gateway"},
    "skua-url": {"gateway", "gateway-routes"},  # `skua serve --proxy`, while skua is `skua proxy`: see gateways.py
    "raw": {"plain"},
    "nginx": {"plain", "json", "big-head", "files", "tls", "h2c", "h2", "threads", "gateway", "gateway-routes"},
    "h2o": {"plain", "json", "files", "tls", "h2c", "h2", "threads"},
    "haproxy": {"plain", "json", "big-head", "tls", "h2c", "h2", "threads", "gateway", "gateway-routes"},
    "apache": {"plain", "big-head", "files", "tls", "h2", "threads"},
    "nghttpd": {"h2c", "h2", "threads"},
}
INSTALLED = ("skua-epoll", "skua-io_uring", "skua-url-epoll", "skua-url-io_uring", "raw-epoll", "raw-io_uring", "nginx", "h2o", "haproxy", "apache", "nghttpd")
ALL = (*INSTALLED, *peers.PEERS)
# Those that take at least twice as much as skua are not measured in variations of a scenario, but if they are asked for by name.
FAR = ("apache", "node", "uvicorn", "cpp-httplib")


def offers(name):
    """Returns what the server called `name` can be asked for; one that is given by its command is asked for HTTP/1.1."""
    if "=" in name:
        return frozenset({"plain", "json", "routes", "echo", "upload", "big-head", "files", "websocket", "publish"})
    if name in peers.PEERS:
        return peers.PEERS[name].offers
    return frozenset(OFFERS.get(name.rsplit("-", 1)[0], ()))


class ConfiguredServer(Server):
    """A server with its port in a configuration file, written once the port is known."""

    def __init__(self, name, command, path, text):
        super().__init__(name, command)
        self.path = path
        self.text = text

    def choose_port(self):
        port = super().choose_port()
        self.path.write_text(self.text.replace("PORT", str(port)), encoding="ascii")
        return port


class Wish:
    """What a scenario wants of its servers: a transport (`plain`, `tls` or `h2c`), threads, a process without children.

    A gateway gets routes: the ports of the servers that requests are passed on to, by the beginnings of their paths.
    """

    def __init__(self, transport="plain", threads=1, routes=None, single_process=False):
        self.transport, self.threads, self.routes, self.single_process = transport, threads, routes, single_process

    @property
    def is_secure(self):
        return self.transport == "tls"


def nginx(place, wish):
    folder = place.subfolder("nginx")
    fields = "\n      ".join(f"add_header {name} {shlex.quote(value)};" for name, value in JSON_FIELDS.items())
    locations = NGINX_LOCATIONS.format(fields=fields, json=JSON.decode(), www=place.www)
    upstream = ""
    if wish.routes:
        upstream, locations = gateways.nginx(wish.routes)
    chain, key = place.pair
    text = NGINX.format(folder=folder, master="off" if wish.single_process else "on", threads=wish.threads, locations=locations,
                        upstream=upstream, listen={"tls": " ssl http2", "h2c": " http2", "plain": ""}[wish.transport],
                        tls=NGINX_TLS.format(chain=chain, key=key) if wish.is_secure else "")
    path = folder / "nginx.conf"
    # -e: the default error log may not be writable; -p: keeps all files in the folder.
    return ConfiguredServer("nginx", [find("nginx", "nginx-light"), "-e", "stderr", "-p", str(folder), "-c", str(path)], path, text)


def h2o(place, wish):
    chain, key = place.pair
    fields = "\n".join(f"        header.set: {name_value!r}" for name_value in (f"{name}: {value}" for name, value in JSON_FIELDS.items()))
    text = H2O.format(www=place.www, threads=wish.threads, user="user: root" if os.geteuid() == 0 else "", fields=fields,
                      tls=H2O_TLS.format(chain=chain, key=key) if wish.is_secure else "")
    path = place.subfolder("h2o") / "h2o.conf"
    return ConfiguredServer("h2o", [find("h2o", "h2o"), "-m", "worker", "-c", str(path)], path, text)


def haproxy(place, wish):
    chain, key = place.pair
    path = place.subfolder("haproxy") / "haproxy.cfg"
    both = path.with_name("both.pem")
    both.write_bytes(pathlib.Path(chain).read_bytes() + pathlib.Path(key).read_bytes())
    fields = " ".join(f"hdr {name} {shlex.quote(value)}" for name, value in JSON_FIELDS.items())
    rules = HAPROXY_RULES.format(fields=fields, json=JSON.decode())
    if wish.routes:
        rules = gateways.haproxy(wish.routes, wish.is_secure)
    bind = {"tls": f"ssl crt {both} alpn h2,http/1.1", "h2c": "proto h2", "plain": ""}[wish.transport]
    buffer_bytes = gateways.HAPROXY_BUFFER_BYTES if wish.routes else HAPROXY_BUFFER_BYTES
    text = HAPROXY.format(threads=wish.threads, bind=bind, rules=rules, buffer_bytes=buffer_bytes)
    return ConfiguredServer("haproxy", [find("haproxy", "haproxy"), "-db", "-f", str(path)], path, text)


def apache(place, wish):
    folder = place.subfolder("apache")
    chain, key = place.pair
    text = APACHE.format(folder=folder, www=place.www, modules="/usr/lib/apache2/modules", threads=wish.threads, workers=64 * wish.threads,
                         user="User www-data\nGroup www-data" if os.geteuid() == 0 else "",
                         tls=APACHE_TLS.format(chain=chain, key=key) if wish.is_secure else "")
    path = folder / "apache.conf"
    return ConfiguredServer("apache", [find("apache2", "apache2-bin"), "-D", "FOREGROUND", "-f", str(path)], path, text)


def nghttpd(place, wish):
    chain, key = place.pair
    words = [find("nghttpd", "nghttp2-server"), "-d", str(place.www), "-n", str(wish.threads), "--address=127.0.0.1"]
    return Server("nghttpd", [*words, *(["{port}", key, chain] if wish.is_secure else ["--no-tls", "{port}"])])


def own(name, place, wish):
    """Returns skua-BACKEND, which serves everything, or passes it on, or a ceiling."""
    kind, backend = name.rsplit("-", 1)
    if wish.routes:
        return gateways.own(name, place, wish)
    address = ["--host", "127.0.0.1", "--port", "{port}", "--threads", str(wish.threads)]
    if kind == "raw":
        return Server(name, [place.program("skua-bench-server"), name, *address])
    tls = ["--tls-cert", place.pair[0], "--tls-key", place.pair[1]] if wish.is_secure else []
    return Server(name, [place.program("skua-bench-server"), "suite", str(place.files), "--backend", backend, *address, *tls])


def mode(name, label, place):
    """Returns a server that runs another mode of skua-bench-server."""
    words = [label] if label.startswith("raw") else [label, "--backend", name.split("-", 1)[1]]
    return Server(name, [place.program("skua-bench-server"), *words, "--host", "127.0.0.1", "--port", "{port}", "--threads", "1"])


CONFIGURED = {"nginx": nginx, "h2o": h2o, "haproxy": haproxy, "apache": apache, "nghttpd": nghttpd}


def make(name, place, wish):
    """Returns the server called `name`, or the one described by `NAME=COMMAND`; builds it first if needed."""
    if "=" in name:
        label, command = name.split("=", 1)
        if "{port}" not in command:
            raise Failure(f"{label}: the command must contain {{port}}")
        return Server(label, shlex.split(command))
    if name in CONFIGURED:
        return CONFIGURED[name](place, wish)
    if name in peers.PEERS:
        try:
            files = place.files if "files" in offers(name) else None
            command = peers.command(name, place.cache, threads=wish.threads, tls=place.pair if wish.is_secure else None, files=files)
        except peers.Unavailable as error:
            raise Failure(str(error)) from error
        return Server(name, command)
    return own(name, place, wish)


VERSIONS = {"nginx": ("nginx", "-v"), "h2o": ("h2o", "-v"), "haproxy": ("haproxy", "-v"), "apache": ("apache2", "-v"), "nghttpd": ("nghttpd", "--version"),
            "wrk": ("wrk", "-v"), "h2load": ("h2load", "--version"), "openssl": ("openssl", "version"), "redis": ("redis-server", "--version")}


def version(name):
    """Returns the first line that a program prints about its version; None if it is not installed."""
    try:
        program = find(VERSIONS[name][0], "")
        ran = subprocess.run([program, VERSIONS[name][1]], capture_output=True, text=True, timeout=10, check=False)
    except (Failure, OSError, subprocess.TimeoutExpired):
        return None
    lines = (ran.stdout + ran.stderr).strip().splitlines()
    return lines[0] if lines else None
