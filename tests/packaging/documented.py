"""Cases that follow the documentation."""
import pathlib
import re

from harness import ROOT, install, run

BLOCK = re.compile(r"^```cmake\n(.*?)^```$", re.M | re.S)
PROJECT = "cmake_minimum_required(VERSION 3.24)\nproject(app LANGUAGES CXX)\nadd_executable(app main.cpp)\n"


def documented_cmake(folder: pathlib.Path) -> None:
    """Every block of CMake that the pages show configures, and finds skua installed or in third_party/skua."""
    prefix = install("static", folder / "prefix")
    for page in ("README.md", "docs/guide/installing.md"):
        for number, block in enumerate(BLOCK.findall((ROOT / page).read_text()), 1):
            source = folder / pathlib.Path(page).stem / str(number)
            (source / "third_party").mkdir(parents=True)
            (source / "third_party" / "skua").symlink_to(ROOT)
            (source / "main.cpp").write_text("#include <skua.hpp>\nint main() {}\n")
            (source / "CMakeLists.txt").write_text(PROJECT + block)
            run("cmake", "-S", source, "-B", source / "build", "-G", "Ninja", f"-DCMAKE_PREFIX_PATH={prefix}")


CASES = [documented_cmake]
