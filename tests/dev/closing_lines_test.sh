#!/usr/bin/env bash
# closing_lines_test.sh SOURCE: `tools/dev test` over a build tree of tests that pass, fail, are skipped, or fail once.
set -euo pipefail

source_dir=$1
ORC_ROOT=$(mktemp -d)
trap 'rm -rf "$ORC_ROOT"' EXIT
cd "$ORC_ROOT"
mkdir -p build/release build/tsan tools
ln -s "$source_dir/tools/dev.d" tools/dev.d
cat >build/release/CTestTestfile.cmake <<'TESTS'
add_test("unit/passes, \"<quoted>\"" true)
add_test(unit/fails false)
add_test("unit/flaky" bash -c "test -e ../once || { touch ../once; printf '\\033\\377\\n'; exit 1; }")
add_test(unit/skip1 bash -c "echo '[orc: skipped] no namespace orc4711a here' >&2")
add_test(unit/skip2 bash -c "seq 3000; echo '[orc: skipped] no namespace orc4712a here' >&2")
add_test(unit/skip3 bash -c "echo '[orc: skipped] one core'")
set_tests_properties(unit/skip1 unit/skip2 unit/skip3 PROPERTIES SKIP_REGULAR_EXPRESSION "\\[orc: skipped\\]")
add_test(unit/disabled true)
set_tests_properties(unit/disabled PROPERTIES DISABLED TRUE)
add_test(unit/absent /nonexistent/program)
TESTS
cp build/release/CTestTestfile.cmake build/tsan/

# shellcheck source=tools/dev.d/common.sh
source tools/dev.d/common.sh
# shellcheck source=tools/dev.d/test.sh
source tools/dev.d/test.sh
# what test_main calls and this test does not try
ensure_setup() { :; }
ensure_lcm_venv() { :; }
ensure_mcap_node() { :; }
ensure_foxglove_node() { :; }
build_preset() { :; }
python_package() { :; }
python_test() {
  echo "skipped no mypy" >>"$1"
  echo 10 0 1
}

# closes STATUS LINES ARGUMENT…: what the verb returns, and the lines after those of ctest
closes() {
  local status=$1 lines=$2 got=0 said
  shift 2
  rm -f build/once
  said=$(test_main "$@" 2>&1) || got=$?
  said=$(grep -E '^(skipped [0-9]+|flaky|failed): |^[0-9]+ passed, ' <<<"$said" || true)
  if [[ $got -ne $status || $said != "$lines" ]]; then
    printf 'tools/dev test %s: status %s, closing lines:\n%s\n--- instead of status %s and:\n%s\n' \
      "$*" "$got" "$said" "$status" "$lines"
    exit 1
  fi
}

flaky="flaky: unit/flaky: failed once, passed when repeated"
closes 1 "skipped 2: no namespace orcNa here
skipped 1: one core
skipped 1: no mypy
skipped 1: disabled
$flaky
failed: unit/absent
failed: unit/fails
12 passed, 2 failed, 5 skipped"
closes 0 "skipped 2: no namespace orcNa here
skipped 1: one core
$flaky
1 passed, 0 failed, 3 skipped" release -- -R 'flaky|skip'
closes 1 "failed: unit/flaky
0 passed, 1 failed" tsan -- -R flaky
closes 1 "0 passed, 1 failed" -- -R 'no such test'
closes 1 "failed: unit/absent
0 passed, 1 failed" -- -R absent
