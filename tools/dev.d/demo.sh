# tools/dev demo
# shellcheck shell=bash

demo_help() {
  cat <<'TEXT'
usage: tools/dev demo [ARGUMENTS]

Installs the packages that are missing (it says which, and how large they are), builds what it needs (release) and runs
tools/demo: broker, robot and the paper's controller as processes of their own, with live figures, kills and restarts;
ends with a quick round-trip table. Arguments go to tools/demo.

Before it builds, it says how long that takes on this machine. Then one line shows the progress and the time left.
TEXT
}

# Time is proportional to weight: a compiler run costs 3 for the headers and 1 for each file that it compiles, any other
# step 1. One unit of weight takes this share of the time of sample_compile: the processor seconds of the whole build, per
# unit, divided by those of sample_compile.
readonly percent_of_sample=27

progress_every_s=30  # without a terminal

# What ninja's steps begin with: no output of a compiler does.
readonly step_status="ninja step %f/%t: "

# weigh DIRECTORY STEP: sets `weight` for a step by its description
weigh() {
  weight=1
  if [[ $2 =~ ^Building\ C(XX)?\ object\ (.*)\.o$ ]]; then
    weight=4
    if [[ $2 == */together/* ]]; then
      weight=$((3 + $(grep -c '^#include' "$1/${BASH_REMATCH[2]/CMakeFiles\/*.dir\//}")))
    fi
  fi
}

# The processor time of one small compiler run, in milliseconds
sample_compile() {
  local TIMEFORMAT='%U %S' user system
  read -r user system < <({ time "${CXX:-c++}" -std=c++20 -x c++ -c -o /dev/null - 2>/dev/null; } 2>&1 <<'SAMPLE'
#include <functional>
#include <iostream>
#include <map>
#include <regex>
bool matches(const std::string& text) { return std::regex_match(text, std::regex("a+")); }
SAMPLE
  )
  echo $((10#${user//[.,]/} + 10#${system//[.,]/}))
}

about() { # about SECONDS
  if [[ $1 -lt 90 ]]; then
    echo "about $(($1 / 10 * 10 + 10)) seconds"
  else
    echo "about $((($1 + 30) / 60)) minutes"
  fi
}

# show_progress DIRECTORY STEPS WEIGHT ESTIMATE: reads ninja's output. Steps become one line, on a terminal, or a line now and
# then; everything else is shown as it is.
show_progress() {
  local directory=$1 steps=$2 total=$3 estimate=$4 of line weight made=0 started=$SECONDS said=$SECONDS start="" end=$'\n' elapsed
  if [[ -t 2 ]]; then start=$'\r\e[K' end=""; fi
  while IFS= read -r line || [[ -n $line ]]; do
    if [[ ! $line =~ ^"ninja step "([0-9]+)/([0-9]+)": "(.*) ]]; then
      [[ $line == "ninja: no work to do." ]] || printf '%s%s\n' "$start" "$line" >&2
      continue
    fi
    [[ ${BASH_REMATCH[1]} -gt 0 && $total -gt 0 ]] || continue
    # Ninja 1.12 counts the look for new files, which is no step; a step may turn out to be needless.
    of=$((steps < BASH_REMATCH[2] ? steps : BASH_REMATCH[2]))
    line="building: ${BASH_REMATCH[1]} of $of steps"
    weigh "$directory" "${BASH_REMATCH[3]}"
    made=$((made + weight < total ? made + weight : total))
    elapsed=$((SECONDS - started))
    if [[ -t 2 || $((SECONDS - said)) -ge $progress_every_s ]]; then
      said=$SECONDS
      # The estimate counts as much as the first tenth of the work.
      line+=", $(about $(((total - made) * (estimate + 10 * elapsed) / (total + 10 * made)))) left"
      printf '%s%s%s' "$start" "$line" "$end" >&2
    fi
  done
  [[ -z $start || $total -eq 0 ]] || printf '%s' "$start" >&2
}

# build_shown PRESET TARGET…
build_shown() {
  local preset=$1 directory=build/$1 log=build/configure.log weight steps=0 total=0 estimate=0 step cores
  shift
  mkdir -p build
  { configure "$preset" && cmake --build "$directory" --target build.ninja; } >"$log" 2>&1 || {
    cat "$log" >&2
    return 1
  }
  # Under another name: ninja would only plan to run CMake again.
  ln -sf build.ninja "$directory/plan.ninja"
  while IFS= read -r step; do
    [[ $step == "ninja step "* ]] || continue
    weigh "$directory" "${step#*: }"
    total=$((total + weight))
    steps=$((steps + 1))
  done < <(NINJA_STATUS=$step_status ninja -C "$directory" -f plan.ninja -n "$@")
  if [[ $total -gt 0 ]]; then
    cores=$(jobs)
    estimate=$((total * $(sample_compile) * percent_of_sample / 100000 / cores))
    if [[ $cores -eq 1 ]]; then cores="this core"; else cores="these $cores cores"; fi
    say "building takes $(about "$estimate") on $cores"
  fi
  NINJA_STATUS=$step_status build_preset "$preset" "$@" 2>&1 | show_progress "$directory" "$steps" "$total" "$estimate"
}

demo_main() {
  ensure_setup
  build_shown release orc-broker orc_tool orc_demo_robot orc_demo_controller
  [[ -x tools/demo ]] || die "tools/demo is missing"
  exec tools/demo "$@"
}
