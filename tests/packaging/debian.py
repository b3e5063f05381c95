"""Cases for the Debian packages: their contents, and a fresh system that installs, uses and removes them."""
import contextlib
import functools
import os
import pathlib
import shutil
import signal
import subprocess
import urllib.request

from harness import CONSUMER, ROOT, Skipped, attempt, build, expect, run

SUITE = "bookworm"
# Present in every fresh system that compiles with CMake; the packages bring the rest.
TOOLS = "g++,cmake,make,pkg-config,curl,ca-certificates"
# Notes of the package manager.
NOTES = ("var/cache/", "var/lib/apt/", "var/lib/dpkg/", "var/log/", "tmp/")


@functools.cache
def packages() -> dict[str, pathlib.Path]:
    """Makes the packages once; returns their files by name."""
    run("bash", ROOT / "tools" / "package.sh")
    return {file.name.split("_")[0]: file for file in (ROOT / "build" / "package").glob("*.deb")}


def field(package: pathlib.Path, name: str) -> str:
    return run("dpkg-deb", "--field", package, name).strip()


def package_contents(folder: pathlib.Path) -> None:
    made = packages()
    expect(set(made) == {"libskua0.1", "libskua-dev", "skua"}, f"made {set(made)}")
    version = field(made["skua"], "Version")
    inside = {}
    for name, file in made.items():
        target = folder / name
        run("dpkg-deb", "--extract", file, target)
        inside[name] = {str(path.relative_to(target)) for path in target.rglob("*") if not path.is_dir()}
    expect([path for path in inside["libskua0.1"] if path.endswith(f"/libskua.so.{version.split('-')[0]}")],
           f"libskua0.1 has {inside['libskua0.1']}")
    libraries = {path.rsplit("/", 1)[1] for path in inside["libskua-dev"] if "/lib/" in f"/{path}"}
    expect({"libskua.a", "libskua.so", "skua.pc", "skua-config.cmake"} <= libraries, f"libskua-dev has {libraries}")
    expect("usr/bin/skua" in inside["skua"], f"skua has {inside['skua']}")
    expect(not set.intersection(*inside.values()), "two packages have the same file")

    expect(f"libskua0.1 (= {version})" in field(made["libskua-dev"], "Depends"), "libskua-dev takes any libskua0.1")
    for name in ("libskua0.1", "skua"):
        expect("libssl3 (>= 3." in field(made[name], "Depends"), f"{name} depends on {field(made[name], 'Depends')}")
    expect("libssl-dev" in field(made["libskua-dev"], "Depends"), "libskua-dev does not bring libssl-dev")


def lintian(folder: pathlib.Path) -> None:
    if not shutil.which("lintian"):
        raise Skipped("lintian is not installed")
    # The packages close no bug, as they are not in Debian; the scripts that call ldconfig are CPack's.
    good, output = attempt("lintian", "--fail-on", "error,warning", "--suppress-tags",
                           "initial-upload-closes-no-bugs,maintscript-calls-ldconfig", *packages().values(), cwd=folder)
    expect(good, output)


def fresh_system(folder: pathlib.Path, name: str = SUITE, tools: str = TOOLS) -> pathlib.Path:
    """Unpacks a fresh system with some packages, which is made once."""
    if os.geteuid() != 0:
        raise Skipped("a fresh system needs root")
    if not shutil.which("mmdebstrap"):
        raise Skipped("mmdebstrap is not installed")
    archive = ROOT / "build" / "packaging" / f"{name}.tar"
    if not archive.exists():
        archive.parent.mkdir(parents=True, exist_ok=True)
        part = archive.with_suffix(".part.tar")
        good, output = attempt("mmdebstrap", "--variant=apt", f"--include={tools}", SUITE, part)
        if not good:
            raise Skipped(f"mmdebstrap failed: {output.splitlines()[-1]}")
        part.rename(archive)
    system = folder / "system"
    system.mkdir()
    run("tar", "--extract", "--file", archive, "--directory", system)
    return system


def inside(system: pathlib.Path, command: str) -> str:
    return run("chroot", system, "/bin/sh", "-ec", command, DEBIAN_FRONTEND="noninteractive", LC_ALL="C.UTF-8")


def traces(system: pathlib.Path) -> set[str]:
    paths = (str(path.relative_to(system)) for path in system.rglob("*"))
    return {path for path in paths if not path.startswith(NOTES)}


# Starts a program that prints its address, asks it, and ends it.
SERVE = """
mkfifo said; /tmp/{program} 0 >said & server=$!
trap 'kill $server; wait $server' EXIT
read -r listening on url <said; rm said
curl --silent --show-error --fail "$url"
"""


def fresh_root(folder: pathlib.Path) -> None:
    system = fresh_system(folder)
    shutil.copytree(CONSUMER, system / "tmp" / "consumer")
    shutil.copy(ROOT / "examples" / "hello.cpp", system / "tmp" / "consumer" / "main.cpp")
    # A static library alone, before anything brings the libraries that it was built with.
    run("cmake", "--install", build("static"), DESTDIR=str(system / "tmp" / "stage"))
    said = inside(system, "! cmake -S /tmp/consumer -B /tmp/alone -DCMAKE_PREFIX_PATH=/tmp/stage/usr 2>&1")
    expect("libssl-dev" in said and "liburing-dev" in said, said)

    before = traces(system)
    for file in packages().values():
        shutil.copy(file, system / "tmp")
    inside(system, "apt-get update --quiet; apt-get install --quiet --yes --no-install-recommends /tmp/*.deb")
    inside(system, "cd /tmp; cmake -S consumer -B built -DSKUA_WANTED=0.1 -DSKUA_COMPONENTS=tls; cmake --build built")
    inside(system, "cd /tmp; g++ -std=c++20 consumer/main.cpp -o shared $(pkg-config --cflags --libs skua)")
    inside(system, "cd /tmp; g++ -std=c++20 consumer/main.cpp -o static -Wl,-Bstatic -lskua -Wl,-Bdynamic "
           "$(pkg-config --static --cflags --libs skua)")
    for program in ("built/consumer", "shared", "static"):
        said = inside(system, f"cd /tmp; {SERVE.format(program=program)}")
        expect(said == "Hello, world!", f"{program} served {said!r}")
    expect("skua 0.1" in inside(system, "skua --version"), "the command does not run")

    inside(system, "apt-get purge --quiet --yes --autoremove skua libskua-dev libskua0.1")
    after = traces(system)
    expect(after == before, f"left behind: {sorted(after - before)}; gone: {sorted(before - after)}")


# This machine's compiler cache saves minutes. It is mounted for these processes only.
RUN_AS_A_NEWCOMER = """
cache=$(ccache --get-config cache_dir 2>/dev/null) && mount --bind "$cache" "$1/ccache" && export CCACHE_DIR=/ccache
exec chroot "$1" /bin/sh -ec 'cd /skua; exec make run PORT=0'
"""


def newcomer(folder: pathlib.Path) -> None:
    """What README promises on a system with nothing but make: `make run` shows a page; the tests' packages exist."""
    system = fresh_system(folder, f"{SUITE}-bare", "make,ca-certificates")
    skua = system / "skua"
    skua.mkdir()
    files = run("git", "ls-files", "-z")
    subprocess.run(["tar", "--create", "--null", "--files-from=-", "--file", str(folder / "sources.tar")], cwd=ROOT,
                   input=files, text=True, check=True)
    run("tar", "--extract", "--file", folder / "sources.tar", "--directory", skua)
    (system / "ccache").mkdir()
    with subprocess.Popen(["unshare", "--mount", "/bin/sh", "-ec", RUN_AS_A_NEWCOMER, "sh", str(system)],
                          env={**os.environ, "DEBIAN_FRONTEND": "noninteractive", "LC_ALL": "C.UTF-8"},
                          stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, text=True, start_new_session=True) as made:
        said = []
        try:
            for line in made.stdout:
                said.append(line)
                if line.startswith("listening on "):
                    break
            expect(said and said[-1].startswith("listening on "), f"make run: {''.join(said)}")
            with urllib.request.urlopen(said[-1].split()[2], timeout=20) as page:
                expect(page.status == 200 and b"<html" in page.read(), "make run serves another page")
        finally:
            with contextlib.suppress(ProcessLookupError):
                os.killpg(made.pid, signal.SIGTERM)
    wanted = " ".join(run("bash", ROOT / "tools/deps.sh", "--list", "test").split())
    inside(system, f"apt-get install --quiet --simulate --no-install-recommends {wanted}")


CASES = [package_contents, lintian, fresh_root, newcomer]
