#!/usr/bin/env bash
# closing_lines_test.sh SOURCE: `tools/dev test` over build trees of tests that pass, fail, are skipped, fail once, or
# print what a sanitizer prints.
set -euo pipefail

source_dir=$1
ORC_ROOT=$(mktemp -d)
trap 'rm -rf "$ORC_ROOT"' EXIT
cd "$ORC_ROOT"
mkdir -p build/release build/asan build/tsan tools
ln -s "$source_dir/tools/dev.d" tools/dev.d
cat >build/release/CTestTestfile.cmake <<'TESTS'
add_test("unit/passes, \"<quoted>\"" true)
add_test(unit/fails false)
add_test("unit/flaky" bash -c "test -e ../once || { touch ../once; printf 'why\\033\\377\\n'; exit 1; }")
add_test(unit/skip1 bash -c "echo '[orc: skipped] no namespace orc4711a here' >&2")
add_test(unit/skip2 bash -c "seq 3000; echo '[orc: skipped] no namespace orc4712a here' >&2")
add_test(unit/skip3 bash -c "echo '[orc: skipped] one core'")
set_tests_properties(unit/skip1 unit/skip2 unit/skip3 PROPERTIES SKIP_REGULAR_EXPRESSION "\\[orc: skipped\\]")
add_test(unit/disabled true)
set_tests_properties(unit/disabled PROPERTIES DISABLED TRUE)
add_test(unit/absent /nonexistent/program)
TESTS
cp build/release/CTestTestfile.cmake build/tsan/
cat >build/asan/CTestTestfile.cmake <<'TESTS'
foreach(n 1 2 3 4)
  add_test("unit/unsteady ${n}" bash -c "test -e ../once-${n} || { touch ../once-${n}; exit 1; }")
endforeach()
set(finding "a.cpp:4:2: runtime error: signed integer overflow: 2 + 2147483647")
add_test("finding/fails once" bash -c "test -e ../once || { touch ../once; echo '=7=ERROR: AddressSanitizer: SEGV'; exit 1; }")
add_test("finding/in the repetition" bash -c "if test -e ../again; then echo '${finding}'; else touch ../again; exit 1; fi")
add_test("finding/passes" bash -c "printf '%s\\n' 'WARNING: ThreadSanitizer: data race' 'SUMMARY: ThreadSanitizer: data race a.cpp:4'")
add_test("finding/skipped" bash -c "echo '[orc: skipped] one core'; echo '${finding}'")
set_tests_properties("finding/skipped" PROPERTIES SKIP_REGULAR_EXPRESSION "\\[orc: skipped\\]")
add_test("child/reports" bash -c "test $(stat -c %a sanitizer) = 1777 && printf '%s\\n' '=7=ERROR: LeakSanitizer: leaks' 'SUMMARY: AddressSanitizer: 33 byte(s)' >sanitizer/report.a.out.7")
add_test("planted/use after free" ../planted)
set_tests_properties("planted/use after free" PROPERTIES ENVIRONMENT "ASAN_OPTIONS=log_path=sanitizer/report:log_exe_name=1")
TESTS
# in the first of two runs
cat >planted.cpp <<'CODE'
#include <filesystem>
#include <fstream>
int main(int argc, char**) {
  if (std::filesystem::exists("../once")) return 0;
  std::ofstream("../once") << 1;
  int* const gone = new int(argc);
  delete gone;
  return *gone == 1 ? 0 : 1;
}
CODE
"${CXX:-c++}" -std=c++20 -g1 -w -fsanitize=address planted.cpp -o build/planted

# shellcheck source=tools/dev.d/common.sh
source tools/dev.d/common.sh
# shellcheck source=tools/dev.d/test.sh
source tools/dev.d/test.sh
# what test_main calls and this test does not try
ensure_setup() { :; }
ensure_lcm_venv() { :; }
ensure_mcap_node() { :; }
ensure_foxglove_node() { :; }
ensure_web_venv() { :; }
build_preset() { :; }
python_package() { :; }
python_test() {
  echo "skipped no mypy" >>"$1"
  echo 10 0 1
}

# closes STATUS LINES ARGUMENT…: what the verb returns, and the lines after those of ctest; `shown` gets all it printed
closes() {
  local status=$1 lines=$2 got=0 said
  shift 2
  rm -f build/once* build/again
  shown=$(test_main "$@" 2>&1) || got=$?
  said=$(grep -E '^(skipped [0-9]+|flaky|failed): |^[0-9]+ passed, ' <<<"$shown" || true)
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
[[ $shown == *"unit/flaky first failed with:"$'\n'"    why"* ]] || {
  printf 'the first failure of a flaky test is not shown:\n%s\n' "$shown"
  exit 1
}
closes 1 "failed: unit/flaky
0 passed, 1 failed" tsan -- -R flaky
closes 1 "0 passed, 1 failed" -- -R 'no such test'
closes 1 "failed: unit/absent
0 passed, 1 failed" -- -R absent
closes 0 "$(printf 'flaky: unit/unsteady %s: failed once, passed when repeated\n' 1 2 3)
3 passed, 0 failed" asan -- -R 'unsteady [123]'
closes 1 "$(printf 'flaky: unit/unsteady %s: failed once, passed when repeated\n' 1 2 3 4)
failed: 4 tests passed only when repeated, at most 3 may
4 passed, 1 failed" asan -- -R unsteady
closes 1 "failed: finding/fails once: ERROR: AddressSanitizer: SEGV
failed: finding/in the repetition: runtime error: signed integer overflow: 2 + 2147483647
failed: finding/passes: SUMMARY: ThreadSanitizer: data race a.cpp:4
failed: finding/skipped: runtime error: signed integer overflow: 2 + 2147483647
0 passed, 4 failed" asan -- -R finding
closes 1 "failed: sanitizer report of a.out: SUMMARY: AddressSanitizer: 33 byte(s)
1 passed, 1 failed" asan -- -R child
closes 0 "flaky: unit/unsteady 1: failed once, passed when repeated
1 passed, 0 failed" asan -- -R 'unsteady 1'  # the report above is of another run
closes 1 "flaky: planted/use after free: failed once, passed when repeated
failed: sanitizer report of planted: SUMMARY: AddressSanitizer: heap-use-after-free $ORC_ROOT/planted.cpp:8 in main
1 passed, 1 failed" asan -- -R planted
