#!/usr/bin/env bash
# Cuts a release of the commit that is checked out: checks it, makes what is published, and tags it.
# Usage: release.sh [--sources] [--tag]
#   --sources  builds no program, so the command and the Debian packages are left out
#   --tag      tags the commit; without it this is a rehearsal
# Everything is written to build/dist, and is the same whenever and wherever it is made from the same commit.
set -euo pipefail
cd "$(dirname "$0")/.."
programs=yes tag=
for word in "$@"; do
  case $word in
    --sources) programs= ;;
    --tag) tag=yes ;;
    *) sed -n 's/^# //p' "$0" >&2; exit 2 ;;
  esac
done
[ -z "$tag" ] || [ -n "$programs" ] || { echo "release: a tagged release has its programs: not --sources" >&2; exit 2; }

version=$(sed -nE 's/^#define SKUA_VERSION_TEXT "(.*)"$/\1/p' include/skua/release.hpp)
number=$(sed -nE 's/^#define SKUA_VERSION ([0-9]+)$/\1/p' include/skua/release.hpp)
commit=$(git rev-parse HEAD)
out=build/dist

# Prints the section of a version in the changelog, without its heading.
notes() { awk -v heading="## [$1]" '/^## / { on = index($0, heading) == 1; next } on' CHANGELOG.md; }

# pack NAME FOLDER PART: makes NAME.tar.gz of PART of FOLDER
pack() {
  tar --create --directory="$2" --sort=name --mtime="@$SOURCE_DATE_EPOCH" --owner=0 --group=0 --numeric-owner \
    --mode=u+rw,go=rX "$3" | gzip -9n >"$out/$1.tar.gz"
}

problems=0
# require TEXT COMMAND...: if COMMAND fails, TEXT is a problem
require() {
  local text=$1
  shift
  "$@" >/dev/null 2>&1 || { echo "release: $text" >&2; problems=$((problems + 1)); }
}
is_equal() { [ "$1" = "$2" ]; }
number_of() { awk -F. '{ print $1 * 10000 + $2 * 100 + $3 }' <<<"$1"; }

require "the branch is not main" is_equal "$(git symbolic-ref --short HEAD 2>&1)" main
require "there are changes that are not committed" is_equal "$(git status --porcelain)" ""
require ".ci/run has not passed on this commit" is_equal "$(cat build/ci-passed 2>&1)" "$commit"
require "SKUA_VERSION is $number, but SKUA_VERSION_TEXT $version" is_equal "$number" "$(number_of "$version")"
require "CHANGELOG.md has no dated section for $version" grep -qE "^## \[$version\] - [0-9]{4}-[0-9]{2}-[0-9]{2}$" CHANGELOG.md
require "CHANGELOG.md says nothing about $version" grep -q '^- ' <<<"$(notes "$version")"
require "CHANGELOG.md has unreleased changes" is_equal "$(notes Unreleased | tr -d '[:space:]')" ""
require "SECURITY.md does not say whether ${version%.*} is supported" grep -q "^| ${version%.*} |" SECURITY.md
require "the tag v$version exists already" is_equal "$(git tag --list "v$version")" ""
[ $problems -eq 0 ] || exit 1

SOURCE_DATE_EPOCH=$(git log -1 --format=%ct)
export SOURCE_DATE_EPOCH
rm -rf "$out"
mkdir -p "$out"
source=$out/skua-$version.tar.gz
git archive --format=tar --prefix="skua-$version/" "$commit" | gzip -9n >"$source"
rm -rf build/recipes
python3 tools/recipes.py "$source" build/recipes
pack "skua-$version-recipes" build/recipes .
python3 tools/sbom.py "$source" >"$out/skua-$version.spdx.json"
if [ -n "$programs" ]; then
  bash tools/package.sh
  cp build/package/* "$out"
  program=skua-$version-linux-$(uname -m)
  cmake --preset static --log-level=WARNING >/dev/null
  cmake --build --preset static -j"$(nproc)" --target skua-cli skua-man skua-completions
  cmake --install build/static --component command --strip --prefix "$PWD/build/static/root/$program" >/dev/null
  pack "$program" build/static/root "$program"
fi
notes "$version" >"$out/release-notes.md"
(cd "$out" && find . -type f ! -name SHA256SUMS ! -name release-notes.md -printf '%P\n' | LC_ALL=C sort | xargs sha256sum >SHA256SUMS)

ls -l "$out"
if [ -n "$tag" ]; then
  git tag --annotate "v$version" --cleanup=whitespace --message="skua $version" --message="$(notes "$version")"
  echo "release: tagged v$version; publish it with: git push origin v$version"
else
  echo "release: a rehearsal; --tag would make the tag v$version"
fi
