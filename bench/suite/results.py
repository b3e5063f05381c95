# SPDX-License-Identifier: MIT
"""The results of a run: one JSON document, saved after each scenario, so that a run can be resumed."""

import datetime
import hashlib
import json
import os
import pathlib
import platform
import re
import subprocess

from . import servers
from .place import ROOT
from .process import Failure

NAME = "results.json"
# What is measured, but for bench/results, which a run itself changes.
SOURCES = ("src", "include", "bench", "cli", "examples", "cmake", "CMakeLists.txt", ":!bench/results")
# What the results of one document have in common.
COMMON = ("commit", "changes", "options", "machine")


def first_match(path, pattern):
    try:
        found = re.search(pattern, pathlib.Path(path).read_text(encoding="utf-8", errors="replace"), re.MULTILINE)
    except OSError:
        return None
    return found[1].strip() if found else None


def output_of(*words):
    ran = subprocess.run(words, cwd=ROOT, capture_output=True, text=True, check=False)
    return ran.stdout.strip() if ran.returncode == 0 else ""


def machine(place, descriptors):
    """Describes what the figures depend on."""
    cache = place.binaries.parent / "CMakeCache.txt"
    compiler = first_match(cache, r"^CMAKE_CXX_COMPILER:\w+=(.*)$")
    return {
        "processor": first_match("/proc/cpuinfo", r"^model name\s*:(.*)$"),
        "cores": os.cpu_count(),
        "core": place.core,
        "memory_gib": round(os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") / 2**30),
        "kernel": platform.release(),
        "system": first_match("/etc/os-release", r'^PRETTY_NAME="?([^"\n]*)'),
        "congestion_control": first_match("/proc/sys/net/ipv4/tcp_congestion_control", r"(.*)"),
        "descriptors": descriptors,
        "compiler": output_of(compiler, "--version").split("\n")[0] if compiler else None,
        "flags": " ".join(filter(None, (first_match(cache, rf"^{name}:\w+=(.*)$") for name in ("CMAKE_CXX_FLAGS", "CMAKE_CXX_FLAGS_RELEASE")))),
        "versions": {name: said for name in servers.VERSIONS if (said := servers.version(name))},
    }


def changes():
    """Returns a digest of what differs from the commit; nothing if that is nothing."""
    said = output_of("git", "status", "--porcelain", "--", *SOURCES)
    return hashlib.sha256((said + output_of("git", "diff", "HEAD", "--", *SOURCES)).encode()).hexdigest()[:16] if said else ""


def differences(earlier, now, name=""):
    """Returns a sentence for each value of a document that is another one in an earlier document."""
    if isinstance(earlier, dict) and isinstance(now, dict):
        return [said for key in earlier | now for said in differences(earlier.get(key), now.get(key), key)]
    return [f"{name}: {earlier} there, {now} here"] if earlier != now else []


class Results:
    """The document in `folder`; each finished scenario is written at once."""

    def __init__(self, folder, options, about):
        self.folder = pathlib.Path(folder)
        self.path = self.folder / NAME
        self.document = {"commit": output_of("git", "rev-parse", "HEAD"), "changes": changes(), "date": datetime.date.today().isoformat(), "options": options, "machine": about,
                         "scenarios": {}}

    def resume(self):
        """Takes over the scenarios of an interrupted run, which must have measured the same in the same way; returns how many."""
        if self.path.exists():
            earlier = load(self.path)
            mine = json.loads(json.dumps({key: self.document[key] for key in COMMON}))
            if differ := differences({key: earlier.get(key) for key in COMMON}, mine):
                raise Failure(f"{self.path} cannot be resumed; without --resume it is written anew. It differs in {'; '.join(differ)}")
            self.document["scenarios"] = earlier["scenarios"]
        return len(self.document["scenarios"])

    def has(self, name):
        return name in self.document["scenarios"]

    def add(self, name, scenario):
        self.document["scenarios"][name] = scenario
        self.save()

    def save(self):
        self.folder.mkdir(parents=True, exist_ok=True)
        save(self.document, self.path)


def save(document, path):
    text = json.dumps(rounded(document), indent=None, separators=(",", ":"))
    text = text.replace('},{"round"', '},\n{"round"').replace('"scenarios":{', '"scenarios":{\n').replace('},"left_out"', '},\n"left_out"')
    making = path.with_suffix(".part")
    making.write_text(text + "\n", encoding="utf-8")
    making.replace(path)


def take_over(document, other, known):
    """Takes over the scenarios of another document, each with what it says of its run; those that are not `known` any more are dropped.

    Both have to be of the same machine and the same programs.
    """
    if differ := differences(document["machine"], other["machine"]):
        raise Failure(f"the results are of another machine: {'; '.join(differ)}")
    run = {key: other[key] for key in ("commit", "changes", "date")} | {key: other["options"][key] for key in ("rounds", "seconds")}
    measured = document["scenarios"] | {name: {**scenario, "run": run} for name, scenario in other["scenarios"].items()}
    document["scenarios"] = {name: measured[name] for name in known if name in measured}


def rounded(value):
    """Returns a document with numbers of six significant digits: the rest is noise."""
    if isinstance(value, dict):
        return {key: rounded(one) for key, one in value.items()}
    if isinstance(value, (list, tuple)):
        return [rounded(one) for one in value]
    return float(f"{value:.6g}") if isinstance(value, float) else value


def load(path):
    return json.loads(pathlib.Path(path).read_text(encoding="utf-8"))
