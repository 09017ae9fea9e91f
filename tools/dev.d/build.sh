# tools/dev build
# shellcheck shell=bash

build_help() {
  cat <<'TEXT'
usage: tools/dev build [PRESET…]

Configures (once) and builds in build/PRESET; programs are in build/PRESET/bin. Presets: release (default), dev
(debug, assertions), asan (address and undefined), tsan (thread), install (release without tests, examples and
benchmarks).
TEXT
}

build_main() {
  local preset
  [[ $# -gt 0 ]] || set -- release
  for preset in "$@"; do
    [[ $preset == install ]] || is_preset "$preset" || die "build: no preset $preset; there is: $(presets) install"
  done
  ensure_setup
  for preset in "$@"; do
    build_preset "$preset"
    say "built build/$preset"
  done
}
