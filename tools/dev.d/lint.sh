# tools/dev lint
# shellcheck shell=bash
# shellcheck source=tools/dev.d/python.sh
source "$ORC_ROOT/tools/dev.d/python.sh"

readonly ruff_version=0.17.6 mypy_version=2.4.1

readonly clean_files=${XDG_CACHE_HOME:-$HOME/.cache}/orc-lint

lint_help() {
  cat <<'TEXT'
usage: tools/dev lint [--full | --fix-format]

Over our C++: clang-format; the direction of its includes (between the folders that tools/dev.d/includes.py lists); that
what it uses of the standard library is included; clang for syntax and warnings, over all files together (`syntax`) and
over each changed file alone, headers too (`alone`); clang-tidy over the changed files. shellcheck over the shell scripts,
a syntax check over the Python files, ruff and mypy (of PyPI, in build/lint-venv) over bindings/python; links between the
Markdown files, the pages and promises that comments cite, and the directories that CONTRIBUTING names.

Changed are the files that differ from where the branch left $ORC_BASE (else origin/main, else HEAD~1), committed or not,
and the files that include one of them; all of them when the settings of clang-tidy or of lint change, and with --full.
What clang or clang-tidy (of Debian 12: version 14) found clean is not checked again, in no clone, until it changes or a
header that it includes (for clang-tidy, one of its component): ~/.cache/orc-lint remembers it for a month.

--fix-format rewrites the C++ files instead of complaining. Ends with `N passed, N failed`, one per check.
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

# What the three checks below need, once: the files and the settings in build/lint, and a configured release build.
lint_full=false
ready_for_clang=
ready_for_clang() {
  [[ -z $ready_for_clang ]] || return "$ready_for_clang"
  ready_for_clang=1
  local work=$ORC_ROOT/build/lint settings generated
  mkdir -p "$work" "$clean_files"
  find "$clean_files" -type f -mtime +30 -delete
  # generated headers must exist; nothing else needs to be built
  configure release || return 1
  mapfile -t generated < <(ninja -C build/release -t targets all | sed -nE 's/^([^/].*\.(h|hpp)): CUSTOM_COMMAND$/\1/p')
  build_preset release "${generated[@]}" || return 1
  clang_tool clang-tidy >/dev/null && clang_tool clang++ >/dev/null || return 1
  mapfile -t settings < <(files_named '*.clang-tidy' && ls tools/dev.d/{clang.py,changed.py,include_graph.py,lint.sh})
  {
    "$(clang_tool clang-tidy)" --version
    cat "${settings[@]}"
  } >"$work/inputs"
  # the install test's consumer has a build of its own
  lint_sources >"$work/all"
  if $lint_full; then
    cp "$work/all" "$work/changed"
  else
    "$(python_of_system)" tools/dev.d/changed.py "${settings[@]}" <"$work/all" >"$work/changed" || return 1
  fi
  ready_for_clang=0
}

clang_tool() {
  command -v "$1-$(clang_version)" || command -v "$1"
}

# clang MODE all|changed: see clang.py
clang() {
  local work=$ORC_ROOT/build/lint
  ready_for_clang || return 1
  "$(python_of_system)" tools/dev.d/clang.py "$1" "$work" "$clean_files" "$(clang_tool clang++)" \
    "$(clang_tool clang-tidy)" "$(jobs)" "$work/all" <"$work/$2"
}

check_syntax() {
  clang syntax all
}

check_alone() {
  clang alone changed
}

check_tidy() {
  clang tidy changed
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
  if [[ ${1:-} == --full ]]; then
    lint_full=true
    shift
  fi
  [[ $# -eq 0 ]] || die "lint: unknown argument $1"
  local passed=0 failed=0 check started
  for check in format includes std_includes references tree syntax alone tidy shell python package; do
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
