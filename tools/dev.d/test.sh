# tools/dev test
# shellcheck shell=bash
# shellcheck source=tools/dev.d/python.sh
source "$ORC_ROOT/tools/dev.d/python.sh"

test_help() {
  cat <<'TEXT'
usage: tools/dev test [PRESET…] [-- CTEST ARGUMENTS]

Builds and runs the tests of each preset (default: release), two at a time (ORC_JOBS); those that load both cores run
alone. With release, and without arguments for ctest, also those of the Python package: its wheel is built, installed in
an empty virtual environment (build/python-venv) and tested there. That needs PyPI, as pip is configured here. Where
PyPI cannot be reached, these tests and those that talk to its lcm are skipped.

What failed runs once again, but not under tsan. A test that then passes is flaky: its first failure is shown, and more
than three flaky tests count as one failure. A sanitizer's report is a failure in any run of any test, repeated or not,
and in any program that a test starts.

Ends with a line `skipped N: REASON` per reason (what the machine does not allow), a line `flaky: TEST: …` per flaky
test, a line `failed: …` per failed test and per report of a program, and a line `N passed, N failed` (with
`, N skipped`). The status is other than 0 when anything failed. A preset that does not build counts as one failure.

  tools/dev test -- -L unit                 only one directory: unit, conformance, integration, interop, …
  tools/dev test asan -- -R 'newest'        by name
TEXT
}

# run_ctest PRESET REPORT CTEST…
run_ctest() {
  local preset=$1 report=$2
  shift 2
  # the size: a reason for skipping must not be cut off
  without_aslr_for "$preset" ctest --test-dir "build/$preset" --output-on-failure --parallel "${ORC_JOBS:-2}" \
    --no-tests=error --test-output-size-passed 65536 --output-junit "$report" "$@"
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
  ensure_mcap_node
  ensure_foxglove_node
  ensure_web_venv

  local passed=0 failed=0 skipped=0 remarks=$ORC_ROOT/build/test-remarks p f s
  rm -f "$remarks"
  for preset in "${chosen[@]}"; do
    if ! build_preset "$preset"; then
      say "preset $preset does not build"
      failed=$((failed + 1))
      continue
    fi
    local report=$ORC_ROOT/build/$preset/tests.xml again=$ORC_ROOT/build/$preset/tests-again.xml status=0
    local failures=build/$preset/Testing/Temporary/LastTestsFailed.log
    rm -rf "$report" "$again" "$failures" "build/$preset/sanitizer"
    install -d -m 1777 "build/$preset/sanitizer"  # tests/CMakeLists.txt
    local package=0  # first: the tests of the documentation's Python blocks need it
    if [[ $preset == release && $# -eq 0 ]]; then
      python_package || package=$?
    fi
    run_ctest "$preset" "$report" "$@" || status=$?
    # A deadline may pass on a loaded machine. Not under tsan: it would hide races.
    if [[ -s $failures && $preset != tsan* ]]; then
      say "once again what failed"
      run_ctest "$preset" "$again" --rerun-failed || true
    fi
    local reports=("$report")
    [[ ! -e $again ]] || reports+=("$again")
    p=0 f=0 s=0
    [[ ! -e $report ]] || read -r p f s < <(read_report "$remarks" "${reports[@]}") || true
    # no report that can be read, no test at all, or a failure that no test accounts for
    [[ $status -eq 0 || $f -gt 0 || ($p -gt 0 && -e $again) ]] || f=1
    passed=$((passed + p)) failed=$((failed + f)) skipped=$((skipped + s))
    if [[ $preset == release && $# -eq 0 ]]; then
      p=0 f=1 s=0
      read -r p f s < <(python_test "$remarks" "$package") || true
      passed=$((passed + p)) failed=$((failed + f)) skipped=$((skipped + s))
    fi
  done

  fail_if_flaky "$remarks" || failed=$((failed + 1))
  show_remarks "$remarks"
  local line="$passed passed, $failed failed"
  [[ $skipped -eq 0 ]] || line+=", $skipped skipped"
  echo "$line"
  [[ $failed -eq 0 && $passed -gt 0 ]]
}
