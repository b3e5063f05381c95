#!/usr/bin/env bash
# Cross-compiles the library, the command, the examples and the tests for 64-bit Windows, and runs the tests under Wine.
# tests/windows_skips.txt says what is left out, and why. Usage: test_windows.sh [--prepare | JOBS [OPTION...]]
set -euo pipefail
cd "$(dirname "$0")/.."

bash tools/deps.sh windows
bash tools/sysroot.sh mingw amd64 libcli11-dev nlohmann-json3-dev
[ "${1:-}" != --prepare ] || exit 0
# Without its debugger, Wine ends a program that crashed with 5; with it, mostly with 0.
export WINEPREFIX=$PWD/build/mingw/wine WINEDEBUG=-all,err+seh WINEDLLOVERRIDES="mscoree,mshtml,winedbg.exe="
mkdir -p "$WINEPREFIX"
wineserver --persistent  # for all tests, and no longer
trap 'wineserver --kill' EXIT
wineboot --init
echo "left out on Windows:"
grep -E '^(file|test) ' tests/windows_skips.txt
bash tools/build_and_test.sh mingw "$@"
