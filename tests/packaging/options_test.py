#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Configuring: options that other projects have are understood or refused, and no file of the sources is replaced.

Usage: options_test.py BUILD_FOLDER      the folder is not used
"""
import pathlib
import shutil
import subprocess
import tempfile
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[2]
LITTLE = ["-DSKUA_BUILD_CLI=OFF", "-DSKUA_BUILD_BENCH=OFF", "-DSKUA_BUILD_FUZZ=OFF"]


def configure(source, build, *options):
    """Returns the exit code and all output."""
    done = subprocess.run(["cmake", "-S", str(source), "-B", str(build), *LITTLE, *options], capture_output=True, text=True, timeout=300, check=False)
    return done.returncode, " ".join((done.stdout + done.stderr).split())


def kept(build, name):
    cache = (pathlib.Path(build) / "CMakeCache.txt").read_text(encoding="utf-8")
    return next(line.partition("=")[2] for line in cache.splitlines() if line.startswith(f"{name}:"))


class Options(unittest.TestCase):
    def test_those_of_other_projects_set_ours(self):
        with tempfile.TemporaryDirectory() as build:
            code, text = configure(ROOT, build, "-DBUILD_TESTS=OFF", "-DBUILD_EXAMPLES=OFF")
            self.assertEqual(code, 0, text)
            self.assertIn("BUILD_TESTS=OFF is taken for SKUA_BUILD_TESTS", text)
            self.assertEqual([kept(build, "SKUA_BUILD_TESTS"), kept(build, "SKUA_BUILD_EXAMPLES")], ["OFF", "OFF"])
            code, text = configure(ROOT, build, "-DBUILD_EXAMPLES=ON")
            self.assertEqual((code, kept(build, "SKUA_BUILD_EXAMPLES")), (0, "ON"), text)

    def test_ours_go_before(self):
        with tempfile.TemporaryDirectory() as build:
            code, text = configure(ROOT, build, "-DBUILD_EXAMPLES=ON", "-DSKUA_BUILD_EXAMPLES=OFF", "-DSKUA_BUILD_TESTS=OFF")
            self.assertEqual((code, kept(build, "SKUA_BUILD_EXAMPLES")), (0, "OFF"), text)

    def test_a_sanitizer_that_would_be_missing_is_refused(self):
        for option, value in (("ENABLE_ASAN", "address,undefined"), ("USE_TSAN", "thread"), ("SANITIZE_UBSAN", "undefined")):
            with self.subTest(option), tempfile.TemporaryDirectory() as build:
                code, text = configure(ROOT, build, f"-D{option}=ON")
                self.assertNotEqual(code, 0)
                self.assertIn(f"{option} is not an option of skua: write -DSKUA_SANITIZE={value}", text)


class Sources(unittest.TestCase):
    def test_are_no_build_folder(self):
        with tempfile.TemporaryDirectory() as folder:
            for name in ("CMakeLists.txt", "Makefile"):
                shutil.copy(ROOT / name, folder)
            shutil.copytree(ROOT / "cmake", f"{folder}/cmake")
            code, text = configure(folder, folder)
            self.assertNotEqual(code, 0)
            self.assertIn("a folder of its own: cmake -B build", text)
            self.assertEqual(pathlib.Path(folder, "Makefile").read_bytes(), (ROOT / "Makefile").read_bytes())


if __name__ == "__main__":
    unittest.main(argv=[__file__, "-v"])
