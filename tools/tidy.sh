#!/usr/bin/env bash
# Runs clang-tidy over the sources of the library and of the command, not over tests.
# Usage: tidy.sh [FILE...]      without files: all; needs Clang 19
set -euo pipefail
cd "$(dirname "$0")/.."

cmake --preset clang --log-level=WARNING >/dev/null
if [ $# -gt 0 ]; then
  files=("$@")
else
  mapfile -t files < <(find src cli -name '*.cpp' ! -name '*_test.cpp' ! -name '*_bench.cpp' 2>/dev/null | sort)
fi
[ ${#files[@]} -eq 0 ] && exit 0
# What is in an optional back end that this machine cannot build is in no compilation database either.
printf '%s\0' "${files[@]}" |
  xargs -0 -n 1 -P "$(nproc)" clang-tidy-19 --quiet --warnings-as-errors='*' -p build/clang 2> >(
    grep -v -E '^[0-9]+ warnings? |^Suppressed |^Use -header-filter|^\[[0-9/]+\]' >&2 || true)
