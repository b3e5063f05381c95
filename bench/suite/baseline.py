# SPDX-License-Identifier: MIT
"""The committed counts, what they were counted with, and how new ones differ from them."""

import json
import pathlib
import platform
import re
import subprocess

from .place import find
from .process import Failure

TOLERANCE = 0.03
# skua, glibc and OpenSSL choose code by these when they start, and valgrind offers no newer ones.
CPU_FEATURES = ("sse4_2", "pclmulqdq", "aes", "avx", "avx2")


def first_line(command):
    try:
        return subprocess.run(command, capture_output=True, text=True, check=True, timeout=60).stdout.splitlines()[0]
    except (OSError, subprocess.SubprocessError) as error:
        raise Failure(f"{command[0]}: {error}") from error


def compiler(version_line):
    """Returns the name and version from the first line of `--version`; revisions of a package generate the same code."""
    versions = re.findall(r"\b\d+\.\d+\.\d+\b", version_line)
    return f"{'Clang' if 'clang' in version_line else 'GCC'} {versions[-1] if versions else version_line}"


def cpu_features(cpuinfo):
    flags = re.search(r"^(?:flags|Features)\s*:(.*)", cpuinfo, re.MULTILINE)
    present = flags[1].split() if flags else []
    return " ".join(feature for feature in CPU_FEATURES if feature in present)


def environment(build):
    """Returns what changes the counts besides the sources; `build` is a build folder of CMake."""
    try:
        cache = dict(re.findall(r"^(\w+):\w+=(.*)$", (pathlib.Path(build) / "CMakeCache.txt").read_text(encoding="utf-8"), re.MULTILINE))
    except OSError as error:
        raise Failure(f"{build} is not built: cmake --preset release && cmake --build --preset release") from error
    flags = [cache.get(name, "") for name in ("CMAKE_BUILD_TYPE", "CMAKE_CXX_FLAGS", "CMAKE_CXX_FLAGS_RELEASE")]
    return {
        "compiler": compiler(first_line([cache["CMAKE_CXX_COMPILER"], "--version"])),
        "flags": " ".join(flag for flag in flags if flag),
        "valgrind": first_line([find("valgrind", "valgrind"), "--version"]),
        "cpu": f"{platform.machine()}: {cpu_features(pathlib.Path('/proc/cpuinfo').read_text(encoding='utf-8'))}",
    }


def libraries():
    """Returns the versions of libraries that may explain a difference."""
    return {"libc": platform.libc_ver()[1], "openssl": first_line([find("openssl", "openssl"), "version"])}


def differences(old, new):
    """Returns a sentence for each value of a dictionary that has changed."""
    return [f"{name}: {new.get(name)} here, {value} in the baseline" for name, value in old.items() if new.get(name) != value]


def read(path):
    try:
        with open(path, encoding="utf-8") as file:
            return json.load(file)
    except OSError as error:
        raise Failure(f"{path}: {error.strerror}; bench/regress --update writes it") from error


def write(path, around, counts):
    content = {"environment": around, "libraries": libraries(), "instructions": {name: round(value) for name, value in counts.items()}}
    with open(path, "w", encoding="utf-8") as file:
        json.dump(content, file, indent=1)
        file.write("\n")


def spaced(number):
    """Returns a rounded number in groups of three digits."""
    return f"{number:,.0f}".replace(",", " ")


def change(old, new):
    return new / old - 1


def row(name, old, value):
    """Returns a row of the table: scenario, baseline, now, change."""
    if name not in old:
        return [name, "-", spaced(value), "-"]
    return [name, spaced(old[name]), spaced(value), f"{change(old[name], value) * 100:+.1f} %"]


def rows(old, new):
    return [row(name, old, value) for name, value in new.items()]


def complaints(old, new):
    """Returns a sentence for each count that has grown too much, or has no baseline."""
    found = []
    for name, value in new.items():
        if name not in old:
            found.append(f"{name}: not in the baseline; add it with bench/regress --update")
        elif change(old[name], value) > TOLERANCE:
            found.append(f"{name}: {spaced(value)} instructions, {change(old[name], value) * 100:.1f} % over the baseline of {spaced(old[name])}; "
                         "accept with bench/regress --update if it is worth it")
    return found


def improvements(old, new):
    """Returns a sentence for each count that has fallen so much that the baseline would hide a later regression."""
    return [f"{name}: {spaced(value)} instructions, {-change(old[name], value) * 100:.1f} % under the baseline; keep that with bench/regress --update"
            for name, value in new.items() if name in old and change(old[name], value) < -TOLERANCE]
