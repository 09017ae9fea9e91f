#!/usr/bin/env bash
# list_test.sh SOURCE: `tools/dev list` over a tree with one name of each kind.
set -euo pipefail

source_dir=$1
ORC_ROOT=$(mktemp -d)
trap 'rm -rf "$ORC_ROOT"' EXIT
cd "$ORC_ROOT"
mkdir -p tools build/release build/asan build/python-venv/bin tests/fuzz tests/model
ln -s "$source_dir/tools/dev.d" tools/dev.d
printf '%s\n' 'add_test("unit/second, \"<quoted>\"" true)' 'add_test(unit/first true)' |
  tee build/{release,asan}/CTestTestfile.cmake >/dev/null
printf '#!/bin/sh\necho "tests/test_a.py::test[ipc]"\necho "1 test collected"\n' >build/python-venv/bin/pytest
chmod +x build/python-venv/bin/pytest
touch tests/fuzz/link_fuzz.cpp
printf '# a remark\nconfig newest -DPUTS=4\ndefect TORN torn newest\n' >tests/model/configurations

# shellcheck source=tools/dev.d/common.sh
source tools/dev.d/common.sh
# shellcheck source=tools/dev.d/list.sh
source tools/dev.d/list.sh
ensure_setup() { :; }
build_preset() { :; }
python_package() { :; }

expected='ctest asan: unit/first
ctest asan: unit/second, "<quoted>"
ctest release: unit/first
ctest release: unit/second, "<quoted>"
fuzz: link
model: config newest
model: defect TORN
pytest: tests/test_a.py::test[ipc]'
said=$(list_main release asan)
[[ $(grep -v '^lint: ' <<<"$said") == "$expected" && $said == *"lint: tidy"* ]] || {
  printf '%s\n' "$said" "--- instead of:" "$expected"
  exit 1
}
python_package() { return 2; }
if list_main >/dev/null 2>&1; then
  echo "a list without the Python package's tests looks complete"
  exit 1
fi
