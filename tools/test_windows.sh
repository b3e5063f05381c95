#!/usr/bin/env bash
# Cross-compiles the library and the tests of its loop for Windows and runs them under Wine. Prints what is left out, and why.
# Usage: test_windows.sh [JOBS]
set -euo pipefail
cd "$(dirname "$0")/.."
jobs=${1:-2}
skips=tests/windows_skips.txt
tests="loop loop-behaviour"
built=()
for test in $tests; do built+=("test-$test"); done

cmake --preset mingw --log-level=WARNING >/dev/null
cmake --build --preset mingw -j"$jobs" --target "${built[@]}"

export WINEPREFIX=$PWD/build/mingw/wine WINEDEBUG=-all
trap 'wineserver -k 2>/dev/null || true' EXIT
echo "left out on Windows:"
grep -E '^(file|test) ' "$skips"
filter="-$(sed -nE 's/^test ([^:]+):.*/\1/p' "$skips" | paste -sd:)"
for test in "${built[@]}"; do
  echo "$test"
  timeout 400 wine "build/mingw/bin/$test.exe" --gtest_brief=1 --gtest_filter="$filter"
done
