# tools/dev check
# shellcheck shell=bash

readonly check_limit_s=7200

check_help() {
  cat <<'TEXT'
usage: tools/dev check
       tools/dev check --full [--again] [PART…]
       tools/dev check --list

Without options runs the quick check, .ci/run. --full runs what that leaves out, in parts of at most two hours each on two
cores: all of them or those named. --list shows the parts with their results on this commit, and the command of each.

The result of a part is kept for its commit, in build/check/COMMIT/PART: its log, and `result` with the closing line, the
seconds and the date. A part that passed on this commit is not run again, so a run that was interrupted can be resumed;
--again runs it again. All changes must be committed. Ends with a table of the parts and `N passed, N failed`. The status
is 0 when all passed, 1 when a part failed, 2 for wrong usage and 130 when interrupted.
TEXT
}

# One line per part: its name and its command.
check_parts() {
  echo "asan tools/dev test asan"
  echo "tsan tools/dev test tsan"
  # Ten minutes per target, two at a time: 18 targets take 90 minutes, which leaves time for the build.
  local targets=(tests/fuzz/*_fuzz.cpp) first=0 part
  targets=("${targets[@]##*/}")
  targets=("${targets[@]%_fuzz.cpp}")
  local parts=$(((${#targets[@]} + 17) / 18))
  for ((part = 1; part <= parts; ++part)); do
    local end=$((${#targets[@]} * part / parts))
    echo "fuzz-$part tools/dev fuzz 600 ${targets[*]:first:end - first}"
    first=$end
  done
  echo "model tools/dev model"
  echo "tidy tools/dev lint --full"
  # Each ctest test once, in its long form if it has one. Longest: the kills of shm programs, about 70 minutes.
  local long="ORC_TEST_LONG=1 tools/dev test release --"
  echo "long-unit $long -L '^(unit|conformance|interop|web|docs)\$'"
  echo "long-integration $long -L '^integration\$'"
  echo "long-fault $long -L '^(fault|network)\$' -E 'network/(1 and 7:|outages)'"
  echo "long-outages $long -R 'network/(1 and 7:|outages)'"
  echo "long-stress $long -L '^stress\$' -E 'stress/shm kills:'"
  echo "long-kills $long -R 'stress/shm kills:'"
  echo "debian-13 tests/bare/debootstrap_check.sh trixie"
  echo "ubuntu-24.04 tools/dev setup --web && tools/dev test"
}

# check_needs PART: what `tools/dev setup` calls the packages of a part
check_needs() {
  case $1 in
  fuzz-*) echo fuzz ;;
  tidy) echo lint ;;
  debian-13) echo bare ;;
  model) echo model ;;
  *) echo web ;;
  esac
}

# check_row PART RESULT [INSTEAD]: the result in the file, or what there is instead of one
check_row() {
  local line=${3:-not run} took="" on=""
  if [[ -e $2 ]]; then
    { read -r line && read -r took && read -r on; } <"$2"
  fi
  printf '%-17s %-36s %7s  %s\n' "$1" "$line" "$took" "$on"
}

check_has_passed() { # check_has_passed RESULT
  [[ -e $1 ]] && head -n 1 "$1" | grep -q ', 0 failed'
}

check_state() {
  git rev-parse HEAD && git status --porcelain
}

# check_run COMMAND DIRECTORY: leaves DIRECTORY/log and DIRECTORY/result
check_run() {
  local status=0 started=$SECONDS running
  rm -rf "$2"
  mkdir -p "$2"
  # In a process group of its own, which an interrupt ends as a whole
  set -m
  timeout --kill-after=30 "$check_limit_s" bash -c "$1" </dev/null >"$2/log" 2>&1 &
  running=$!
  set +m
  # shellcheck disable=SC2064 # its process
  trap "kill -TERM $running; wait $running || true; exit 130" INT TERM HUP
  wait "$running" || status=$?
  trap - INT TERM HUP
  [[ $status -ne 124 ]] || echo "it took more than $((check_limit_s / 60)) minutes" >>"$2/log"
  if [[ $status -ne 0 ]]; then tail -n 30 "$2/log"; fi
  printf '%s\n' "$(closing_line "$2/log" "$status")" "$((SECONDS - started)) s" "$(date '+%F %R %Z')" >"$2/result"
}

check_main() {
  local full=false again=false list=false chosen=() name command
  while [[ $# -gt 0 ]]; do
    case $1 in
    --full) full=true ;;
    --again) again=true ;;
    --list) list=true ;;
    -*) check_usage "unknown option $1" ;;
    *) chosen+=("$1") ;;
    esac
    shift
  done
  local -A commands=()
  local names=()
  while read -r name command; do
    names+=("$name")
    commands[$name]=$command
  done < <(check_parts)
  for name in "${chosen[@]}"; do
    [[ -n ${commands[$name]:-} ]] || check_usage "there is no part $name; there is: ${names[*]}"
  done

  if ! $full && ! $list; then
    if $again || [[ ${#chosen[@]} -gt 0 ]]; then check_usage "parts and --again need --full"; fi
    exec bash .ci/run
  fi
  local state results changed
  state=$(check_state) || die "check: results are kept by commit, and this is no clone"
  results=build/check/$(git rev-parse --short=12 HEAD)
  if $list; then
    for name in "${names[@]}"; do
      echo "$(check_row "$name" "$results/$name/result")  ${commands[$name]}"
    done
    return
  fi
  changed=$(git status --porcelain)
  [[ -z $changed ]] || check_usage "results are kept by commit; commit these changes first:"$'\n'"$changed"

  local elsewhere="" extras=() todo=()
  [[ ${#chosen[@]} -gt 0 ]] || chosen=("${names[@]}")
  for name in "${chosen[@]}"; do
    if [[ $name == ubuntu-24.04 && $(distribution) != "$name" ]]; then
      elsewhere="this is $(distribution)"
    elif $again || ! check_has_passed "$results/$name/result"; then
      todo+=("$name")
      extras+=("$(check_needs "$name")")
    fi
  done
  # Before the first part, as sudo may ask for a password
  [[ ${#todo[@]} -eq 0 ]] || ensure_setup "${extras[@]}"
  for name in "${todo[@]}"; do
    say "$name: ${commands[$name]} (log: $results/$name/log)"
    check_run "${commands[$name]}" "$results/$name"
    if [[ $(check_state) != "$state" ]]; then
      rm "$results/$name/result"
      die "check: the tree changed while $name ran, which therefore has no result"
    fi
  done

  local passed=0 failed=0 skipped=0
  for name in "${chosen[@]}"; do
    if [[ $name == ubuntu-24.04 && -n $elsewhere ]]; then
      skipped=$((skipped + 1))
      check_row "$name" "" "skipped: $elsewhere"
      continue
    elif check_has_passed "$results/$name/result"; then
      passed=$((passed + 1))
    else
      failed=$((failed + 1))
    fi
    check_row "$name" "$results/$name/result"
  done
  local line="$passed passed, $failed failed"
  [[ $skipped -eq 0 ]] || line+=", $skipped skipped"
  echo "$line"
  [[ $failed -eq 0 && $passed -gt 0 ]]
}

check_usage() {
  say "error: check: $*"
  exit 2
}
