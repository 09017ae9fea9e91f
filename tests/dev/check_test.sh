#!/usr/bin/env bash
# check_test.sh SOURCE: `tools/dev check --full` in a clone whose other verbs do what a file says.
# shellcheck disable=SC2016 # the verbs expand it
set -euo pipefail

source_dir=$1
tree=$(mktemp -d)
trap 'rm -rf "$tree"' EXIT
cd "$tree"
mkdir -p tools/dev.d tests/fuzz .ci build
cp "$source_dir/tools/dev" tools/
cp "$source_dir"/tools/dev.d/{common,check}.sh tools/dev.d/
for each in "$source_dir"/tests/fuzz/*_fuzz.cpp; do touch "tests/fuzz/${each##*/}"; done
cat >tools/dev.d/setup.sh <<'NOTHING_INSTALLED'
ensure_setup() { :; }
distribution() { echo debian-12; }
NOTHING_INSTALLED
for verb in test model lint; do
  cat >"tools/dev.d/$verb.sh" <<VERB
${verb}_main() {
  echo "$verb \$*" >>build/ran
  source build/$verb
}
VERB
done
echo 'echo "the quick check"' >.ci/run
echo /build/ >.gitignore
commit() {
  git add . && git -c user.name=test -c user.email=test commit --quiet --allow-empty --message "$1"
}
git init --quiet .
commit one

fail() {
  printf '%s\n' "$@"
  exit 1
}

# check STATUS RAN ARGUMENT…: what `tools/dev check` returns, and the verbs that it runs; its output is in $said
check() {
  local status=$1 ran=$2 got=0
  shift 2
  : >build/ran
  said=$(tools/dev check "$@" 2>&1) || got=$?
  [[ $got -eq $status ]] || fail "check $*: status $got instead of $status:" "$said"
  [[ $(paste -sd, build/ran) == "$ran" ]] || fail "check $*: it runs $(<build/ran), not $ran:" "$said"
}

says() { # says TEXT…: the end of the output
  [[ $said == *"$*" ]] || fail "it ends with:" "$said" "--- instead of:" "$*"
}

result() {
  echo "build/check/$(git rev-parse --short=12 HEAD)/$1/result"
}

echo 'echo "4 passed, 0 failed, 1 skipped"' >build/test
echo 'echo holds' >build/model
echo 'echo "lint format: FAILED"; echo "7 passed, 1 failed"; return 1' >build/lint

check 0 ""
says "the quick check"
check 2 "" --again
check 2 "" model
check 2 "" --full model nonsense
check 2 "" --fast

# The nightly workflow has a job for each part.
check 0 "" --list
listed=$(awk '{print $1}' <<<"$said" | sort)
jobs=$(sed -nE -e 's/^ {10}- ([a-z0-9.-]+)$/\1/p' -e 's/.*--full (ubuntu[0-9.-]+)$/\1/p' \
  "$source_dir/.github/workflows/nightly.yml" | sort)
[[ $listed == "$jobs" ]] || fail "the parts:" "$listed" "--- and the jobs of nightly.yml:" "$jobs"
[[ $said =~ "model"\ +"not run" ]] || fail "$said"
# Each fuzz target is in one part, which takes less than two hours two at a time.
targets=$(sed -n 's/^fuzz-.*tools.dev fuzz 600 //p' <<<"$said")
[[ $(tr ' ' '\n' <<<"$targets" | sort) == $(basename -s _fuzz.cpp tests/fuzz/*_fuzz.cpp | sort) ]] || fail "$targets"
[[ $(awk '{if (NF > n) n = NF} END {print n}' <<<"$targets") -le 18 ]] || fail "$targets"

# Fails, goes on, keeps the results, and runs only what has not passed.
check 1 "lint --full,model " --full tidy model
says "1 passed, 1 failed"
[[ $said == *"lint format: FAILED"* ]] || fail "$said"
[[ $(head -n 1 "$(result tidy)") == "7 passed, 1 failed" && $(head -n 1 "$(result model)") == "1 passed, 0 failed" ]] ||
  fail "$(head "$(result tidy)" "$(result model)")"
check 1 "lint --full" --full tidy model
echo 'echo "8 passed, 0 failed"' >build/lint
check 0 "lint --full" --full tidy model
says "2 passed, 0 failed"
check 0 "" --full tidy model
check 0 "model " --full --again model
check 0 "" --list
[[ $said =~ "tidy"\ +"8 passed, 0 failed"\ +[0-9]+" s  20" ]] || fail "$said"
check 0 "test asan,test tsan" --full asan tsan ubuntu-24.04
says "2 passed, 0 failed, 1 skipped"
check 1 "" --full ubuntu-24.04

# A status other than 0 is a failure, whatever the output.
commit two
echo 'echo "3 passed, 0 failed"; return 3' >build/model
check 1 "model " --full model
says "0 passed, 1 failed"

# Results belong to a commit.
echo changed >tests/fuzz/changed
check 2 "" --full model
rm tests/fuzz/changed
echo 'touch changed; echo "3 passed, 0 failed"' >build/model
check 1 "model " --full model tidy
[[ ! -e $(result model) ]] || fail "a result of another tree"
rm changed

# An interrupt ends the part with all its processes, and leaves the results of the others.
mkfifo build/pipe
echo 'trap "" HUP; (echo "$BASHPID" >build/pipe; exec sleep 600)' >build/model
env --default-signal=INT tools/dev check --full tidy model asan >/dev/null 2>&1 &
read -r process <build/pipe
kill -INT $!
status=0
wait $! || status=$?
[[ $status -eq 130 ]] || fail "interrupted: status $status"
[[ -e $(result tidy) && ! -e $(result model) && ! -e $(result asan) ]] || fail "interrupted: it leaves other results"
! kill -0 "$process" 2>/dev/null || [[ $(ps -o stat= "$process") == Z* ]] || fail "interrupted: a process is left"
echo 'echo holds' >build/model
check 0 "model ,test asan" --full tidy model asan
