#!/usr/bin/env bash
# Builds the fuzz targets and runs each for a while. Usage: fuzz.sh [SECONDS] [JOBS] [PRESET]
# PRESET is fuzz (the default), or asan, which has the same targets beside its tests.
# Seeds are fuzz/corpus/NAME and the bytes of tests/cases; new inputs go to build/fuzz/corpus/NAME, crashes
# to build/fuzz.
# With SKUA_FUZZ_SEED a run has a number of inputs instead of a time: as many on any machine.
# fuzz.sh msan replays all corpora under MemorySanitizer.
set -euo pipefail
cd "$(dirname "$0")/.."
seconds=${1:-30}
jobs=${2:-$(nproc)}
preset=${3:-fuzz}
if [ "$seconds" = msan ]; then preset=msan; fi

if ! compgen -G 'fuzz/*_fuzz.cpp' >/dev/null; then
  echo "no fuzz targets"
  exit 0
fi
bash tools/ahead.sh take $preset
cmake --preset $preset --log-level=WARNING >/dev/null
cmake --build --preset $preset -j"$jobs"

export ASAN_OPTIONS=detect_leaks=1 UBSAN_OPTIONS=print_stacktrace=1:halt_on_error=1
symbolizer=$(command -v llvm-symbolizer-19 || true)
export ASAN_SYMBOLIZER_PATH=$symbolizer MSAN_SYMBOLIZER_PATH=$symbolizer
python3 tools/seed_corpus.py build/fuzz/seeds
for source in fuzz/*_fuzz.cpp; do
  name=$(basename "$source" _fuzz.cpp)
  # libstdc++.so writes the nodes of a std::map, which MemorySanitizer does not see.
  # The commands are full of them.
  case $preset-$name in msan-cookie_jar | msan-cli_*) continue ;; esac
  log=build/$preset/$name.log
  corpora=("build/fuzz/corpus/$name")
  mkdir -p "${corpora[0]}"
  for seeds in "fuzz/corpus/$name" "build/fuzz/seeds/$name"; do
    if [ -d "$seeds" ]; then corpora+=("$seeds"); fi
  done
  echo "fuzz-$name ($preset)"
  if [ $preset = msan ]; then
    find "${corpora[@]}" -type f -print0 | xargs -0 -r "build/msan/bin/fuzz-$name"
  else
    limit=-max_total_time=$seconds
    if [ -n "${SKUA_FUZZ_SEED:-}" ]; then
      limit=-runs=30000
      case $name in cli_*) limit=-runs=1000 ;; esac  # each parses a whole command line
    fi
    "build/$preset/bin/fuzz-$name" "$limit" -seed="${SKUA_FUZZ_SEED:-0}" -timeout=10 -rss_limit_mb=2048 -verbosity=0 \
      -artifact_prefix="build/fuzz/$name-" "${corpora[@]}"
  fi >"$log" 2>&1 || { tail -n 60 "$log"; exit 1; }
done
