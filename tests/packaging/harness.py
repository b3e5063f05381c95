"""What the cases share: commands, builds, installations, and the program that consumes them."""
import functools
import os
import pathlib
import shlex
import shutil
import subprocess

ROOT = pathlib.Path(__file__).resolve().parents[2]
CONSUMER = pathlib.Path(__file__).resolve().parent / "consumer"
CXX = os.environ.get("CXX", "g++")
JOBS = str(os.cpu_count())

# A kind of library: its folder below build/, its preset, and what differs from the preset.
KINDS = {
    "static": ("packaged", "packaged", []),
    "shared": ("packaged-shared", "packaged-shared", []),
    "no-tls": ("packaged-no-tls", "packaged", ["-DSKUA_WITH_TLS=OFF", "-DSKUA_BUILD_CLI=OFF"]),
}


class Failure(Exception):
    pass


class Skipped(Exception):
    pass


def expect(condition: object, why: str) -> None:
    if not condition:
        raise Failure(why)


def attempt(*command: object, cwd: pathlib.Path = ROOT, **environment: str) -> tuple[bool, str]:
    """Runs a command; returns whether it succeeded, and its output."""
    done = subprocess.run([str(word) for word in command], cwd=cwd, env={**os.environ, **environment},
                          stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    return done.returncode == 0, done.stdout


def run(*command: object, cwd: pathlib.Path = ROOT, **environment: str) -> str:
    """Runs a command that has to succeed; returns its output."""
    good, output = attempt(*command, cwd=cwd, **environment)
    expect(good, f"{shlex.join(map(str, command))}\n{output}")
    return output


@functools.cache
def build(kind: str) -> pathlib.Path:
    """Builds a kind of library once; returns its build folder."""
    folder, preset, options = KINDS[kind]
    folder = ROOT / "build" / folder
    run("cmake", "--preset", preset, "-B", folder, *options)
    run("cmake", "--build", folder, "-j", JOBS)
    return folder


def install(kind: str, prefix: pathlib.Path) -> pathlib.Path:
    run("cmake", "--install", build(kind), "--prefix", prefix)
    return prefix


def files_below(folder: pathlib.Path) -> list[str]:
    return sorted(str(path.relative_to(folder)) for path in folder.rglob("*") if not path.is_dir() or path.is_symlink())


def configure(folder: pathlib.Path, *options: object) -> tuple[bool, str]:
    """Copies the consumer into a new folder and configures it; returns whether that succeeded, and the output."""
    source = folder / "consumer"
    if not source.exists():
        shutil.copytree(CONSUMER, source)
    return attempt("cmake", "-S", source, "-B", source / "build", "--fresh", "-G", "Ninja", "-DCMAKE_CXX_COMPILER=" + CXX,
                   *options)


def check_program(program: pathlib.Path, **environment: str) -> None:
    """Runs a program that the consumer was built to; it has to print `good`."""
    output = run(program, **environment)
    expect(output.strip() == "good", f"the program printed {output!r}")


def consume(folder: pathlib.Path, *options: object) -> pathlib.Path:
    """Builds the consumer with CMake and runs it; returns the program."""
    good, output = configure(folder, *options)
    expect(good, output)
    run("cmake", "--build", folder / "consumer" / "build", "-j", JOBS)
    program = folder / "consumer" / "build" / "consumer"
    check_program(program)
    return program


def refuse(folder: pathlib.Path, message: str, *options: object) -> None:
    """Configures the consumer, which has to fail with a message."""
    good, output = configure(folder, *options)
    expect(not good, f"configured with {options}")
    expect(message in " ".join(output.split()), f"no {message!r} in\n{output}")


def needed_libraries(program: pathlib.Path) -> str:
    return run("readelf", "--dynamic", program)
