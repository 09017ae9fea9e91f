# tools/dev docs
# shellcheck shell=bash
# shellcheck source=tools/dev.d/python.sh
source "$ORC_ROOT/tools/dev.d/python.sh"

readonly docs_packages="sphinx==8.2.3 myst-parser==4.0.1 furo==2025.7.19 breathe==4.36.0 numpy typing-extensions"

docs_help() {
  cat <<'TEXT'
usage: tools/dev docs

Builds the documentation as a site in build/docs: README, guides, contract, design and formats, with the reference of
the C++ headers (Doxygen) and of the Python package (its docstrings, from the wheel that this verb builds). Sphinx and
its theme are of PyPI, in build/docs-venv. A broken link or anchor, a public name of C++ or Python without a comment,
and every other warning is an error. Open build/docs/index.html. `tools/dev test -- -L docs` runs the code blocks.
TEXT
}

ensure_docs_venv() {
  local venv=$ORC_ROOT/build/docs-venv is="$docs_packages in $ORC_ROOT"
  if [[ ! -e $venv/is || $(<"$venv/is") != "$is" ]]; then
    say "installing Sphinx from PyPI in build/docs-venv"
    # shellcheck disable=SC2086 # a list of words
    new_venv "$venv" $docs_packages || return
    echo "$is" >"$venv/is"
  fi
  [[ -x build/python-venv/bin/pip ]] || new_venv "$ORC_ROOT/build/python-venv" pip || return
  build_wheel || return
  # as fresh as the wheel: its version does not change with each build
  [[ $venv/wheel -nt build/wheel/is ]] || {
    "$venv/bin/pip" install --quiet --disable-pip-version-check --no-deps --force-reinstall build/wheel/*.whl >&2 &&
      touch "$venv/wheel"
  }
}

# A copy of the tree, where the pages have their places: links between them work as they do in the repository.
docs_sources() {
  local source=$1
  rm -rf "$source"
  mkdir -p "$source"
  files_named '*' | tr '\n' '\0' | xargs -0 cp --parents --link --target-directory "$source"
  cp -r tools/dev.d/docs/api "$source/api"
}

docs_main() {
  [[ $# -eq 0 ]] || die "docs: unknown argument $1"
  ensure_setup docs
  ensure_docs_venv || die "docs: Sphinx or the package orc cannot be installed"
  local work=$ORC_ROOT/build/docs-work
  docs_sources "$work/source"
  doxygen tools/dev.d/docs/Doxyfile >&2 || die "docs: a public name of the C++ headers has no comment, or a wrong one"
  rm -rf build/docs
  # afresh: it would not repeat the warnings about pages that have not changed
  build/docs-venv/bin/sphinx-build --fresh-env --quiet --fail-on-warning --keep-going --jobs "$(jobs)" \
    -c tools/dev.d/docs -d "$work/doctrees" "$work/source" build/docs >&2 ||
    die "docs: see the warnings above"
  say "built build/docs/index.html"
}
