# The Python package: its wheel and its tests; for the verbs test, wheel and lint.
# shellcheck shell=bash

# Makes build/wheel/*.whl, unless what it is made of is unchanged.
build_wheel() {
  local wheels=$ORC_ROOT/build/wheel is venv=$ORC_ROOT/build/python-venv
  is=$({
    echo "$ORC_ROOT"
    "$(python_of_system)" --version
    find CMakeLists.txt liborc schemas bindings/python -type f | grep -vE '/(__pycache__|\.[a-z_]+|tests|examples)/' |
      sort | xargs sha256sum
  } | sha256sum | cut -c1-40)
  [[ ! -e $wheels/is || $(<"$wheels/is") != "$is" ]] || return 0
  say "building the wheel of bindings/python"
  rm -rf "$wheels"
  mkdir -p "$wheels"
  CMAKE_BUILD_PARALLEL_LEVEL=$(jobs) "$venv/bin/pip" wheel --quiet --disable-pip-version-check --no-deps \
    --wheel-dir "$wheels" --config-settings=build-dir="$ORC_ROOT/build/python" bindings/python >&2 || return
  echo "$is" >"$wheels/is"
}

# python_counts REPORT: "tests failed skipped" of pytest's report
python_counts() {
  "$(python_of_system)" - "$1" <<'PYTHON'
import sys
import xml.etree.ElementTree as tree

suites = [each.attrib for each in tree.parse(sys.argv[1]).iter("testsuite")]
count = lambda name: sum(int(each.get(name, 0)) for each in suites)
print(count("tests"), count("failures") + count("errors"), count("skipped"))
PYTHON
}

# The wheel in an empty virtual environment, and the tests against it and the programs of build/release; all that they
# say goes to stderr. Says "passed failed skipped".
python_test() {
  local venv=$ORC_ROOT/build/python-venv report=$ORC_ROOT/build/python-tests.xml status=0
  rm -f "$report"
  if ! { new_venv "$venv" pip && build_wheel &&
    "$venv/bin/pip" install --quiet --disable-pip-version-check "$ORC_ROOT"/build/wheel/*.whl \
      pytest numpy pyzmq flatbuffers mypy >&2; }; then
    say "bindings/python cannot be built or installed"
    echo 0 1 0
    return
  fi
  ORC_BIN_DIR=$ORC_ROOT/build/release/bin ORC_PYTHON_NATIVE=required \
    timeout -k 10 1800 "$venv/bin/pytest" -q -p no:cacheprovider --junitxml "$report" bindings/python/tests >&2 ||
    status=$?
  local all=0 failed=0 skipped=0
  [[ ! -e $report ]] || read -r all failed skipped < <(python_counts "$report")
  # an interrupted run has no report, or none of what it did not come to
  [[ $status -eq 0 || $failed -ne 0 ]] || failed=1 all=$((all + 1))
  echo $((all - failed - skipped)) "$failed" "$skipped"
}
