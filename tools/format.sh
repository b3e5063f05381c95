#!/usr/bin/env bash
# Formats every C++ file, or with --check only says which are not formatted. The version is pinned:
# another one formats differently. Without it a check is skipped, but not in CI.
set -euo pipefail
cd "$(dirname "$0")/.."
formatter=${CLANG_FORMAT:-clang-format-19}

if ! command -v "$formatter" >/dev/null; then
  echo "$formatter is not installed (bash tools/deps.sh ci): the format was not checked"
  [ "${1:-}" = --check ] && [ -z "${CI:-}" ]
  exit
fi
mode=(-i)
[ "${1:-}" = --check ] && mode=(--dry-run -Werror)
find src include cli examples tests fuzz bench -name '*.[ch]pp' -print0 2>/dev/null |
  xargs -0 -r -n 16 -P "$(nproc)" "$formatter" "${mode[@]}"
