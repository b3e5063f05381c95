#!/usr/bin/env bash
# Formats every C++ file; with --check only lists unformatted files. The clang-format version is pinned,
# because others format differently. If it is not installed, the check is skipped, except in CI.
set -euo pipefail
cd "$(dirname "$0")/.."
formatter=${CLANG_FORMAT:-clang-format-19}

if ! command -v "$formatter" >/dev/null; then
  echo "$formatter is not installed (bash tools/deps.sh ci): formatting was not checked"
  [ "${1:-}" = --check ] && [ -z "${CI:-}" ]
  exit
fi
mode=(-i)
[ "${1:-}" = --check ] && mode=(--dry-run -Werror)
find src include cli examples tests fuzz bench -name '*.[ch]pp' -print0 2>/dev/null |
  xargs -0 -r -n 16 -P "$(nproc)" "$formatter" "${mode[@]}"
