"""Third-party packages, installed on first use into a cache beside the built programs, and nowhere else."""
import os
import pathlib
import shutil
import subprocess
import sys

INSTALL_SECONDS = 240


def cache_of(program: str | pathlib.Path) -> pathlib.Path:
    """`build/PRESET/tools`, for a program in `build/PRESET/bin`."""
    return pathlib.Path(program).resolve().parent.parent / "tools"


class Failure(Exception):
    """A package or program that cannot be made here; the text says why."""


def make(folder: pathlib.Path, *commands: list[str], seconds: float = INSTALL_SECONDS, **environment: str) -> None:
    """Runs `commands` to make `folder`, each for at most `seconds`; {} is a temporary folder. Raises Failure.

    The temporary folder is renamed once all commands have succeeded, so that `folder` is never incomplete.
    """
    making = folder.with_name(f"{folder.name}.{os.getpid()}")
    making.mkdir(parents=True, exist_ok=True)
    variables = {**os.environ, **{name: value.replace("{}", str(making)) for name, value in environment.items()}}
    try:
        for command in commands:
            words = [word.replace("{}", str(making)) for word in command]
            code, said = run(words, making, variables, seconds)
            if code:
                raise Failure(f"{' '.join(words)}: {said[-600:]}")
        making.rename(folder)
    except subprocess.TimeoutExpired as error:
        raise Failure(f"{' '.join(error.cmd)} took too long") from error
    except OSError as error:
        raise Failure(f"{folder}: {error}") from error
    finally:
        shutil.rmtree(making, ignore_errors=True)


def run(words: list[str], folder: pathlib.Path, environment: dict[str, str], seconds: float) -> tuple[int, str]:
    """Returns the exit code and the output of a command, which ends with this process unless that is killed."""
    with subprocess.Popen(words, cwd=folder, env=environment, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True) as process:
        try:
            said, _ = process.communicate(timeout=seconds)
        except BaseException:
            process.terminate()  # not SIGKILL: timeout(1) has to end its own children
            try:
                process.wait(10)
            except subprocess.TimeoutExpired:
                process.kill()
            raise
    return process.returncode, said


def provide(folder: pathlib.Path, *commands: list[str], **environment: str) -> bool:
    """Makes `folder` if it is missing, as `make` does; prints what fails. Reports whether `folder` exists."""
    if not folder.exists():
        try:
            make(folder, *commands, **environment)
        except Failure as failure:
            print(failure)
    return folder.exists()


def node(cache: pathlib.Path, package: str) -> dict[str, str] | None:
    """Returns an environment in which `require` finds an npm package (`ws@8`)."""
    folder = cache / f"node-{package.replace('/', '-')}"
    if not (shutil.which("node") and shutil.which("npm")):
        return print(f"node: {package} skipped, Node with npm is not installed")
    command = ["npm", "install", "--prefix", "{}", "--no-audit", "--no-fund", "--no-package-lock", package]
    return {**os.environ, "NODE_PATH": str(folder / "node_modules")} if provide(folder, command) else None


def python(cache: pathlib.Path, package: str) -> dict[str, str] | None:
    """Returns an environment in which this Python finds a package (`websockets==15.*`)."""
    folder = cache / f"python-{package.rstrip('.*').replace('==', '-')}"
    command = [sys.executable, "-m", "pip", "install", "-q", "--disable-pip-version-check", "--target", "{}", package]
    return {**os.environ, "PYTHONPATH": str(folder)} if provide(folder, command) else None


def go(cache: pathlib.Path, source: pathlib.Path, *modules: str) -> str | None:
    """Builds a program from one Go file and the modules it imports (`example.org/module@v1.2.3`)."""
    if not shutil.which("go"):
        return print(f"go: {source.name} skipped, Go is not installed")
    # The name includes the source's modification time, so that changes trigger a rebuild.
    folder = cache / f"go-{source.stem}-{source.stat().st_mtime_ns}"
    commands = [["go", "mod", "init", source.stem], ["cp", str(source), "{}/main.go"],
                *([["go", "get", *modules]] if modules else []), ["go", "build", "-o", "{}/" + source.stem, "."]]
    return str(folder / source.stem) if provide(folder, *commands) else None
