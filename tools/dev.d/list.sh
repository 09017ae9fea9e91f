# tools/dev list
# shellcheck shell=bash
# with python.sh
# shellcheck source=tools/dev.d/lint.sh
source "$ORC_ROOT/tools/dev.d/lint.sh"

list_help() {
  cat <<'TEXT'
usage: tools/dev list [PRESET…]

Builds each preset (default: release) and prints the name of everything that is tested, sorted, one per line: the ctest
tests of the preset, with release those of the Python package, and the fuzz targets, the configurations of the model and
the checks of lint. What a change loses or adds:

  tools/dev list release asan tsan >before     (then change, and the same with >after)
  LC_ALL=C comm -3 before after
TEXT
}

list_ctest() { # list_ctest PRESET
  build_preset "$1" || die "list: preset $1 does not build"
  ctest --test-dir "build/$1" -N | sed -n "s/^ *Test *#[0-9]*: /ctest $1: /p" || die "list: no tests in build/$1"
}

list_pytest() {
  python_package || die "list: the tests of the Python package cannot be listed"
  ORC_BIN_DIR=$ORC_ROOT/build/release/bin build/python-venv/bin/pytest --collect-only -q \
    -o cache_dir="$ORC_ROOT/build/pytest-cache" bindings/python/tests | sed -n '/::/s/^/pytest: /p' ||
    die "list: pytest cannot list the tests of the Python package"
}

list_names() {
  local preset source
  for preset in "$@"; do
    list_ctest "$preset"
    [[ $preset != release ]] || list_pytest
  done
  for source in tests/fuzz/*_fuzz.cpp; do echo "fuzz: $(basename "$source" _fuzz.cpp)"; done
  sed -nE 's/^(config|defect) +([^ ]+).*/model: \1 \2/p' tests/model/configurations
  declare -F | sed -n 's/^declare -f check_/lint: /p'
}

list_main() {
  local preset
  [[ $# -gt 0 ]] || set -- release
  for preset in "$@"; do
    is_preset "$preset" || die "list: no preset $preset; there is: $(presets)"
  done
  ensure_setup
  list_names "$@" | LC_ALL=C sort
}
