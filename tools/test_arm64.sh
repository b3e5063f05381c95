#!/usr/bin/env bash
# Cross-compiles the library, the command, the examples and the unit tests for 64-bit ARM, and runs the tests under
# QEMU, which has no io_uring: tests of it are skipped, and say so. Usage: test_arm64.sh [--prepare | JOBS [OPTION...]]
set -euo pipefail
cd "$(dirname "$0")/.."

bash tools/deps.sh arm64
bash tools/sysroot.sh arm64 arm64 libssl-dev zlib1g-dev libbrotli-dev libzstd-dev libexpat1-dev liburing-dev libnghttp2-dev \
  libgtest-dev libcli11-dev nlohmann-json3-dev
[ "${1:-}" != --prepare ] || exit 0
bash tools/build_and_test.sh arm64 "$@"
