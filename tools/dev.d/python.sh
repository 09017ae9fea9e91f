# The Python package: its wheel and its tests; for the verbs test, wheel and lint.
# shellcheck shell=bash

# Makes build/wheel/*.whl, unless what it is made of is unchanged.
build_wheel() {
  local wheels=$ORC_ROOT/build/wheel is venv=$ORC_ROOT/build/python-venv
  is=$({
    echo "$ORC_ROOT"
    "$(python_of_system)" --version
    find CMakeLists.txt liborc schemas bindings/python -type f | grep -vE '/(__pycache__|\.[a-z_]+|tests|examples|doc)/' |
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

# pypi_reachable VENV: whether its pip, as it is configured here, gets a small package
pypi_reachable() {
  local got status=0
  got=$(mktemp -d)
  "$1/bin/pip" download --quiet --disable-pip-version-check --retries 1 --timeout 10 --no-deps --no-cache-dir \
    --dest "$got" flatbuffers >/dev/null 2>&1 || status=$?
  rm -rf "$got"
  return "$status"
}

# run_pytest REPORT PYTEST…
run_pytest() {
  local report=$1
  shift
  ORC_BIN_DIR=$ORC_ROOT/build/release/bin ORC_PYTHON_NATIVE=required \
    timeout -k 10 1800 "$ORC_ROOT/build/python-venv/bin/pytest" -q -o cache_dir="$ORC_ROOT/build/pytest-cache" \
    --junitxml "$report" "$@" bindings/python/tests >&2
}

readonly no_pypi=2
readonly zenoh_version=1.10.2

# python_package: the wheel, and what its tests need, in an empty virtual environment. Status no_pypi: without PyPI.
python_package() {
  local venv=$ORC_ROOT/build/python-venv
  if new_venv "$venv" --no-index pip && ! pypi_reachable "$venv"; then
    say "PyPI cannot be reached: the tests of the Python package are skipped"
    return "$no_pypi"
  fi
  # Tests of the bridge are skipped, by name, where it cannot be had.
  "$venv/bin/pip" install --quiet --disable-pip-version-check --only-binary :all: "eclipse-zenoh==$zenoh_version" >&2 ||
    say "no eclipse-zenoh $zenoh_version from PyPI: the tests of the bridge to Zenoh will be skipped"
  if ! { build_wheel &&
    "$venv/bin/pip" install --quiet --disable-pip-version-check "$ORC_ROOT"/build/wheel/*.whl \
      pytest pytest-xdist numpy scipy pyzmq flatbuffers protobuf rosbags mcap mypy >&2; }; then
    say "bindings/python cannot be built or installed"
    return 1
  fi
}

# python_test REMARKS PACKAGE: the tests against the wheel and the programs of build/release; all that they say goes to
# stderr. PACKAGE is the status of python_package. Says "passed failed skipped"; why it skipped goes to REMARKS.
python_test() {
  local remarks=$1 package=$2 status=0
  local report=$ORC_ROOT/build/python-tests.xml again=$ORC_ROOT/build/python-tests-again.xml
  rm -f "$report" "$again"
  if [[ $package -eq $no_pypi ]]; then
    echo "skipped PyPI cannot be reached: all tests of the Python package count as one" >>"$remarks"
    echo 0 0 1
    return
  elif [[ $package -ne 0 ]]; then
    echo 0 1 0
    return
  fi
  run_pytest "$report" --numprocesses "${ORC_JOBS:-2}" || status=$?
  local reports=("$report") some_failed=1  # pytest's status
  if [[ $status -eq $some_failed ]]; then
    say "once again what failed"
    run_pytest "$again" --last-failed --last-failed-no-failures none || true
    [[ ! -e $again ]] || reports+=("$again")
  fi
  local passed=0 failed=0 skipped=0
  [[ ! -e $report ]] || read -r passed failed skipped < <(read_report "$remarks" "${reports[@]}") || true
  # an interrupted run has no report, or none of what it did not come to
  [[ $status -eq 0 || $failed -ne 0 || ($status -eq $some_failed && -e $again) ]] || failed=1
  echo "$passed" "$failed" "$skipped"
}
