#!/usr/bin/env bash
# Runs all checks that need no build. A failure does not stop it, so one run shows every problem.
set -uo pipefail
cd "$(dirname "$0")/.."
failed=()

check() {
  local name=$1
  shift
  "$@" || failed+=("$name")
}

roots=()
for root in src include cli examples tests fuzz bench; do [ -d "$root" ] && roots+=("$root"); done

# The results of the selftest depend only on the checks and the compilers.
selftest() {
  local state passed=build/checks/selftest
  state=$(cat tools/*.* <("${CXX:-g++}" --version) <(clang++-19 --version 2>&1) | sha256sum)
  [ "$state" = "$(cat $passed 2>&1)" ] && return
  bash tools/selftest.sh && mkdir -p build/checks && echo "$state" >$passed
}

check "the checks themselves" selftest
check layers python3 tools/check_layers.py src/LAYERS src include
check sizes python3 tools/check_sizes.py "${roots[@]}"
check coroutines python3 tools/check_coroutines.py "${roots[@]}"
check extensions python3 tools/check_extensions.py src include cli examples
check types python3 tools/check_types.py "${roots[@]}"
check times python3 tools/check_times.py src include cli examples
check locale python3 tools/check_locale.py src include cli
check callbacks python3 tools/check_callbacks.py include tests
check comments python3 tools/check_comments.py "${roots[@]}"
check problems python3 tools/check_problems.py include src tests
check paths python3 tools/check_paths.py .
check format bash tools/format.sh --check
check headers python3 tools/check_headers.py include
check snippets python3 tools/check_snippets.py .
check pages python3 tools/check_pages.py .
check words python3 tools/check_words.py .

if [ ${#failed[@]} -gt 0 ]; then
  printf 'failed: %s\n' "${failed[*]}"
  exit 1
fi
echo "all checks passed"
