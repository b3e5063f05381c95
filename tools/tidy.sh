#!/usr/bin/env bash
# Runs clang-tidy over the sources of the library and the command, but not tests. Needs Clang 19.
# Usage: tidy.sh [FILE...]      without files: all, in units of several files, which takes a fifth of the time
# Passed files are cached by a hash of their preprocessed text; set SKUA_TIDY_CACHE= (empty) to check all again.
set -euo pipefail
cd "$(dirname "$0")/.."

export build=build/clang checks=
[ $# -gt 0 ] || { build=build/tidy checks=-bugprone-suspicious-include; }
cmake --preset "${build#build/}" --log-level=WARNING >/dev/null
export SKUA_TIDY_CACHE=${SKUA_TIDY_CACHE-${XDG_CACHE_HOME:-$HOME/.cache}/skua-tidy}
[ -z "$SKUA_TIDY_CACHE" ] || mkdir -p "$SKUA_TIDY_CACHE"
python3 tools/compile_commands.py $build >$build/preprocess.tsv
if [ $# -gt 0 ]; then
  files=("$@")
else
  mapfile -t files < <(cut -f1 $build/preprocess.tsv | grep -E '/(skua|skua-fast|skua-commands|skua-cli)\.dir/Unity/|/(src|cli)/' |
    grep -v -E '_(test|bench)\.cpp$' | sort -u)
fi
[ ${#files[@]} -eq 0 ] && exit 0

tidy_one() {
  local file=$1 command stamp=
  [[ $file = /* ]] || file=$PWD/$file
  command=$(awk -F'\t' -v file="$file" '$1 == file {print $2; exit}' $build/preprocess.tsv)
  # An optional back end that this machine cannot build is not in the compilation database.
  if [ -n "$SKUA_TIDY_CACHE" ] && [ -n "$command" ]; then
    stamp=$SKUA_TIDY_CACHE/$( (clang-tidy-19 --version; cat .clang-tidy; cd $build; eval "$command") | sed "s|$PWD/||g" | sha256sum | cut -d' ' -f1)
    [ ! -e "$stamp" ] || return 0
  fi
  clang-tidy-19 --quiet --warnings-as-errors='*' --checks="$checks" -p $build "$file" 2> >(
    grep -v -E '^[0-9]+ warnings? |^Suppressed |^Use -header-filter|^\[[0-9/]+\]' >&2 || true) || return 1
  [ -z "$stamp" ] || touch "$stamp"
}
export -f tidy_one
printf '%s\0' "${files[@]}" | xargs -0 -n 1 -P "$(nproc)" bash -c 'tidy_one "$0"'
