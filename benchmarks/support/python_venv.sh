# Virtual environments of the benchmarks in Python; sourced, not run.
# shellcheck shell=bash

ORC_ROOT=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)

# python_venv NAME REQUIREMENTS [COMMAND…]: makes build/NAME-venv with what the file REQUIREMENTS lists and this
# repository's Python package, and installs again what has changed; COMMAND with the path of its pip is called in between.
# Sets `venv`.
python_venv() {
  local requirements=$2 newer
  venv=$ORC_ROOT/build/$1-venv
  shift 2
  if [[ -e $venv/installed ]]; then
    newer=$(find "$requirements" "$ORC_ROOT"/{bindings/python,liborc,schemas} -type f -newer "$venv/installed" \
      -not -path '*/__pycache__/*' -not -path '*/.*' -not -path '*/tests/*' -print -quit)
    [[ -n $newer ]] || return 0
  fi
  echo "preparing $venv" >&2
  [[ -x $venv/bin/python ]] || "${PYTHON:-python3}" -m venv "$venv"
  "$venv/bin/pip" install --quiet --disable-pip-version-check --requirement "$requirements"
  [[ $# -eq 0 ]] || "$@" "$venv/bin/pip"
  "$venv/bin/pip" install --quiet --disable-pip-version-check "$ORC_ROOT/bindings/python"
  touch "$venv/installed"
}
