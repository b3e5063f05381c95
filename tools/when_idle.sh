#!/usr/bin/env bash
# Runs a command with the processor time that nothing else wants. Usage: setsid when_idle.sh COMMAND...
# A kernel that groups tasks by session shares time among the sessions before it looks at the policies of their
# tasks: so the session has to give way, too, and should have nothing but the command in it.
set -euo pipefail
case ${1:-} in "" | -h | --help) sed -n '2,4s/^# //p' "$0"; exit $(($# == 0 ? 2 : 0)) ;; esac
{ echo 19 >/proc/self/autogroup; } 2>/dev/null || true
exec chrt --idle 0 "$@"
