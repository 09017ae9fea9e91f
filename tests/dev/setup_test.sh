#!/usr/bin/env bash
# setup_test.sh SOURCE: what tools/dev installs on a machine that has nothing, and what it says before.
set -euo pipefail

source_dir=$1
ORC_ROOT=$(mktemp -d)
trap 'rm -rf "$ORC_ROOT"' EXIT
mkdir "$ORC_ROOT/bin"
cat >"$ORC_ROOT/bin/dpkg-query" <<'NOTHING_INSTALLED'
#!/bin/sh
exit 1
NOTHING_INSTALLED
cat >"$ORC_ROOT/bin/apt-cache" <<'EVERYTHING_KNOWN'
#!/bin/sh
shift
for each in "$@"; do echo "$each | 1 | here"; done
EVERYTHING_KNOWN
cat >"$ORC_ROOT/bin/apt-get" <<'INSTALLS_NOTHING'
#!/bin/sh
case "$*" in
*--assume-no*)
  echo "Need to get 18.1 MB/20 MB of archives."
  echo "After this operation, 1,234 kB of additional disk space will be used."
  exit 1
  ;;
*install*) echo "$*" >>"$ORC_ROOT/installed" ;;
esac
INSTALLS_NOTHING
printf '#!/bin/sh\nexec "$@"\n' >"$ORC_ROOT/bin/sudo"
chmod +x "$ORC_ROOT"/bin/*
export ORC_ROOT PATH=$ORC_ROOT/bin:$PATH

# shellcheck source=tools/dev.d/common.sh
source "$source_dir/tools/dev.d/common.sh"
# shellcheck source=tools/dev.d/setup.sh
source "$source_dir/tools/dev.d/setup.sh"

fail() {
  echo "$*"
  exit 1
}

said=$(ensure_setup 2>&1)
installed=$(<"$ORC_ROOT/installed")
[[ $said =~ ^"tools/dev: installing "[0-9]+" packages (18.1 MB to download, 1,234 kB on disk): build-essential " ]] ||
  fail "it says: $said"
[[ $installed == *" cmake "* ]] || fail "no cmake: $installed"
[[ $installed != *matplotlib* ]] || fail "a package for plots: $installed"

rm "$ORC_ROOT/installed"
ensure_setup plot 2>/dev/null
[[ $(<"$ORC_ROOT/installed") == *" python3-matplotlib"* ]] || fail "--plot does not install matplotlib"
