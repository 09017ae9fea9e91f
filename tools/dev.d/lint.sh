# tools/dev lint
# shellcheck shell=bash
# shellcheck source=tools/dev.d/python.sh
source "$ORC_ROOT/tools/dev.d/python.sh"

readonly ruff_version=0.17.6 mypy_version=2.4.1

lint_help() {
  cat <<'TEXT'
usage: tools/dev lint [--fix-format]

clang-format and clang-tidy (of Debian 12: version 14) over our C++, the direction of its includes (between the folders
that tools/dev.d/includes.py lists), and that it includes what it uses of the standard library; shellcheck over the shell scripts, a syntax check over the Python files, ruff and
mypy (of PyPI, in build/lint-venv) over bindings/python; links between the Markdown files, the pages and promises that
comments cite, and the directories that CONTRIBUTING names. --fix-format rewrites the C++ files instead of complaining.
Ends with `N passed, N failed`, one per check. A file that clang-tidy found clean is not checked again, in no clone, until
it changes or a header of its component that it includes itself: ~/.cache/orc-lint remembers it for a month.
TEXT
}

# Our C++; the listing is the paper's, byte for byte.
lint_sources() {
  files_named '*.h' '*.cpp' | grep -vx 'tests/install/listing1.cpp' || true
}

with_shebang() { # with_shebang INTERPRETER: files without an extension that start with it
  local file
  files_named '*' | grep -vE '\.[a-z]+$' | while IFS= read -r file; do
    if head -c 64 "$file" | head -1 | grep -qaE "^#!.*\b$1"; then echo "$file"; fi
  done
}

check_format() {
  local tool
  tool=$(command -v "clang-format-$(clang_version)" || command -v clang-format) || return 1
  lint_sources | xargs -r "$tool" --dry-run -Werror
}

check_includes() {
  "$(python_of_system)" tools/dev.d/includes.py "$ORC_ROOT"
}

check_std_includes() {
  lint_sources | "$(python_of_system)" tools/dev.d/std_includes.py
}

# The translation units that the release build compiles, many at once (tidy.py); a clean one is remembered by a hash.
check_tidy() {
  local tidy_tool compiler work=$ORC_ROOT/build/lint clean=${XDG_CACHE_HOME:-$HOME/.cache}/orc-lint
  tidy_tool=$(command -v "clang-tidy-$(clang_version)" || command -v clang-tidy) || return 1
  compiler=$(command -v "clang++-$(clang_version)" || command -v clang++) || return 1
  mkdir -p "$work" "$clean"
  find "$clean" -type f -mtime +30 -delete
  # generated headers must exist; nothing else needs to be built
  configure release || return 1
  if ninja -C build/release -t targets all | grep -q '^orc_wire:'; then
    build_preset release orc_wire || return 1
  fi
  {
    "$tidy_tool" --version
    files_named '*.clang-tidy' | xargs -r cat
    cat tools/dev.d/tidy.py
  } >"$work/inputs"
  # GCC's precompiled headers mean nothing to clang
  sed 's| -Winvalid-pch -include [^ "]*cmake_pch.hxx||' build/release/compile_commands.json >"$work/compile_commands.json"
  # the install test's consumer has a build of its own
  lint_sources | "$(python_of_system)" tools/dev.d/tidy.py "$work" "$clean" "$tidy_tool" "$compiler" "$(jobs)"
}

# What CONTRIBUTING says about the directories, against the tree
check_tree() {
  files_named '*' | "$(python_of_system)" tools/dev.d/tree.py CONTRIBUTING.md
}

check_shell() {
  { files_named '*.sh' && with_shebang '(ba)?sh'; } | sort -u | xargs -r shellcheck -x
}

check_python() {
  local files
  mapfile -t files < <({ files_named '*.py' && with_shebang python3; } | sort -u)
  [[ ${#files[@]} -gt 0 ]] || return 0
  # parse only: no bytecode files are left behind
  python3 - "${files[@]}" <<'PYTHON'
import sys
bad = 0
for path in sys.argv[1:]:
    try:
        with open(path, "rb") as file:
            compile(file.read(), path, "exec")
    except SyntaxError as error:
        print(f"{path}:{error.lineno}: {error.msg}", file=sys.stderr)
        bad = 1
sys.exit(bad)
PYTHON
}

check_package() {
  local venv=$ORC_ROOT/build/lint-venv is="ruff $ruff_version, mypy $mypy_version in $ORC_ROOT"
  if [[ ! -e $venv/is || $(<"$venv/is") != "$is" ]]; then
    new_venv "$venv" "ruff==$ruff_version" "mypy==$mypy_version" numpy pyzmq flatbuffers || return 1
    echo "$is" >"$venv/is"
  fi
  (cd bindings/python && "$venv/bin/ruff" check --quiet . && "$venv/bin/ruff" format --quiet --check . &&
    "$venv/bin/mypy" --cache-dir "$ORC_ROOT/build/lint-venv/mypy" orc)
}

# Without the test of this check, whose tree has wrong references.
check_references() {
  files_named '*' | grep -vx 'tests/dev/references_test.sh' | "$(python_of_system)" "$ORC_ROOT/tools/dev.d/references.py"
}

lint_main() {
  ensure_setup lint
  if [[ ${1:-} == --fix-format ]]; then
    lint_sources | xargs -r "clang-format-$(clang_version)" -i
    return
  fi
  [[ $# -eq 0 ]] || die "lint: unknown argument $1"
  local passed=0 failed=0 check started
  for check in format includes std_includes references tree tidy shell python package; do
    started=$SECONDS
    if "check_$check"; then
      passed=$((passed + 1))
      echo "lint $check: clean ($((SECONDS - started)) s)"
    else
      failed=$((failed + 1))
      echo "lint $check: FAILED ($((SECONDS - started)) s)"
    fi
  done
  echo "$passed passed, $failed failed"
  [[ $failed -eq 0 ]]
}
