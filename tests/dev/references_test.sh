#!/usr/bin/env bash
# references_test.sh SOURCE: what `tools/dev lint` says about links and citations, in a tree that is made for it.
set -euo pipefail

source_dir=$1
tree=$(mktemp -d)
trap 'rm -rf "$tree"' EXIT
cd "$tree"
mkdir -p liborc/doc/design tests
cat >README.md <<'PAGE'
[good](liborc/doc/design/shm.md#slots-1), [good](#read-it), [a folder](liborc/doc), [elsewhere](https://example.org/x)
[wrapped
text](liborc/doc/gone.md), [bad heading](liborc/doc/design/shm.md#slots-2)
`[code](not/a/link.md)`, `gone/too.md`, `doc/contract.md`
```
[code](gone.md#at-all)
```
![picture](gone.png) [outside](../README.md)
# `Read` it!
PAGE
printf '### 1. Newest wins\n### 2. Nothing blocks\n' >liborc/doc/contract.md
cat >liborc/doc/design/shm.md <<'PAGE'
# Slots
## Slots
```
# Slots
```
PAGE
cat >tests/good.cpp <<'CODE'
// contract.md 1 and 2: liborc/doc/design/shm.md, and doc/contract.md
// 2. *.md is a pattern.
CODE
cat >tests/bad.cpp <<'CODE'
// contract.md 1, 3 and 2; contract.md
// 4; gone.md 1
// tests/good.cpp, liborc/src/gone.h
CODE
printf 'contract.md 9\0' >tests/binary

check() {
  find . -type f | sed 's|^\./||' | sort | python3 "$source_dir/tools/dev.d/references.py" 2>&1
}

status=0
said=$(check) || status=$?
expected='README.md:3: no such file: liborc/doc/gone.md
README.md:3: no such heading: liborc/doc/design/shm.md#slots-2
README.md:4: no such page: gone/too.md
README.md:8: no such file: gone.png
README.md:8: no such file: ../README.md
tests/bad.cpp:1: no promise 3 in liborc/doc/contract.md
tests/bad.cpp:1: no promise 4 in liborc/doc/contract.md
tests/bad.cpp:2: no such page: gone.md
tests/bad.cpp:3: no such file: liborc/src/gone.h'
if [[ $status -ne 1 || $said != "$expected" ]]; then
  printf 'references.py: status %s and:\n%s\n--- instead of status 1 and:\n%s\n' "$status" "$said" "$expected"
  exit 1
fi

rm README.md tests/bad.cpp
check
