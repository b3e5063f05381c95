# SPDX-License-Identifier: MIT
"""User instructions per operation, counted by callgrind: the difference of two runs of the same program.

Start-up, accepting, handshakes, warm-up and shutdown are the same in both runs and cancel; only operations remain.
"""

import os
import re
import signal
import tempfile

from .place import find
from .process import USUAL, Failure


def total(path):
    """Returns all instructions that callgrind wrote to `path`."""
    with open(path, encoding="ascii", errors="replace") as file:
        found = re.search(r"^(?:totals|summary):\s*(\d+)", file.read(), re.MULTILINE)
    if not found:
        raise Failure("callgrind wrote no total")
    return int(found[1])


def per_operation(run, few, many):
    """Returns the instructions per operation of `run(wrapper, count)`, which runs a program behind `wrapper` to its end.

    `count` is how many operations the program performs in that run: `few`, then `many`.
    """
    valgrind = find("valgrind", "valgrind")
    totals = []
    for count in (few, many):
        with tempfile.TemporaryDirectory(prefix="instructions-") as folder:
            path = os.path.join(folder, "callgrind")
            run([valgrind, "--tool=callgrind", "--dump-line=no", f"--callgrind-out-file={path}", "-q"], count)
            totals.append(total(path))
    return (totals[1] - totals[0]) / (many - few)


def per_request(server, load, core, few, many):
    """Returns the instructions per request of a process.Server under a load of lockstep.py."""
    def run(wrapper, count):
        try:
            server.start(core, wrapper=wrapper, policy=USUAL, patience=60)
            load(server, count)
        except OSError as error:
            raise Failure(f"{server.name} under callgrind: {error}") from error
        finally:
            code = server.stop()
        if code not in (0, -signal.SIGTERM):  # callgrind writes its counts in both cases
            raise Failure(f"{server.name} under callgrind ended with code {code}")

    return per_operation(run, few, many)
