# tools/dev test
# shellcheck shell=bash
# shellcheck source=tools/dev.d/python.sh
source "$ORC_ROOT/tools/dev.d/python.sh"

test_help() {
  cat <<'TEXT'
usage: tools/dev test [PRESET…] [-- CTEST ARGUMENTS]

Builds and runs the tests of each preset (default: release), two at a time (ORC_JOBS); those that load both cores run
alone. With release, and without arguments for ctest, also those of the Python package: its wheel is built, installed in
an empty virtual environment (build/python-venv) and tested there. Ends with a line `N passed, N failed` (with `, N skipped` where the machine does not allow some) and a status
other than 0 when anything failed. A preset that does not build counts as one failure.

  tools/dev test -- -L unit                 only one directory: unit, conformance, integration, interop, …
  tools/dev test asan -- -R 'newest'        by name
TEXT
}

# attribute NAME FILE: of the <testsuite> element, which opens the report
attribute() {
  sed -n "1,/>/{s/.*[[:space:]]$1=\"\([0-9]*\)\".*/\1/p}; />/q" <(sed -n '/<testsuite/,$p' "$2") | head -1
}

test_main() {
  local chosen=() preset
  while [[ $# -gt 0 && $1 != -- ]]; do
    is_preset "$1" || die "test: no preset $1; there is: $(presets) (ctest's arguments go after --)"
    chosen+=("$1")
    shift
  done
  [[ $# -eq 0 ]] || shift
  [[ ${#chosen[@]} -gt 0 ]] || chosen=(release)
  ensure_setup
  ensure_lcm_venv

  local passed=0 failed=0 skipped=0
  for preset in "${chosen[@]}"; do
    if ! build_preset "$preset"; then
      say "preset $preset does not build"
      failed=$((failed + 1))
      continue
    fi
    local report=$ORC_ROOT/build/$preset/tests.xml status=0
    rm -f "$report"
    # Once again before it counts as failed: a deadline may pass on a loaded machine. Not under tsan: it would hide races.
    local tries=2
    [[ $preset != tsan ]] || tries=1
    without_aslr_for "$preset" ctest --test-dir "build/$preset" --output-on-failure --parallel "${ORC_JOBS:-2}" \
      --no-tests=error --repeat until-pass:$tries --output-junit "$report" "$@" || status=$?
    local all=0 bad=0 skips=0 disabled=0
    if [[ -e $report ]]; then
      all=$(attribute tests "$report")
      bad=$(attribute failures "$report")
      skips=$(attribute skipped "$report")
      disabled=$(attribute disabled "$report")
    fi
    # ctest counts what it could not start as skipped, and has no count when it could not start at all
    if [[ $status -ne 0 && $bad -eq 0 ]]; then
      bad=$((skips > 0 ? skips : 1))
      skips=0
      all=$((all > bad ? all : bad))
    fi
    passed=$((passed + all - bad - skips - disabled))
    failed=$((failed + bad))
    skipped=$((skipped + skips + disabled))
    if [[ $preset == release && $# -eq 0 ]]; then
      local python_passed=0 python_failed=1 python_skipped=0
      read -r python_passed python_failed python_skipped < <(python_test) || true
      passed=$((passed + python_passed))
      failed=$((failed + python_failed))
      skipped=$((skipped + python_skipped))
    fi
  done

  local line="$passed passed, $failed failed"
  [[ $skipped -eq 0 ]] || line+=", $skipped skipped"
  echo "$line"
  [[ $failed -eq 0 && $passed -gt 0 ]]
}
