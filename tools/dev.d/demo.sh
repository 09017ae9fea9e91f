# tools/dev demo
# shellcheck shell=bash

demo_help() {
  cat <<'TEXT'
usage: tools/dev demo [ARGUMENTS]

Installs the packages that are missing (it says which, and how large they are), builds what it needs (release) and runs
tools/demo: broker, robot and the paper's controller as processes of their own, with live figures, kills and restarts;
ends with a quick round-trip table. Arguments go to tools/demo.
TEXT
}

demo_main() {
  ensure_setup
  build_preset release orc-broker orc_tool orc_demo_robot orc_demo_controller
  [[ -x tools/demo ]] || die "tools/demo is missing"
  exec tools/demo "$@"
}
