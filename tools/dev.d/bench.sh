# tools/dev bench
# shellcheck shell=bash

bench_help() {
  cat <<'TEXT'
usage: tools/dev bench [ARGUMENTS]

Builds what it needs (release) and runs `orc bench rtt`, the paper's round-trip table, over inproc, ipc and tcp. Arguments
replace the defaults and go to it: tools/dev bench --transport ipc --size 10,1k --json -
TEXT
}

bench_main() {
  ensure_setup
  build_preset release orc_tool
  local orc=build/release/bin/orc
  [[ -x $orc ]] || die "$orc was not built"
  [[ $# -gt 0 ]] || set -- --transport inproc,ipc,tcp --size 10,100,1k,10k,100k,1M,10M --messages 10000
  exec "$orc" bench rtt "$@"
}
