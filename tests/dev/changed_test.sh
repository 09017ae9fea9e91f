#!/usr/bin/env bash
# changed_test.sh SOURCE: which files `tools/dev lint` takes as changed, in a repository that is made for it.
set -euo pipefail

source_dir=$1
tree=$(mktemp -d)
trap 'rm -rf "$tree"' EXIT
cd "$tree"
unset ORC_BASE "${!GIT_@}"

commit() {
  git add -A
  git -c user.name=test -c user.email=test@example.invalid -c commit.gpgsign=false commit -qm "$1"
}

# is EXPECTED: the files, as one line
is() {
  local said
  said=$(find lib -name '*.h' -o -name '*.cpp' | sort |
    python3 "$source_dir/tools/dev.d/changed.py" settings 2>errors | tr '\n' ' ') || true
  said=${said% }
  if [[ $said != "$1" ]]; then
    printf 'line %s: instead of "%s": "%s"\n' "${BASH_LINENO[0]}" "$1" "$said"
    cat errors
    exit 1
  fi
}

mkdir -p lib/near
echo '#include <vector>' >lib/near/base.h
echo '#include "near/base.h"' >lib/over.h
echo '#include "over.h"' >lib/user.cpp
echo 'int a;' >lib/other.cpp
touch settings
readonly all="lib/near/base.h lib/other.cpp lib/over.h lib/user.cpp"
is "$all" # no repository

git init -q -b main .
echo errors >.gitignore
commit "one"
is "$all" # no commit before
echo 'int b;' >>lib/other.cpp
commit "two"
is "lib/other.cpp"
echo '#include <map>' >>lib/near/base.h # not committed
is "$all"
git checkout -q lib/near/base.h
echo 'int c;' >lib/new.cpp # not even added
is "lib/new.cpp lib/other.cpp"
commit "three"
is "lib/new.cpp"

git update-ref refs/remotes/origin/main HEAD~1
is "lib/new.cpp"
git update-ref refs/remotes/origin/main HEAD~2
is "lib/new.cpp lib/other.cpp"
git update-ref refs/remotes/origin/main HEAD
is "lib/new.cpp" # on the main branch: its last commit
export ORC_BASE=main
is ""
echo '#include <set>' >>lib/over.h
is "lib/over.h lib/user.cpp"
echo changed >settings
is "lib/near/base.h lib/new.cpp lib/other.cpp lib/over.h lib/user.cpp"
export ORC_BASE=nothing
is ""
grep -q 'ORC_BASE=nothing has no commit in common' errors
