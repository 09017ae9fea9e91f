# Shared by the verbs of tools/dev; sourced, not run.
# shellcheck shell=bash

presets() {
  echo "dev release asan tsan asan-check tsan-check"
}

jobs() {
  echo "${ORC_JOBS:-$(nproc)}"
}

# Progress and errors go to stderr: `tools/dev bench --json -` must stay usable in a pipe.
say() {
  echo "tools/dev: $*" >&2
}

die() {
  echo "tools/dev: error: $*" >&2
  exit 1
}

is_preset() {
  [[ " $(presets) " == *" $1 "* ]]
}

# Linux may place a process where the ThreadSanitizer of gcc 12 cannot work ("unexpected memory mapping",
# vm.mmap_rnd_bits > 28): what belongs to tsan runs without address randomisation, where that is permitted.
without_aslr_for() {
  local preset=$1
  shift
  if [[ $preset == tsan* ]] && setarch "$(uname -m)" -R true 2>/dev/null; then
    setarch "$(uname -m)" -R "$@"
  else
    "$@"
  fi
}

# configure PRESET: only when there is no build tree yet; afterwards ninja re-runs CMake itself when it must.
configure() {
  local preset=$1
  if [[ ! -e build/$preset/build.ninja ]]; then
    # a tree that another place configured (a moved or copied clone) cannot be used
    rm -rf "build/$preset/CMakeCache.txt" "build/$preset/CMakeFiles"
    cmake --preset "$preset" >&2
  fi
}

# build_preset PRESET [TARGET…]
build_preset() {
  local preset=$1
  shift
  configure "$preset" || return
  local targets=()
  [[ $# -eq 0 ]] || targets=(--target "$@")
  without_aslr_for "$preset" cmake --build "build/$preset" --parallel "$(jobs)" "${targets[@]}" >&2
}

# Our text files of one kind: git's where there is git (no build trees, no editor files), else by walking.
files_named() {
  if git rev-parse --is-inside-work-tree >/dev/null 2>&1; then
    git ls-files --cached --others --exclude-standard -- "$@" | while IFS= read -r file; do
      [[ ! -f $file ]] || echo "$file"
    done | sort -u
  else
    local pattern
    for pattern in "$@"; do
      find . -path ./build -prune -o -type f -name "${pattern##*/}" -print
    done | sed 's|^\./||' | sort -u
  fi
}

# The distribution's, whose headers setup installs, and to which python3-venv belongs; it need not be the first in PATH.
python_of_system() {
  if [[ -x /usr/bin/python3 ]]; then echo /usr/bin/python3; else echo python3; fi
}

# new_venv DIRECTORY PACKAGE…: packages, or options of pip install
new_venv() {
  local venv=$1
  shift
  rm -rf "$venv"
  "$(python_of_system)" -m venv "$venv" >&2 &&
    "$venv/bin/pip" install --quiet --disable-pip-version-check "$@" >&2
}

# read_report REMARKS REPORT [RERUN]: "passed failed skipped" of a report of ctest or pytest; see report.py
read_report() {
  "$(python_of_system)" "$ORC_ROOT/tools/dev.d/report.py" "$@"
}

# fail_if_flaky REMARKS: fails, with a remark, when too many tests passed only when repeated
fail_if_flaky() {
  local flaky=0
  [[ ! -e $1 ]] || flaky=$(sed -n 's/^flaky //p' "$1" | sort -u | wc -l)
  [[ $flaky -le 3 ]] || {
    echo "failed $flaky tests passed only when repeated, at most 3 may" >>"$1"
    return 1
  }
}

# closing_line LOG STATUS: the last `N passed, N failed` in LOG. Output without one counts as one, and a status other than
# 0 as at least one failure.
closing_line() {
  local line
  line=$(grep -E '^[0-9]+ passed, [0-9]+ failed(, [0-9]+ skipped)?$' "$1" | tail -n 1) || true
  if [[ -z $line ]]; then
    if [[ $2 -eq 0 ]]; then line="1 passed, 0 failed"; else line="0 passed, 1 failed"; fi
  fi
  [[ $2 -eq 0 ]] || line=${line/ 0 failed/ 1 failed}
  echo "$line"
}

# show_remarks REMARKS: each reason for skipping with its count, the tests that passed only when repeated, those that
# failed
show_remarks() {
  [[ -e $1 ]] || return 0
  sed -n 's/^skipped //p' "$1" | LC_ALL=C sort | uniq -c | LC_ALL=C sort -rn |
    sed -E 's/^ *([0-9]+) (.*)/skipped \1: \2/'
  sed -n 's/^flaky //p' "$1" | sort -u | sed 's/.*/flaky: &: failed once, passed when repeated/'
  sed -n 's/^failed //p' "$1" | sort -u | sed 's/^/failed: /'
}
