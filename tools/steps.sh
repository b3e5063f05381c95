# Sourced by scripts. `step NAME COMMAND...` runs a command, prints its time, and ends the script if it
# fails; `steps_summary` prints a table of all times.
steps=()

step() {
  local name=$1 start=$SECONDS status=0
  shift
  echo "==> $name"
  "$@" </dev/null || status=$?
  steps+=("$(printf '%6d s  %s' $((SECONDS - start)) "$name")")
  echo "<== $name: $((SECONDS - start)) s, $([ $status -eq 0 ] && echo ok || echo "FAILED ($status)")"
  [ $status -eq 0 ] || { steps_summary; exit $status; }
}

steps_summary() {
  printf '%s\n' "${steps[@]}"
  printf '%6d s  total\n' "$SECONDS"
}
