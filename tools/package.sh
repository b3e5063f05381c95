#!/usr/bin/env bash
# Makes Debian packages in build/package. Usage: package.sh
set -euo pipefail
cd "$(dirname "$0")/.."
out=$PWD/build/package
SOURCE_DATE_EPOCH=$(git log -1 --format=%ct)
export SOURCE_DATE_EPOCH
umask 022

for preset in packaged-shared packaged; do
  cmake --preset "$preset" --log-level=WARNING >/dev/null
  cmake --build --preset "$preset" -j"$(nproc)"
done

rm -rf "$out"
# The static build comes last: libskua-dev gets its skua.pc, which serves both libraries.
cpack --config build/packaged/CPackConfig.cmake -B "$out" -D CPACK_INSTALL_CMAKE_PROJECTS="\
$PWD/build/packaged-shared;skua;shared;/;$PWD/build/packaged;skua;static;/"
rm -rf "$out/_CPack_Packages"
