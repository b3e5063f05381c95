#!/usr/bin/env bash
# Configures, builds and tests one preset. Usage: build_and_test.sh PRESET [JOBS [OPTION...]]
#   OPTION  for CMake, such as -DSKUA_TEST_FOLDERS=h1 for the tests of some folders only
# Tests of whole programs wait a lot: they run first, while the test programs are compiled with the time that is left.
set -euo pipefail
cd "$(dirname "$0")/.."
preset=$1
jobs=${2:-$(nproc)}

# GCC 12's ThreadSanitizer supports only older address space layouts; it works without randomisation.
run=()
if [ "$preset" = tsan ] && setarch "$(uname -m)" -R true 2>/dev/null; then run=(setarch "$(uname -m)" -R); fi

build() { cmake --build --preset "$preset" -j"$jobs" "$@"; }

# run_tests NAME OPTION...
reports=()
run_tests() {
  local results=$PWD/build/$preset/tests-$1.xml
  rm -f "$results"
  reports+=("$results")
  python3 tools/leftovers.py "build/$preset" "${run[@]}" ctest --preset "$preset" --output-junit "$results" \
    --test-output-size-passed 1000000 "${@:2}" && return
  python3 tools/failures.py "$results"
  return 1
}

bash tools/ahead.sh take "$preset"
cmake --preset "$preset" "${@:3}" --log-level=WARNING >/dev/null
whole='^(interop|attack)$'
if cmake --build --preset "$preset" --target help | grep '^whole-programs:' >/dev/null; then
  build --target whole-programs
  setsid bash tools/when_idle.sh cmake --build --preset "$preset" >"build/$preset/units.log" 2>&1 &
  units=$! status=0
  run_tests programs -L "$whole" || status=1
  kill -TERM -- "-$units" 2>/dev/null || true
  wait $units || true
  [ $status -eq 0 ] || exit 1
  build
  run_tests units -LE "$whole"
else
  build
  run_tests all
fi
python3 tools/skips.py "$preset" "${reports[@]}"
