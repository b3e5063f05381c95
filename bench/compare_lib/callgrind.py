# SPDX-License-Identifier: MIT
"""User-space instructions per keep-alive request: the difference of two runs under callgrind."""

import os
import re
import socket

from . import probe
from .process import Failure


def http_get(path):
    """Returns a request, and a function that receives its first answer and returns the answer's size."""
    return probe.REQUEST.format(path=path).encode(), lambda connection: probe.receive_answer(connection)[3]


def drive(port, exchange, connections, requests):
    """Sends `requests` requests over persistent connections, one in flight on each."""
    request, receive_first = exchange
    sockets = [socket.create_connection(("127.0.0.1", port), 60) for _ in range(connections)]
    size = 0
    try:
        for _ in range(requests // connections):
            for each in sockets:
                each.sendall(request)
            for each in sockets:
                if size == 0:
                    size = receive_first(each)
                    continue
                missing = size
                while missing > 0:
                    piece = each.recv(missing)
                    if not piece:
                        raise Failure("the server closed a persistent connection")
                    missing -= len(piece)
    finally:
        for each in sockets:
            each.close()


def instructions(valgrind, server, exchange, options, folder, requests):
    """Returns all instructions of a server process that answers `requests` requests."""
    path = os.path.join(folder, f"callgrind.{server.name}.{requests}")
    wrapper = [valgrind, "--tool=callgrind", f"--callgrind-out-file={path}", "-q"]
    try:
        server.start(options.core, wrapper=wrapper, batch=False, patience=60)
        drive(server.port, exchange, options.callgrind_connections, requests)
    except (OSError, Failure) as error:
        raise Failure(f"{server.name} under callgrind: {error}") from error
    finally:
        code = server.stop()
    if code != 0:
        raise Failure(f"{server.name} under callgrind ended with code {code}")
    with open(path, encoding="ascii", errors="replace") as file:
        found = re.search(r"^(?:totals|summary):\s*(\d+)", file.read(), re.MULTILINE)
    if not found:
        raise Failure(f"{server.name}: callgrind wrote no total")
    return int(found.group(1))


def per_request(valgrind, server, exchange, options, folder):
    """Start-up, accepting and shutdown cancel in the difference; only requests remain."""
    few, many = options.callgrind_requests // 5, options.callgrind_requests
    few -= few % options.callgrind_connections
    many -= many % options.callgrind_connections
    if few == 0:
        raise Failure("--callgrind-requests must be at least five times --callgrind-connections")
    first = instructions(valgrind, server, exchange, options, folder, few)
    second = instructions(valgrind, server, exchange, options, folder, many)
    return (second - first) / (many - few)
