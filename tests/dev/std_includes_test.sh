#!/usr/bin/env bash
# std_includes_test.sh SOURCE: `tools/dev lint` finds what a file uses of the standard library and does not include.
set -euo pipefail

check=$1/tools/dev.d/std_includes.py
tree=$(mktemp -d)
trap 'rm -rf "$tree"' EXIT
cd "$tree"
mkdir -p lib/inner

cat >lib/inner/base.h <<'CPP'
#include <string>
CPP
cat >lib/outer.h <<'CPP'
#include "inner/base.h"
CPP

# says EXPECTED LINE…: what is found in a file of these lines that includes the headers above; EXPECTED is a pattern
says() {
  local expected=$1 said
  shift
  printf '%s\n' "$@" >lib/file.cpp
  said=$(printf '%s\n' lib/file.cpp lib/outer.h lib/inner/base.h | python3 "$check" 2>&1) || true
  # shellcheck disable=SC2053 # a pattern
  if [[ $said != $expected ]]; then
    printf 'instead of "%s" for:\n%s\n%s\n' "$expected" "$*" "$said"
    exit 1
  fi
}

says 'lib/file.cpp:1: uses std::uint8_t without #include <cstdint>' 'enum class way : std::uint8_t { one };'
says 'lib/file.cpp:1: uses uint8_t without #include <cstdint>' 'uint8_t one;'
says 'lib/file.cpp:2: uses std::vector without #include <vector>' '#include <string>' 'std::vector<int> a, b;'
says 'lib/file.cpp:1: uses std::move without #include <utility>' 'auto a = std::move(b);'
says 'lib/file.cpp:1: uses std::size_t without *<cstddef> or *<cstdlib>*' 'std::size_t a;'
says 'lib/file.cpp:1: uses errno without #include <cerrno>' 'int a = errno;'
says 'lib/file.cpp:1: std::strnig is not in the table of std_includes.py' 'std::strnig a;'
says '*std::vector*lib/file.cpp:2: uses std::map*' 'std::vector<int> a;' 'std::map<int, int> b;'
says '' '#include <cstdio>' 'std::size_t a;'
says '' '#include <errno.h>' 'int a = errno;'
says '' '#include "outer.h"' 'std::string a;'
says '' '#include "inner/base.h"' 'std::string_view a;'
says '' '// std::vector' '/* std::' 'vector */ auto a = "std::vector";' "auto b = R\"(std::vector \")\";"
says 'lib/file.cpp:3: uses std::map*' '/* a' 'b */' "auto c = 1'000; std::map<int, int> d; auto e = 'f';"
