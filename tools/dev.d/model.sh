# tools/dev model
# shellcheck shell=bash

model_help() {
  cat <<'TEXT'
usage: tools/dev model [NAME…]

Checks the SPIN model of the shared-memory protocol, tests/model, in build/model: every configuration (or those named)
must hold in an exhausted search, and in every seeded defect SPIN must find an error. Then that each step which
tests/model/README.md names is labelled in the C++. One after the other: about two minutes on one core, less
than 1 GB. The lines of tests/model/configurations are the names. What failed leaves its log, and the trail of an error,
in build/model/NAME; in that directory `spin -t -p -g $(cat switches) shm.pml` replays it. Ends with `N passed,
N failed`.
TEXT
}

# model_build NAME SPEED SWITCHES…: makes build/model/NAME/pan
model_build() {
  local directory=$ORC_ROOT/build/model/$1 speed=$2 pan=(-DSAFETY -DCOLLAPSE -DMEMLIM=2000)
  shift 2
  rm -rf "$directory"
  mkdir -p "$directory"
  cp tests/model/*.pml "$directory"
  echo "$*" >"$directory/switches"
  # a step inside `unless` sees the crash, too: no partial-order reduction there
  [[ "$*" != *READER_GOES* && "$*" != *PUBLISHER_CRASHES* ]] || pan+=(-DNOREDUCE)
  # spin reports some errors with status 0
  (cd "$directory" && spin "$@" -a shm.pml && [[ -s pan.c ]] && gcc "$speed" -w "${pan[@]}" -o pan pan.c) \
    >"$directory/log" 2>&1 && ! grep -qiE '\berror\b|redefined' "$directory/log"
}

# model_error TEXT: which of README's errors SPIN's message is
model_error() {
  case $1 in
  *.head\[* | *.tail\[*) echo torn ;;
  *rounds*) echo no-slot ;;
  *"segment[gen].newest>n"*) echo busy ;;
  *"seen>=segment[generation].newest"*) echo last-lost ;;
  *"sequence[0]!=0"*) echo pin-lost ;;
  *"q>=n"* | *"q>seen)"*) echo stale ;;
  *"(seen+1)"*) echo skipped ;;
  *"s!=255"*) echo no-sample ;;
  "invalid end state") echo asleep ;;
  *) echo "$1" ;;
  esac
}

# model_run NAME: the search; its result in a word
model_run() {
  local log=$ORC_ROOT/build/model/$1/log error
  (cd "$ORC_ROOT/build/model/$1" && ./pan -m1000000) >"$log" 2>&1 || true
  error=$(sed -n 's/^pan:1: \(.*\) (at depth [0-9]*)$/\1/p' "$log")
  if [[ -n $error ]]; then
    model_error "$error"
  elif ! grep -q 'errors: 0$' "$log"; then
    echo "no result"
  elif grep -qE 'max search depth too small|Search not completed|MEMLIM' "$log"; then
    echo "not exhausted"
  else
    echo holds
  fi
}

# model_check KIND NAME EXPECTED SWITCHES…: its line; a status other than 0 when the result is not the expected one
model_check() {
  local kind=$1 name=$2 expected=$3 speed=-O1 result status=0 started=$EPOCHREALTIME states
  local log=build/model/$name/log
  shift 3
  # most defects are found at once: what takes time is the compiler
  [[ $kind == config ]] || speed=-O0
  if model_build "$name" "$speed" "$@"; then
    result=$(model_run "$name")
  else
    cat "$log" >&2
    result="does not build"
  fi
  states=$(awk '/states, stored/ {print $1; exit}' "$log")
  if [[ $result != "$expected" ]]; then
    result="FAILED: $result instead of $expected (log: $log)"
    status=1
  elif [[ $kind == defect ]]; then
    result="found: $result"
  fi
  awk -v s="$started" -v e="$EPOCHREALTIME" -v k="$kind" -v n="$name" -v c="${states:-0}" -v r="$result" \
    'BEGIN {printf "model %s %-23s %9d states %5.1f s  %s\n", k, n, c, e - s, r}'
  return "$status"
}

# model_labels: the labels in README's table of steps must occur in the model, and in the C++ once there is some
model_labels() {
  local sources=$ORC_ROOT/liborc/src/transport/shm label labels missing=""
  mapfile -t labels < <(sed -n "s/^| \`\(\[[A-Z][0-9]'*\]\)\` |.*/\1/p" tests/model/README.md)
  for label in "${labels[@]}"; do
    grep -qF "$label" tests/model/*.pml || missing+=" $label (tests/model)"
    [[ ! -d $sources ]] || grep -rqF "$label" "$sources" || missing+=" $label (liborc/src/transport/shm)"
  done
  if [[ -n $missing || ${#labels[@]} -eq 0 ]]; then
    echo "model labels: FAILED: missing of ${#labels[@]} labels:$missing"
    return 1
  elif [[ -d $sources ]]; then
    echo "model labels: all ${#labels[@]} are in the model and in the C++"
  else
    echo "model labels: all ${#labels[@]} are in the model; there is no liborc/src/transport/shm yet"
  fi
}

model_main() {
  local kind name expected config rest unknown=" $* " switches=() passed=0 failed=0
  local -A configs=()
  while read -r kind name rest; do
    [[ $kind != config ]] || configs[$name]=$rest
    unknown=${unknown// $name / }
  done <tests/model/configurations
  [[ -z ${unknown// /} ]] || die "model: tests/model/configurations does not have:$unknown"
  ensure_setup model

  while read -r kind name rest; do
    [[ $kind == config || $kind == defect ]] || continue
    [[ $# -eq 0 || " $* " == *" $name "* ]] || continue
    expected=holds
    if [[ $kind == defect ]]; then
      read -r expected config rest <<<"$rest"
      [[ -n ${configs[$config]:-} ]] || die "tests/model/configurations: $name: there is no configuration $config"
      rest="${configs[$config]} $rest -DDEFECT_$name"
    fi
    read -ra switches <<<"$rest"
    if model_check "$kind" "$name" "$expected" "${switches[@]}"; then
      passed=$((passed + 1))
    else
      failed=$((failed + 1))
    fi
  done <tests/model/configurations
  if [[ $# -eq 0 ]]; then
    if model_labels; then passed=$((passed + 1)); else failed=$((failed + 1)); fi
  fi
  echo "$passed passed, $failed failed"
  [[ $failed -eq 0 && $passed -gt 0 ]]
}
