#!/usr/bin/env bash
# Compiles presets with the processor time that nothing else wants, while other steps wait for clocks, peers and disks.
# What it has compiled, the build of the step that needs it finds done.
# Usage: ahead.sh start PRESET...    in the background, one after the other; build/ahead/log has the output
#        ahead.sh take PRESET        leaves PRESET to the caller from now on, compiled in part or not
#        ahead.sh stop               ends all
set -euo pipefail
cd "$(dirname "$0")/.."
state=build/ahead

end_current() {
  local group
  group=$(cat $state/group 2>/dev/null) || return 0
  rm -f $state/group
  kill -TERM -- "-$group" 2>/dev/null || return 0
  while kill -0 -- "-$group" 2>/dev/null; do sleep 0.1; done
}

compile_all() {
  local preset
  for preset; do
    [ ! -e "$state/taken-$preset" ] || continue
    echo "$preset" >$state/preset
    setsid bash tools/when_idle.sh bash -c 'cmake --preset "$1" --log-level=WARNING && cmake --build --preset "$1"' ahead "$preset" &
    echo $! >$state/group
    wait $! || true
    rm -f $state/group
  done
}

case ${1:-} in
  start)
    shift
    rm -rf $state && mkdir -p $state
    compile_all "$@" >$state/log 2>&1 </dev/null &
    echo $! >$state/loop
    disown
    ;;
  take)
    [ -d $state ] || exit 0
    touch "$state/taken-$2"
    [ "$(cat $state/preset 2>/dev/null)" != "$2" ] || end_current
    ;;
  stop)
    [ ! -e $state/loop ] || kill "$(cat $state/loop)" 2>/dev/null || true
    end_current
    rm -rf $state
    ;;
  *)
    sed -n '2,6s/^# //p' "$0"
    exit 2
    ;;
esac
