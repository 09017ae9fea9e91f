#!/usr/bin/env bash
# demo_test.sh SOURCE: what `tools/dev demo` shows of a build, over a build tree whose compiler is a script.
# shellcheck disable=SC2016 # scripts expand it
set -euo pipefail

source_dir=$1
ORC_ROOT=$(mktemp -d)
trap 'rm -rf "$ORC_ROOT"' EXIT
cd "$ORC_ROOT"
mkdir -p build/release/app/together
printf '#include "%s.cpp"\n' one two three four five >build/release/app/together/demo_5.cpp
# As CMake's: whether it must run again, ninja finds out each time.
cat >build/release/build.ninja <<'NINJA'
rule again
  command = true
  description = Re-checking globbed directories...
  generator = 1
  pool = console
  restat = 1
build glob: phony
build build.ninja: again glob
rule compile
  command = ../../compile $out
  description = Building CXX object $out
rule link
  command = touch $out
  description = Linking CXX executable $out
build app/CMakeFiles/demo.dir/together/demo_5.cpp.o: compile
build main.cpp.o: compile
build demo: link app/CMakeFiles/demo.dir/together/demo_5.cpp.o main.cpp.o
NINJA
printf '#!/bin/sh\ntouch "$1"\n' >compile
chmod +x compile

# shellcheck source=tools/dev.d/common.sh
source "$source_dir/tools/dev.d/common.sh"
# shellcheck source=tools/dev.d/demo.sh
source "$source_dir/tools/dev.d/demo.sh"
ORC_JOBS=2
cmake() { # cmake --build DIRECTORY [--parallel N] --target TARGET…
  local words=("$@")
  [[ $3 != --parallel ]] || words=("${@:1:2}" "${@:5}")
  (cd "$2" && ninja -j1 "${words[@]:3}")
}
sample_compile() { echo 15000; }
export -f cmake sample_compile

fail() {
  printf '%s\n' "$@"
  exit 1
}

# shows STATUS OUTPUT: of a build; lines are joined with |
shows() {
  local got=0 said
  said=$(build_shown release demo 2>&1 | paste -sd'|') || got=$?
  [[ $got -eq $1 && $said == "$2" ]] || fail "status $got, output:" "$said" "--- instead of status $1 and:" "$2"
}

# Weights: 3 + 5 and 3 + 1 for the compiler, 1 for the linker: 13 * 15 s * 35 % / 2 cores
says="tools/dev: building takes about 30 seconds on these 2 cores"
shows 0 "$says"
shows 0 ""

# Without a terminal, a line now and then
rm build/release/main.cpp.o build/release/app/CMakeFiles/demo.dir/together/*.o
progress_every_s=0
shows 0 "$says|building: 1 of 3 steps, about 10 seconds left|building: 2 of 3 steps, about 10 seconds left|building: 3 of 3 steps, about 10 seconds left"

# An error is shown as it is, and its status kept.
rm build/release/main.cpp.o
says="tools/dev: building takes about 20 seconds on these 2 cores"
printf '#!/bin/sh\necho "[7/8] main.cpp:1: error: no"; printf "no newline"; exit 3\n' >compile
progress_every_s=30
shows 1 "$says|FAILED: main.cpp.o |../../compile main.cpp.o|[7/8] main.cpp:1: error: no|no newline|ninja: build stopped: subcommand failed."

# On a terminal, the line is written over and, in the end, cleared.
printf '#!/bin/sh\ntouch "$1"\n' >compile
export ORC_ROOT ORC_JOBS source_dir
# In bash: dash drops the exported functions.
said=$(SHELL=$BASH script -qec "bash -c 'source $source_dir/tools/dev.d/common.sh; source $source_dir/tools/dev.d/demo.sh
  sample_compile() { echo 15000; }
  build_shown release demo'" /dev/null)
line=$'\r\e[K'
[[ $said == "$says"*$'\n'"${line}building: 1 of 2 steps, about 10 seconds left${line}building: 2 of 2 steps, about 10 seconds left$line" ]] ||
  fail "on a terminal:" "$(cat -v <<<"$said")"
