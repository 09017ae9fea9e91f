# tools/dev fuzz
# shellcheck shell=bash

fuzz_help() {
  cat <<'TEXT'
usage: tools/dev fuzz [SECONDS] [TARGET…]

Builds the fuzz targets of tests/fuzz with clang's libFuzzer in build/fuzz and runs each (or those named) for SECONDS
(default: 60), two at a time, starting from a copy of its kept corpus tests/fuzz/corpus/NAME. A finding fails, and its input is
left in build/fuzz/findings/NAME: add it to the corpus together with the fix. Ends with `N passed, N failed`.
TEXT
}

# fuzz_one NAME SECONDS: quiet unless something is found
fuzz_one() {
  local name=$1 seconds=$2 work status=0
  local findings=$ORC_ROOT/build/fuzz/findings/$name log=$ORC_ROOT/build/fuzz/$name.log
  work=$(mktemp -d)
  mkdir -p "$findings"
  if [[ -d tests/fuzz/corpus/$name ]]; then
    cp -r "tests/fuzz/corpus/$name/." "$work"
  fi
  local kept
  kept=$(find "$work" -type f | wc -l)
  UBSAN_OPTIONS=print_stacktrace=1 LSAN_OPTIONS=suppressions=$ORC_ROOT/tests/lsan.supp \
    "build/fuzz/bin/${name}_fuzz" -max_total_time="$seconds" -timeout=10 -rss_limit_mb=2048 -print_final_stats=1 \
    -artifact_prefix="$findings/" "$work" >"$log" 2>&1 || status=$?
  if [[ $status -eq 0 ]]; then
    echo "fuzz $name: no finding; $(sed -n 's/^stat::number_of_executed_units: *//p' "$log") runs in $seconds s," \
      "corpus $kept kept, $(find "$work" -type f | wc -l) now"
  else
    tail -n 60 "$log"
    echo "fuzz $name: FINDING (status $status), log $log, input in $findings:"
    ls -l "$findings"
  fi
  rm -rf "$work"
  return "$status"
}

fuzz_main() {
  local seconds=60 names=() name source
  if [[ ${1:-} =~ ^[0-9]+$ ]]; then
    seconds=$1
    shift
  fi
  for source in tests/fuzz/*_fuzz.cpp; do
    [[ -e $source ]] || die "there is no fuzz target in tests/fuzz"
    name=$(basename "$source" _fuzz.cpp)
    [[ $# -eq 0 || " $* " == *" $name "* ]] && names+=("$name")
  done
  [[ ${#names[@]} -gt 0 ]] || die "no such fuzz target: $*"

  ensure_setup fuzz
  local clang
  clang=$(command -v "clang++-$(clang_version)" || command -v clang++) || die "there is no clang++"
  if [[ ! -e build/fuzz/build.ninja ]]; then
    cmake --preset fuzz -DCMAKE_CXX_COMPILER="$clang" >&2
  fi
  cmake --build build/fuzz --parallel "$(jobs)" >&2

  local passed=0 failed=0 running=() pid
  collect() {
    for pid in "${running[@]}"; do
      if wait "$pid"; then passed=$((passed + 1)); else failed=$((failed + 1)); fi
    done
    running=()
  }
  for name in "${names[@]}"; do
    fuzz_one "$name" "$seconds" &
    running+=($!)
    [[ ${#running[@]} -lt ${ORC_JOBS:-2} ]] || collect
  done
  collect
  echo "$passed passed, $failed failed"
  [[ $failed -eq 0 ]]
}
