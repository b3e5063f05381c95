#!/usr/bin/env python3
"""Rehearses a release in a clone: what tools/release.sh makes, and what it refuses.

Usage: release_test.py BUILD_FOLDER [--long] [TEST...]      --long also lets spdx-tools, from PyPI, judge the bill of materials
No program is built: the packages have tests of their own.
"""
import hashlib
import json
import pathlib
import re
import shutil
import subprocess
import sys
import tarfile
import tempfile
import unittest

from recipes_test import LONG, ROOT, TIMEOUT, output_of, tool


@unittest.skipUnless(shutil.which("dpkg-query"), "the bill of materials names Debian packages")
class Release(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        temporary = tempfile.TemporaryDirectory()
        cls.addClassCleanup(temporary.cleanup)
        cls.clone = pathlib.Path(temporary.name) / "clone"
        output_of("git", "clone", "--quiet", "--shared", ROOT, cls.clone)
        cls.base = output_of("git", "-C", cls.clone, "rev-parse", "HEAD").strip()
        cls.version = re.search(r'SKUA_VERSION_TEXT "(.*)"', (ROOT / "include/skua/release.hpp").read_text())[1]
        cls.made = cls.clone / "build/dist"

    def setUp(self):
        self.git("checkout", "--quiet", "--force", "-B", "main", self.base)
        self.git("clean", "-fdxq")
        if tags := self.git("tag").split():
            self.git("tag", "--delete", *tags)
        self.release_changes()
        self.commit("docs: nothing")

    def git(self, *words: str) -> str:
        return output_of("git", "-C", self.clone, "-c", "user.name=Test", "-c", "user.email=test@example.org", *words)

    def commit(self, subject: str):
        """Commits everything, as if CI had passed on it."""
        self.git("commit", "--quiet", "--all", "--allow-empty", "--message", subject)
        (self.clone / "build").mkdir(exist_ok=True)
        (self.clone / "build/ci-passed").write_text(self.git("rev-parse", "HEAD"))

    def release_changes(self):
        """Moves unreleased changes to the section of the version, as the commit of a release does."""
        path = self.clone / "CHANGELOG.md"
        before, _, after = path.read_text().partition("\n## [Unreleased]\n")
        changes, _, released = after.partition("\n## [")
        heading, _, entries = released.partition("\n")
        path.write_text(f"{before}\n## [Unreleased]\n\n## [{heading}\n{changes}{entries}")

    def edit(self, name: str, before: str, after: str):
        path = self.clone / name
        text = path.read_text()
        self.assertIn(before, text, name)
        path.write_text(text.replace(before, after, 1))

    def rehearse(self, *words: str, code: int = 0) -> str:
        done = subprocess.run(["bash", "tools/release.sh", "--sources", *words], cwd=self.clone, text=True, timeout=TIMEOUT,
                              stdout=subprocess.PIPE, stderr=subprocess.STDOUT, check=False)
        self.assertEqual(done.returncode, code, done.stdout)
        return done.stdout

    def read(self, ending: str) -> bytes:
        return (self.made / f"skua-{self.version}{ending}").read_bytes()

    def test_makes_what_is_published(self):
        self.assertIn(f"a rehearsal; --tag would make the tag v{self.version}\n", self.rehearse())
        self.assertEqual(self.git("tag"), "")
        self.assertEqual(sorted(path.name for path in self.made.iterdir()),
                         sorted(["SHA256SUMS", "release-notes.md", *(f"skua-{self.version}{ending}" for ending in
                                                                     ("-recipes.tar.gz", ".spdx.json", ".tar.gz"))]))
        output_of("sha256sum", "--strict", "--check", "SHA256SUMS", cwd=self.made)
        digest = hashlib.sha256(self.read(".tar.gz")).hexdigest()
        with tarfile.open(self.made / f"skua-{self.version}-recipes.tar.gz") as recipes:
            self.assertIn(digest.encode(), recipes.extractfile("./conan/conandata.yml").read())
        with tarfile.open(self.made / f"skua-{self.version}.tar.gz") as sources:
            names = set(sources.getnames())
        tracked = {f"skua-{self.version}/{name}" for name in self.git("ls-files").splitlines()}
        self.assertLessEqual(tracked, names)
        notes = (self.made / "release-notes.md").read_text()
        self.assertIn("\n### Added\n", notes)
        self.assertNotIn("\n## ", notes)

    def test_makes_the_same_again(self):
        self.rehearse()
        before = {path.name: path.read_bytes() for path in self.made.iterdir()}
        for path in self.clone.rglob("*.md"):
            path.touch()
        self.rehearse()
        self.assertEqual(before, {path.name: path.read_bytes() for path in self.made.iterdir()})

    def test_lists_every_library(self):
        self.rehearse()
        bill = json.loads(self.read(".spdx.json"))
        self.assertEqual((bill["spdxVersion"], bill["name"]), ("SPDX-2.3", f"skua-{self.version}"))
        packages = {one["name"]: one for one in bill["packages"]}
        # The names of the sources of the libraries in the options of the build.
        options = re.findall(r"\(SKUA_WITH_(\w+) ", (ROOT / "cmake/SkuaOptions.cmake").read_text())
        expected = {{"IO_URING": "liburing", "TLS": "openssl"}.get(name, name.lower()) for name in options}
        linked = {one["relatedSpdxElement"] for one in bill["relationships"]
                  if (one["spdxElementId"], one["relationshipType"]) == ("SPDXRef-skua-library", "DEPENDS_ON")}
        self.assertEqual({packages[name]["SPDXID"] for name in expected}, linked)
        for one in packages.values():
            self.assertRegex(one["versionInfo"], r"^\d+(\.\d+)+[a-z]?$")
        self.assertEqual(packages["skua-source"]["checksums"][0]["checksumValue"],
                         hashlib.sha256(self.read(".tar.gz")).hexdigest())
        if LONG:
            output_of(*tool("pyspdxtools", "spdx-tools"), "--infile", self.made / f"skua-{self.version}.spdx.json")

    def test_tags_only_with_programs(self):
        self.assertIn("not --sources", self.rehearse("--tag", code=2))
        self.assertIn("Usage: release.sh", self.rehearse("--nonsense", code=2))

    def test_refuses_another_branch_or_commit(self):
        self.git("checkout", "--quiet", "-b", "other")
        self.assertEqual(self.rehearse(code=1), "release: the branch is not main\n")
        self.git("checkout", "--quiet", "main")
        self.git("commit", "--quiet", "--allow-empty", "--message", "docs: nothing more")
        self.assertEqual(self.rehearse(code=1), "release: .ci/run has not passed on this commit\n")

    def test_refuses_changes_that_are_not_committed(self):
        (self.clone / "new").touch()
        self.assertEqual(self.rehearse(code=1), "release: there are changes that are not committed\n")

    def test_refuses_a_tag_that_exists(self):
        self.git("tag", f"v{self.version}")
        self.assertEqual(self.rehearse(code=1), f"release: the tag v{self.version} exists already\n")

    def test_refuses_pages_that_disagree(self):
        self.edit("CHANGELOG.md", f"## [{self.version}] - ", f"## [{self.version}] ")
        self.edit("CHANGELOG.md", "## [Unreleased]\n", "## [Unreleased]\n\n- A change\n")
        self.edit("include/skua/release.hpp", "#define SKUA_VERSION ", "#define SKUA_VERSION 9")
        self.edit("SECURITY.md", f"| {self.version.rpartition('.')[0]} |", "| 9.9 |")
        self.commit("docs: disagreement")
        said = self.rehearse(code=1)
        for text in ("CHANGELOG.md has no dated section", "CHANGELOG.md has unreleased changes", "SKUA_VERSION is 9",
                     "SECURITY.md does not say"):
            self.assertIn(f"release: {text}", said)
        self.assertEqual(said.count("release: "), 4, said)


if __name__ == "__main__":
    unittest.main(argv=[sys.argv[0], *sys.argv[2 + LONG:]])
