#!/usr/bin/env bash
# Configures, builds and tests one preset. Usage: build_and_test.sh PRESET [JOBS [OPTION...]]
#   OPTION  for CMake, such as -DSKUA_TEST_FOLDERS=h1 for the tests of some folders only
set -euo pipefail
cd "$(dirname "$0")/.."
preset=$1
jobs=${2:-$(nproc)}

cmake --preset "$preset" "${@:3}" --log-level=WARNING >/dev/null
cmake --build --preset "$preset" -j"$jobs"

# GCC 12's ThreadSanitizer supports only older address space layouts; it works without randomisation.
run=()
if [ "$preset" = tsan ] && setarch "$(uname -m)" -R true 2>/dev/null; then run=(setarch "$(uname -m)" -R); fi
results=$PWD/build/$preset/tests.xml
rm -f "$results"
python3 tools/leftovers.py "build/$preset" "${run[@]}" ctest --preset "$preset" --output-junit "$results" || {
  python3 tools/failures.py "$results"
  exit 1
}
