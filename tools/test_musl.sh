#!/usr/bin/env bash
# Builds the library, the command, the examples and the tests with musl and libc++, linked statically and without
# optional libraries, and runs the tests of folders to which the C library, or a missing one, makes a difference.
# Usage: test_musl.sh [--prepare | JOBS [OPTION...]]
set -euo pipefail
cd "$(dirname "$0")/.."

bash tools/deps.sh musl
zig=0.17.1  # as in cmake/musl-clang++
if [ ! -d build/tools/zig-$zig ]; then
  python3 -m pip install -q --disable-pip-version-check --target build/tools/zig-$zig.new ziglang==$zig
  mv build/tools/zig-$zig.new build/tools/zig-$zig
fi
bash tools/sysroot.sh musl amd64 libcli11-dev nlohmann-json3-dev
[ "${1:-}" != --prepare ] || exit 0
bash tools/build_and_test.sh musl "$@"
