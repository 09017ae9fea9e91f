#!/usr/bin/env bash
# clang_test.sh SOURCE: what `tools/dev lint` compiles for syntax, alone and together, in a tree that is made for it.
set -euo pipefail

source_dir=$1
tree=$(mktemp -d)
trap 'rm -rf "$tree"' EXIT
cd "$tree"
mkdir -p lib/alone build/release/together work clean
touch work/inputs

# Both sources hide that bad.h does not include what it uses. They and three.cpp define the same name.
printf '%s\n' '#pragma once' 'inline int file_of(FILE*) { return 1; }' >lib/bad.h
printf '%s\n' '#include <cstdio>' '#include "bad.h"' 'static int same() { return file_of(stdout); }' \
  'int one() { return same(); }' >lib/one.cpp
printf '%s\n' '#include <cstdio>' '#include "bad.h"' 'static int same() { return file_of(stderr); }' \
  'int two() { return same(); }' >lib/two.cpp
printf '%s\n' 'static int same() { return 3; }' 'int three() { return same(); }' >lib/three.cpp
printf '%s\n' 'no C++' >lib/left_out.h
files=(lib/bad.h lib/one.cpp lib/two.cpp lib/three.cpp lib/left_out.h)
printf '%s\n' "${files[@]}" >work/all
# as the build compiles several files together, with a precompiled header
echo '#include <cstdio>' >build/cmake_pch.hxx
printf '#include "../../../%s"\n' lib/{one,three}.cpp >build/release/together/lib_2.cpp
entry() {
  printf '{"directory": "%s", "file": "%s", "command": "c++ -Werror -Wall %s-o x.o -c %s"}' "$tree/build" "$1" "$2" "$1"
}
{
  echo '['
  entry "$tree/build/release/together/lib_2.cpp" "-Winvalid-pch -include $tree/build/cmake_pch.hxx "
  echo ','
  entry "$tree/lib/two.cpp" ''
  echo ']'
} >build/release/compile_commands.json

# says MODE EXPECTED: a pattern of what clang.py finds in all files
says() {
  local said status=0 wanted=0
  said=$(printf '%s\n' "${files[@]}" |
    python3 "$source_dir/tools/dev.d/clang.py" "$1" work clean c++ none 1 work/all 2>&1) || status=$?
  [[ -z $2 ]] || wanted=1
  # shellcheck disable=SC2053 # a pattern
  if [[ $said != $2 || $status -ne $wanted ]]; then
    printf '%s, status %d, instead of "%s":\n%s\n' "$1" "$status" "$2" "$said"
    exit 1
  fi
}

remembered() {
  if [[ $(find clean -type f | wc -l) -ne $1 ]]; then
    printf '%s are remembered as clean instead of %s\n' "$(find clean -type f | wc -l)" "$1"
    exit 1
  fi
}

says syntax ''
remembered 3
says alone '*bad.h:2*alone: in lib/bad.h'
remembered 6
sed -i '1a #include <cstdio>' lib/bad.h
says alone ''
remembered 9
echo 'int four(int a) { return (a = 4) ? 4 : a == 4 && a == 5 || a == 6; }' >>lib/three.cpp
says syntax '*three.cpp:3*parentheses*syntax: in lib/three.cpp'
remembered 11
