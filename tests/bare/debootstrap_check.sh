#!/usr/bin/env bash
# The README's promise on a bare machine: debootstraps a minimal Debian 12, clones this repository's HEAD into it and
# runs the developer's verbs there with nothing else typed. Needs root and the package debootstrap. Not part of ctest
# (minutes, hundreds of megabytes, network). Mirror, proxy and keys are this machine's, found at run time.
set -euo pipefail

usage() {
  cat <<'TEXT'
usage: debootstrap_check.sh [--keep] [--tree DIR] [-- COMMAND…]

Runs `tools/dev test` and `tools/dev demo` in a fresh tree, or COMMAND (in a shell, at the root of the clone; e.g.
-- bash .ci/run). Exits with 0 when all of them did.
  --keep      leave the tree where it is, and say where (without mounts)
  --tree DIR  the tree to use; when it holds a system already it is reused, with a new clone
  --suite NAME  another Debian than bookworm (trixie has Catch2 3 and FlatBuffers 23, as Ubuntu 24.04 has)
TEXT
}

suite=bookworm
keep=false
tree=
commands=("tools/dev test" "tools/dev demo")
while [[ $# -gt 0 ]]; do
  case $1 in
  --keep) keep=true ;;
  --tree)
    tree=$2
    shift
    ;;
  --suite)
    suite=$2
    shift
    ;;
  --)
    shift
    commands=("$*")
    break
    ;;
  --help | -h)
    usage
    exit 0
    ;;
  *)
    usage >&2
    exit 2
    ;;
  esac
  shift
done
[[ $(id -u) -eq 0 ]] || {
  echo "debootstrap needs root" >&2
  exit 1
}
command -v debootstrap >/dev/null || {
  echo "apt-get install debootstrap first" >&2
  exit 1
}

source_dir=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)
if [[ -z $tree ]]; then
  tree=$(mktemp -d "${TMPDIR:-/var/tmp}/orc-bare.XXXXXX")
else
  mkdir -p "$tree"
  tree=$(cd "$tree" && pwd)
  keep=true
fi

mounted=()
cleanup() {
  local i
  for ((i = ${#mounted[@]} - 1; i >= 0; i--)); do
    umount -l "${mounted[i]}" || echo "still mounted: ${mounted[i]}" >&2
  done
  # never remove through a mount: /dev would be the host's
  if grep -q " $tree/" /proc/self/mounts; then
    echo "left $tree: something is still mounted in it" >&2
  elif $keep; then
    echo "kept $tree" >&2
  else
    rm -rf --one-file-system "$tree"
  fi
}
trap cleanup EXIT
trap 'exit 130' INT TERM

# mirror SUITE: the address this machine gets that suite from, by its enabled entries, deb822 or one-line.
mirror() {
  local file suite=$1
  for file in /etc/apt/sources.list.d/*.sources; do
    [[ -e $file ]] || continue
    awk '/^URIs:/ { uri = $2 } /^Suites:/ && $0 ~ suite { found = 1 } /^$/ { if (found && uri) exit; found = 0 }
         END { if (found && uri) print uri }' suite="$suite( |$)" "$file"
  done
  { cat /etc/apt/sources.list /etc/apt/sources.list.d/*.list 2>/dev/null || true; } |
    awk '$1 == "deb" { for (i = 2; i < NF; i++) if ($i ~ /:\/\// && $(i + 1) == suite) print $i }' suite="$suite"
}

uri=$(mirror "$suite" | sed -n 1p)
# shellcheck source=/dev/null
uri=${uri:-$(mirror "$(source /etc/os-release && echo "${VERSION_CODENAME:-}")" | sed -n 1p)}
uri=${uri:-http://deb.debian.org/debian}
if [[ ! -x $tree/usr/bin/apt-get ]]; then
  echo "=== debootstrap $suite (minbase)"
  started=$SECONDS
  debootstrap --variant=minbase "$suite" "$tree" "$uri" >"$tree.log" 2>&1 || {
    tail -n 20 "$tree.log"
    exit 1
  }
  rm -f "$tree.log"
  echo "debootstrapped in $((SECONDS - started)) s"
fi

# How this machine reaches its mirror, where that says nothing about what is installed.
rm -f "$tree/etc/apt/sources.list"
for file in /etc/apt/sources.list /etc/apt/sources.list.d/*.list /etc/apt/sources.list.d/*.sources; do
  if [[ -e $file ]] && grep -q "$suite" "$file"; then
    install -D -m 644 "$file" "$tree$file"
  fi
done
if ! grep -rqs "$suite" "$tree/etc/apt/sources.list.d"; then
  echo "deb $uri $suite main" >"$tree/etc/apt/sources.list"
fi
for file in /etc/apt/apt.conf /etc/apt/apt.conf.d/*; do
  if [[ -f $file ]] && grep -qE '^[^/#]*Acquire' "$file"; then
    install -D -m 644 "$file" "$tree$file"
  fi
done
for file in /etc/resolv.conf /etc/hosts; do
  [[ ! -e $file ]] || cp --dereference "$file" "$tree$file"
done
if [[ $uri == https:* && -d /etc/ssl/certs ]]; then
  mkdir -p "$tree/etc/ssl" "$tree/usr/share/ca-certificates"
  cp -a /etc/ssl/certs "$tree/etc/ssl/"
  cp -a /usr/share/ca-certificates/. "$tree/usr/share/ca-certificates/"
fi

bind() {
  mkdir -p "$tree$1"
  mount --rbind "$1" "$tree$1"
  mount --make-rslave "$tree$1"
  mounted+=("$tree$1")
}
bind /dev
bind /sys
mkdir -p "$tree/proc"
mount -t proc proc "$tree/proc"
mounted+=("$tree/proc")
mount -t tmpfs tmpfs "$tree/run"
mounted+=("$tree/run")
mkdir -p "$tree/run/lock"

# Cloned from here: the bare tree has no git yet, installing it is part of what is tried.
rm -rf "$tree/root/orc"
git clone --quiet --no-hardlinks "file://$source_dir" "$tree/root/orc"

environment=(HOME=/root PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin CI=true)
for name in http_proxy https_proxy no_proxy HTTP_PROXY HTTPS_PROXY NO_PROXY; do
  [[ -z ${!name:-} ]] || environment+=("$name=${!name}")
done
failed=0
report=()
for command in "${commands[@]}"; do
  echo "=== in the bare tree: $command"
  started=$SECONDS
  status=0
  chroot "$tree" /usr/bin/env -i "${environment[@]}" bash -c "cd /root/orc && $command" </dev/null || status=$?
  report+=("$command: status $status, $((SECONDS - started)) s")
  [[ $status -eq 0 ]] || failed=$((failed + 1))
done
echo "=== bare Debian $suite, commit $(git -C "$source_dir" rev-parse --short HEAD)"
printf '%s\n' "${report[@]}"
[[ $failed -eq 0 ]]
