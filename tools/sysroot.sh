#!/usr/bin/env bash
# Unpacks Debian packages for cross-compilation into build/sysroot/NAME; installs nothing, and needs no root.
# Usage: sysroot.sh NAME ARCHITECTURE PACKAGE...      does nothing if NAME holds these packages
# Dependencies are not followed. Shared libraries are left out: without their runtime packages they are dangling
# links, and programs that link the static ones run anywhere.
set -euo pipefail
cd "$(dirname "$0")/.."
root=build/sysroot/$1
architecture=$2
shift 2
[ "$(cat "$root/packages" 2>/dev/null)" = "$*" ] && exit 0

# A package database of its own, so that the system's stays as it is.
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
mkdir -p "$work"/{lists,cache/archives}/partial "$work/packages"
touch "$work/status"
apt() {
  apt-get -q -o Dir::State="$work" -o Dir::State::status="$work/status" -o Dir::Cache="$work/cache" \
    -o APT::Sandbox::User="$(id -un)" -o APT::Architecture="$architecture" -o APT::Architectures="$architecture" \
    "$@" >"$work/log" 2>&1 </dev/null || { tail -n 20 "$work/log" >&2; echo "sysroot.sh: apt-get $1 failed" >&2; return 1; }
}
apt update
(cd "$work/packages" && apt download "$@")

rm -rf "$root"
mkdir -p "$root"
for package in "$work"/packages/*.deb; do dpkg-deb --extract "$package" "$root"; done
find "$root" -name '*.so' -delete
echo "$*" >"$root/packages"
