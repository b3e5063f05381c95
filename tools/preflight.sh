#!/usr/bin/env bash
# Runs most of CI in minutes: cheap steps that are likely to fail come first; everything is compiled, for all
# platforms, but only the tests of changed folders run under sanitizers, and none of other platforms.
# Usage: preflight.sh [BASE]      the change is BASE..HEAD; default: origin/main, or the last 20 commits.
# On success writes the commit to build/preflight.
set -euo pipefail
cd "$(dirname "$0")/.."
. tools/steps.sh
commit=$(git rev-parse HEAD)
base=${1:-$(git merge-base HEAD origin/main 2>/dev/null || true)}
[ -n "$base" ] && [ "$base" != "$commit" ] || base=$(git rev-list --max-count=20 HEAD | tail -n 1)
[ -z "$(git status --porcelain)" ] || { echo "preflight: commit first; CI sees only committed files" >&2; exit 1; }

# Prints a regular expression for the ctest labels that a change affects: folders of src/ and tests/, or all.
touched() {
  local files
  files=$(git diff --name-only "$base" HEAD)
  if grep -qE '^(include/|src/base/|cmake/|CMake|tests/support/)' <<<"$files"; then echo '.'; return; fi
  files=$(sed -nE 's#^(src|tests)/([^/]+)/.*#\2#p; s#^(cli|fuzz)/.*#\1#p' <<<"$files" | sort -u | paste -sd'|')
  echo "^(${files:-none})\$"
}

# Instructions are counted in the programs that the release build has made.
regress() {
  if git diff --quiet "$base" HEAD -- include src cli bench cmake CMakeLists.txt CMakePresets.json; then
    echo "nothing that is counted has changed"
  else
    bench/regress
  fi
}

build() { cmake --preset "$1" --log-level=WARNING >/dev/null && cmake --build --preset "$1" -j"$(nproc)"; }

# Compiles for the platforms that other libraries and compilers belong to.
platforms() {
  bash tools/test_musl.sh --prepare && build musl && bash tools/test_arm64.sh --prepare && build arm64 &&
    bash tools/test_windows.sh --prepare && build mingw
}

step "packages" bash tools/deps.sh ci arm64 musl windows
step "commit subjects" python3 tools/check_commits.py
step "checks of the source" bash tools/check.sh
step "API reference and guides" python3 tools/check_docs.py
step "build: GCC release, tests, benchmarks" build release
step "build: Clang, sanitizers, fuzz targets" build asan
step "clang-tidy" bash tools/tidy.sh
step "tests: release" python3 tools/leftovers.py build/release ctest --preset release -LE '^(interop|attack)$'
step "instructions, compared with bench/regress.json" regress
step "tests: sanitizers, $(touched)" python3 tools/leftovers.py build/asan ctest --preset asan -L "$(touched)" -LE '^(interop|attack)$'
step "tests: fuzz targets, their corpus and some inputs each" env SKUA_FUZZ_SEED=1 bash tools/fuzz.sh 1 "$(nproc)" asan
step "build: musl and libc++, 64-bit ARM, Windows" platforms
steps_summary
echo "$commit" >build/preflight
