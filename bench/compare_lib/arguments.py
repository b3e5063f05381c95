# SPDX-License-Identifier: MIT
"""The command line of bench/compare."""

import argparse
import os

from . import servers

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))


def counts(text):
    values = [int(part) for part in text.split(",")]
    if min(values) < 1:
        raise ValueError
    return values


def positive(text):
    return counts(text)[0]


def seconds(text):
    value = int(text)
    if not 1 <= value <= 60:
        raise ValueError
    return value


def parse():
    """Parses the command line; `names` holds all servers."""
    parser = argparse.ArgumentParser(
        description="Ranks HTTP servers by CPU time per request, on one core, interleaved.",
        epilog="Built-in servers: " + ", ".join(servers.BUILT_IN) + ". "
        "Example: bench/compare skua-epoll raw-epoll nginx --server 'mine=./mine --port {port}'",
    )
    add = parser.add_argument
    add("names", nargs="*", metavar="NAME", help="built-in servers (default: all)")
    add(
        "--server",
        action="append",
        default=[],
        metavar="NAME=CMD",
        help="any other server; CMD contains {port}",
    )
    add("--base", default="raw-epoll", help="base server of the ratios (default %(default)s)")
    add("-c", "--connections", type=counts, default=[64, 512], metavar="N,N", help="default 64,512")
    add(
        "-d",
        "--duration",
        type=seconds,
        default=5,
        help="seconds per run, 1 to 60 (default %(default)s)",
    )
    add("-r", "--rounds", type=positive, default=5, help="default %(default)s")
    add(
        "--warmup", type=int, default=1, help="seconds before the first round (default %(default)s)"
    )
    add(
        "--pipeline",
        type=positive,
        default=1,
        metavar="N",
        help="requests per write (default %(default)s)",
    )
    add("--path", default="/", help="path to request (default %(default)s)")
    add("--core", type=int, help="core to pin to (default: the last one)")
    add(
        "--bin",
        default=os.path.join(ROOT, "build/release/bin/skua-bench-server"),
        help="path of skua-bench-server",
    )
    add("--no-syscalls", action="store_true", help="do not count system calls")
    add(
        "--raw-response-equal",
        action="store_true",
        help="reject servers that send no Date, Server or Content-Type, instead of warning",
    )
    add(
        "--callgrind",
        action="store_true",
        help="count user-space instructions per request instead of timing",
    )
    add(
        "--callgrind-requests",
        type=positive,
        default=10000,
        metavar="N",
        help="default %(default)s",
    )
    add(
        "--callgrind-connections", type=positive, default=1, metavar="N", help="default %(default)s"
    )
    add("--json", metavar="FILE", help="write every run and row to FILE")
    options = parser.parse_intermixed_args()
    options.names = (
        options.names or ([] if options.server else list(servers.BUILT_IN))
    ) + options.server
    if options.core is None:
        options.core = max(os.sched_getaffinity(0))
    return options
