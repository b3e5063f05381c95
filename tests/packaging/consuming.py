"""Cases on one machine: ways to find an installed skua, or to build it as a part of another project."""
import concurrent.futures
import pathlib
import shutil

import exports
from harness import (CONSUMER, CXX, JOBS, ROOT, attempt, build, check_program, configure, consume, expect,
                     files_below, install, needed_libraries, refuse, run)


def find_package_static(folder: pathlib.Path) -> None:
    prefix = install("static", folder / "prefix")
    program = consume(folder, f"-DCMAKE_PREFIX_PATH={prefix}", "-DSKUA_WANTED=0.1", "-DSKUA_COMPONENTS=tls;zlib;static")
    expect("libskua" not in needed_libraries(program), "the program needs a shared skua")


def find_package_shared(folder: pathlib.Path) -> None:
    prefix = install("shared", folder / "prefix")
    # What a shared library uses itself is not the business of its users.
    program = consume(folder, f"-DCMAKE_PREFIX_PATH={prefix}", "-DSKUA_COMPONENTS=tls",
                      "-DCMAKE_DISABLE_FIND_PACKAGE_OpenSSL=ON", "-DCMAKE_CXX_VISIBILITY_PRESET=hidden")
    needed = needed_libraries(program)
    expect("libskua.so.0.1" in needed and "libssl" not in needed, needed)


def find_package_both(folder: pathlib.Path) -> None:
    prefix = install("static", install("shared", folder / "prefix"))
    wanted = f"-DCMAKE_PREFIX_PATH={prefix}"
    expect("libskua.so" in needed_libraries(consume(folder / "any", wanted)), "shared is not the default")
    expect("libskua.so" not in needed_libraries(consume(folder / "static", wanted, "-DSKUA_COMPONENTS=static")),
           "the component static is ignored")


def versions(folder: pathlib.Path) -> None:
    prefix = f"-DCMAKE_PREFIX_PATH={install('static', folder / 'prefix')}"
    for version in ("9.9", "0.2", "0.0", "1"):
        refuse(folder, f'compatible with requested version "{version}"', prefix, f"-DSKUA_WANTED={version}")
    for version in ("0.1", "0.1.0"):
        good, output = configure(folder, prefix, f"-DSKUA_WANTED={version}")
        expect(good, output)


def components(folder: pathlib.Path) -> None:
    prefix = f"-DCMAKE_PREFIX_PATH={install('no-tls', folder / 'prefix')}"
    has = "it has static, io_uring, zlib, brotli, zstd, expat"
    for component in ("tls", "shared", "gull"):
        refuse(folder, f"this skua was built without {component}; {has}", prefix, f"-DSKUA_COMPONENTS=zlib;{component}")
    shared = f"-DCMAKE_PREFIX_PATH={install('shared', folder / 'shared')}"
    refuse(folder, "this skua was built without static; it has shared, io_uring", shared, "-DSKUA_COMPONENTS=static")
    # A library without TLS needs no OpenSSL.
    program = consume(folder, prefix, "-DSKUA_COMPONENTS=zlib", "-DCMAKE_DISABLE_FIND_PACKAGE_OpenSSL=ON")
    expect("libssl" not in needed_libraries(program), "the program needs OpenSSL")


def missing_dependencies(folder: pathlib.Path) -> None:
    prefix = f"-DCMAKE_PREFIX_PATH={install('static', folder / 'prefix')}"
    refuse(folder, "needs libraries that were not found, or not their headers: libssl and libcrypto (Debian: libssl-dev)",
           prefix, "-DCMAKE_DISABLE_FIND_PACKAGE_OpenSSL=ON")
    refuse(folder, "libbrotlienc and libbrotlidec (Debian: libbrotli-dev), libzstd (Debian: libzstd-dev)", prefix,
           "-DCMAKE_IGNORE_PATH=/usr/include")


def pkg_config_program(folder: pathlib.Path, prefix: pathlib.Path, options: str) -> pathlib.Path:
    """Compiles the consumer with the flags of pkg-config."""
    [packages] = prefix.rglob("pkgconfig")
    program = folder / "consumer"
    run("bash", "-c", f'eval "$0" -std=c++20 -o \'"$1"\' \'"$2"\' $(pkg-config {options} --cflags --libs skua)', CXX,
        program, CONSUMER / "main.cpp", PKG_CONFIG_PATH=str(packages))
    return program


def pkg_config_static(folder: pathlib.Path) -> None:
    check_program(pkg_config_program(folder, install("static", folder / "prefix"), "--static"))


def pkg_config_shared(folder: pathlib.Path) -> None:
    prefix = install("shared", folder / "prefix")
    [library] = prefix.rglob("libskua.so")
    check_program(pkg_config_program(folder, prefix, ""), LD_LIBRARY_PATH=str(library.parent))


def moved_prefix(folder: pathlib.Path) -> None:
    old = install("static", install("shared", folder / "prefix"))
    for file in (*old.rglob("*.cmake"), *old.rglob("*.pc")):
        for path in (ROOT, folder):
            expect(str(path) not in file.read_text(), f"{file} has the absolute path {path}")
    prefix = old.rename(folder / "moved")
    consume(folder / "static", f"-DCMAKE_PREFIX_PATH={prefix}", "-DSKUA_COMPONENTS=static")
    consume(folder / "shared", f"-DCMAKE_PREFIX_PATH={prefix}", "-DSKUA_COMPONENTS=shared")
    [library] = prefix.rglob("libskua.so")
    check_program(pkg_config_program(folder, prefix, "--static"), LD_LIBRARY_PATH=str(library.parent))


def destdir_and_uninstall(folder: pathlib.Path) -> None:
    stage = folder / "stage"
    run("cmake", "--install", build("static"), DESTDIR=str(stage))
    files = files_below(stage)
    expect("usr/bin/skua" in files and "usr/include/skua/server.hpp" in files, f"installed {files}")
    for file in files:
        expect(not file.endswith((".cpp", ".o")) and "skua-fast" not in file, f"{file} is internal")
    headers = {path.removeprefix("usr/include/") for path in files if path.startswith("usr/include/")}
    expect(headers == set(files_below(ROOT / "include")), f"the headers are {headers}")
    run("cmake", "--build", build("static"), "--target", "uninstall", DESTDIR=str(stage))
    expect(files_below(stage) == [], f"left are {files_below(stage)}")
    expect(not [path for path in stage.rglob("skua")], "a folder of skua is left")


def link_time_optimization(folder: pathlib.Path) -> None:
    prefix = install("static", folder / "prefix")
    consume(folder, f"-DCMAKE_PREFIX_PATH={prefix}", "-DCMAKE_INTERPROCEDURAL_OPTIMIZATION=ON", "-DCMAKE_BUILD_TYPE=Release")


def sanitizers(folder: pathlib.Path) -> None:
    """Only the program is instrumented, not the library."""
    for kind in ("static", "shared"):
        prefix = install(kind, folder / kind / "prefix")
        consume(folder / kind, f"-DCMAKE_PREFIX_PATH={prefix}",
                "-DCMAKE_CXX_FLAGS=-fsanitize=address,undefined -fno-sanitize-recover=all -D_GLIBCXX_ASSERTIONS -O1")


def clone(target: pathlib.Path) -> None:
    run("git", "clone", "--quiet", "--depth", "1", ROOT.as_uri(), target)


# Where FetchContent puts its sources, so that both cases have the same paths and share the compiler's cache.
def subproject_options(folder: pathlib.Path) -> list[str]:
    third_party = folder / "consumer" / "third_party"
    options = [f"-DFETCHCONTENT_BASE_DIR={third_party}", "-DSKUA_UNITY=ON", "-DCMAKE_BUILD_TYPE=Debug"]
    if shutil.which("ccache"):
        options += [f"-DCMAKE_CXX_COMPILER_LAUNCHER=cmake;-E;env;CCACHE_BASEDIR={folder};CCACHE_NOHASHDIR=1;ccache"]
    return options


def add_subdirectory(folder: pathlib.Path) -> None:
    clone(folder / "consumer" / "third_party" / "skua-src")
    shutil.copytree(CONSUMER, folder / "consumer", dirs_exist_ok=True)
    consume(folder, "-DSKUA_FROM=folder", *subproject_options(folder))
    # The consumer's own installation has nothing of skua.
    run("cmake", "--install", folder / "consumer" / "build", "--prefix", folder / "prefix")
    expect(not (folder / "prefix").exists(), "skua was installed, too")


def fetch_content(folder: pathlib.Path) -> None:
    commit = run("git", "rev-parse", "HEAD").strip()
    git = [f"-DSKUA_REPOSITORY={ROOT.as_uri()}", f"-DSKUA_TAG={commit}"]
    consume(folder, "-DSKUA_FROM=git", *git, *subproject_options(folder))


def fetch_content_installed(folder: pathlib.Path) -> None:
    """An installed skua is used, and nothing is fetched."""
    prefix = install("static", folder / "prefix")
    consume(folder, "-DSKUA_FROM=git-or-installed", "-DSKUA_REPOSITORY=file:///nowhere", "-DSKUA_TAG=none",
            f"-DCMAKE_PREFIX_PATH={prefix}")


def exported_symbols(folder: pathlib.Path) -> None:
    """The shared library exports what the public headers declare, and nothing else."""
    problems = exports.compare(ROOT / "include", build("shared") / "libskua.so", build("static") / "libskua.a")
    expect(not problems, "\n".join(problems))


def shared_with_tests_is_refused(folder: pathlib.Path) -> None:
    good, output = attempt("cmake", "-S", ROOT, "-B", folder, "-DBUILD_SHARED_LIBS=ON", "-DSKUA_BUILD_TESTS=ON")
    expect(not good and "exports its public API only" in output, output)


def examples(folder: pathlib.Path) -> None:
    """Every example works with the shared library."""
    prefix = install("shared", folder / "prefix")
    [library] = prefix.rglob("libskua.so")

    def compiled(source: pathlib.Path) -> pathlib.Path:
        program = folder / f"example-{source.stem}"
        run(CXX, "-std=c++20", "-I", prefix / "include", source, "-L", library.parent, "-lskua", "-o", program)
        return program

    with concurrent.futures.ThreadPoolExecutor(int(JOBS)) as pool:
        programs = list(pool.map(compiled, sorted((ROOT / "examples").glob("*.cpp"))))
    for program in programs:
        run("python3", ROOT / "examples" / "examples_test.py", program.name.removeprefix("example-"), program,
            LD_LIBRARY_PATH=str(library.parent))


CASES = [find_package_static, find_package_shared, find_package_both, versions, components, missing_dependencies,
         pkg_config_static, pkg_config_shared, moved_prefix, destdir_and_uninstall, link_time_optimization, sanitizers,
         add_subdirectory, fetch_content, fetch_content_installed, exported_symbols, shared_with_tests_is_refused,
         examples]
