# SPDX-License-Identifier: MIT
"""Gateways: how skua, nginx and HAProxy are told to pass requests on, each as for production, with the same job.

All keep connections alive on both sides, add X-Forwarded-For, -Host and -Proto, stream contents in both directions, and write no log.
"""

from .process import Server

# Beginnings of the paths that are asked for: `skua serve --proxy` cannot pass everything on.
PREFIXES = ("/plaintext", "/files", "/upload")

# With its defaults, nginx writes uploads, and what a client has yet to take of a large response, to files, which costs it more; with
# smaller buffers, it makes more system calls.
NGINX = """\
proxy_http_version 1.1;
    proxy_set_header Connection "";
    proxy_set_header Host $http_host;
    proxy_set_header X-Forwarded-For $remote_addr;
    proxy_set_header X-Forwarded-Host $http_host;
    proxy_set_header X-Forwarded-Proto $scheme;
    proxy_buffer_size 32k;
    proxy_buffers 8 32k;
    proxy_max_temp_file_size 0;
    proxy_request_buffering off;
    client_body_buffer_size 64k;
"""
NGINX_UPSTREAM = "upstream {name} {{ {servers} keepalive 1024; keepalive_requests 1000000000; }}"

HAPROXY = """\
  option forwardfor
  http-request set-header X-Forwarded-Host %[req.hdr(host)]
  http-request set-header X-Forwarded-Proto {scheme}
"""
HAPROXY_BUFFER_BYTES = 16384  # its default
HAPROXY_BACKEND = """\
backend {name}
  http-reuse always
"""


def named(routes):
    """Yields (name of a group of servers, beginning of the paths, ports) for each route."""
    for number, (prefix, ports) in enumerate(routes.items()):
        yield f"group{number}", prefix, ports


def nginx(routes):
    """Returns the groups of servers, and the rest of a server's configuration."""
    groups, locations = [], NGINX
    for name, prefix, ports in named(routes):
        groups.append(NGINX_UPSTREAM.format(name=name, servers=" ".join(f"server 127.0.0.1:{port};" for port in ports)))
        locations += f"    location {prefix} {{ proxy_pass http://{name}; }}\n"
    return "\n  ".join(groups), locations


def haproxy(routes, is_secure):
    """Returns the end of a frontend, and the backends."""
    rules, backends = HAPROXY.format(scheme="https" if is_secure else "http"), ""
    for name, prefix, ports in named(routes):
        rules += f"  default_backend {name}\n" if prefix == "/" else f"  use_backend {name} if {{ path_beg {prefix} }}\n"
        backends += HAPROXY_BACKEND.format(name=name) + "".join(f"  server s{port} 127.0.0.1:{port}\n" for port in ports)
    return rules + backends


def own(name, place, wish):
    """Returns `skua proxy` with all servers of the only route, or, called skua-url-BACKEND, `skua serve --proxy` with the first server of each."""
    kind, backend = name.rsplit("-", 1)
    # Without its sandbox, whose filter the others do not have.
    words = ["--host", "127.0.0.1", "--port", "{port}", "--threads", str(wish.threads), "--backend", backend, "--no-sandbox", "--quiet"]
    if wish.is_secure:
        words += ["--tls-cert", place.pair[0], "--tls-key", place.pair[1]]
    if kind == "skua":
        return Server(name, [place.program("skua"), "proxy", *(f"http://127.0.0.1:{port}" for port in wish.routes["/"]), *words])
    for prefix, ports in wish.routes.items():
        for path in PREFIXES if prefix == "/" else (prefix,):
            words += ["--proxy", f"{path}=http://127.0.0.1:{ports[0]}"]
    return Server(name, [place.program("skua"), "serve", str(place.subfolder("empty")), *words])
