#!/usr/bin/env bash
# The README's promise on a bare machine: makes a minimal Debian with debootstrap, clones this repository's HEAD into it
# and runs the developer's verbs there with nothing else typed. A part of `tools/dev check --full`. Not part of ctest: it
# needs root, the network, gigabytes and most of an hour per suite. Mirror, proxy and keys are this machine's, found at
# run time.
#
# Each suite runs in mount and process namespaces of its own. They vanish with their first process, however it ends:
# no mount and no process is left on the host.
set -euo pipefail

usage() {
  cat <<'TEXT'
usage: debootstrap_check.sh [OPTIONS] [SUITE…] [-- COMMAND…]

Runs `tools/dev demo` and `tools/dev test` in a fresh Debian of each SUITE (default: bookworm trixie), or COMMAND (in a
shell, at the root of the clone; e.g. -- bash .ci/run). Ends with one line per suite, `PASS` or `FAIL`, and exits with 0
when all passed.
  --keep      leave the trees where they are, and say where
  --tree DIR  the tree of the one SUITE given; a system in it is reused, with a new clone; implies --keep
  --logs DIR  where to write the logs (default: a new directory below /var/tmp, which the last lines name)

The system as debootstrap made it is kept in $ORC_BARE_CACHE (default: ~/.cache/orc-bare) for 30 days.
TEXT
}

die() {
  echo "debootstrap_check.sh: $*" >&2
  exit 1
}

source_dir=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)
cache=${ORC_BARE_CACHE:-${XDG_CACHE_HOME:-${HOME:-/root}/.cache}/orc-bare}

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

# make_system SUITE TREE URI: from the cache, else with debootstrap
make_system() {
  local suite=$1 tree=$2 uri=$3 tarball
  tarball=$cache/$suite-$(dpkg --print-architecture).tar
  if [[ -n $(find "$tarball" -mtime -30 2>/dev/null) ]]; then
    echo "=== $suite from $tarball"
    tar -C "$tree" --numeric-owner -xpf "$tarball"
    return
  fi
  echo "=== debootstrap --variant=minbase $suite $tree $uri"
  debootstrap --variant=minbase "$suite" "$tree" "$uri" || return
  # without the cache the next run is only slower
  if mkdir -p "$cache" && tar -C "$tree" --one-file-system --numeric-owner -cpf "$tarball.part" .; then
    mv "$tarball.part" "$tarball"
  else
    rm -f "$tarball.part"
  fi
}

# configure_system SUITE TREE URI: how this machine reaches mirror and PyPI, where that says nothing about what is
# installed.
configure_system() {
  local suite=$1 tree=$2 uri=$3 file
  rm -rf "$tree/etc/apt/sources.list" "$tree/etc/apt/sources.list.d"
  for file in /etc/apt/sources.list /etc/apt/sources.list.d/*.list /etc/apt/sources.list.d/*.sources; do
    if [[ -e $file ]] && grep -q "$suite" "$file"; then
      install -D -m 644 "$file" "$tree$file"
    fi
  done
  if ! grep -rqs "$suite" "$tree/etc/apt/sources.list.d" "$tree/etc/apt/sources.list"; then
    echo "deb $uri $suite main" >"$tree/etc/apt/sources.list"
  fi
  for file in /etc/apt/apt.conf /etc/apt/apt.conf.d/*; do
    if [[ -f $file ]] && grep -qE '^[^/#]*Acquire' "$file"; then
      install -D -m 644 "$file" "$tree$file"
    fi
  done
  for file in /etc/resolv.conf /etc/hosts /etc/pip.conf; do
    [[ ! -e $file ]] || cp --dereference --remove-destination "$file" "$tree$file"
  done
  # A copy for pip: the package ca-certificates, where something brings it along, writes the other anew.
  file=${PIP_CERT:-/etc/ssl/certs/ca-certificates.crt}
  [[ ! -e $file ]] || cp --dereference "$file" "$tree/etc/pip-certificates.crt"
  if [[ -d /etc/ssl/certs ]]; then
    mkdir -p "$tree/etc/ssl" "$tree/usr/share/ca-certificates"
    cp -a /etc/ssl/certs "$tree/etc/ssl/"
    cp -a /usr/share/ca-certificates/. "$tree/usr/share/ca-certificates/" 2>/dev/null || true
  fi
}

# mount_system TREE: a /dev, /proc, /sys and /run of its own. Only the harmless devices are the host's.
mount_system() {
  local tree=$1 device
  # its root must be a mount, as on a machine: `ip netns` needs one
  mount --bind "$tree" "$tree"
  mount -t tmpfs -o mode=755 tmpfs "$tree/dev"
  for device in null zero full random urandom tty net/tun; do
    [[ -c /dev/$device ]] || continue
    install -D /dev/null "$tree/dev/$device"
    mount --bind "/dev/$device" "$tree/dev/$device"
  done
  mkdir "$tree/dev/pts" "$tree/dev/shm"
  mount -t devpts -o newinstance,ptmxmode=666 devpts "$tree/dev/pts"
  mount -t tmpfs -o mode=1777 tmpfs "$tree/dev/shm"
  ln -s pts/ptmx "$tree/dev/ptmx"
  ln -s /proc/self/fd "$tree/dev/fd"
  ln -s /proc/self/fd/0 "$tree/dev/stdin"
  ln -s /proc/self/fd/1 "$tree/dev/stdout"
  ln -s /proc/self/fd/2 "$tree/dev/stderr"
  mount -t proc proc "$tree/proc"
  mount -t sysfs -o ro sysfs "$tree/sys"
  mount -t tmpfs -o mode=755 tmpfs "$tree/run"
  mkdir "$tree/run/lock"
}

# check_suite SUITE TREE LOGS COMMIT COMMAND…: inside the namespaces. Writes LOGS/result and LOGS/N.log per command.
check_suite() {
  local suite=$1 tree=$2 logs=$3 commit=$4 uri command status started failed=0 number=0 name
  shift 4
  uri=$(mirror "$suite" | sed -n 1p)
  # shellcheck source=/dev/null
  uri=${uri:-$(mirror "$(source /etc/os-release && echo "${VERSION_CODENAME:-}")" | sed -n 1p)}
  uri=${uri:-http://deb.debian.org/debian}
  if [[ ! -x $tree/usr/bin/apt-get ]]; then
    if ! make_system "$suite" "$tree" "$uri" >"$logs/debootstrap.log" 2>&1; then
      tail -n 20 "$logs/debootstrap.log"
      return 1
    fi
  fi
  chmod 755 "$tree" # mktemp's 700 would be that of its /
  configure_system "$suite" "$tree" "$uri"
  mount_system "$tree"

  # Cloned from here: the bare tree has no git yet, installing it is part of what is tried.
  rm -rf "$tree/root/orc"
  git clone --quiet --no-hardlinks --no-checkout "file://$source_dir" "$tree/root/orc"
  git -C "$tree/root/orc" checkout --quiet --detach "$commit"

  local environment=(HOME=/root PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin CI=true)
  for name in http_proxy https_proxy no_proxy HTTP_PROXY HTTPS_PROXY NO_PROXY PIP_INDEX_URL PIP_PROXY ORC_JOBS; do
    [[ -z ${!name:-} ]] || environment+=("$name=${!name}")
  done
  [[ ! -e $tree/etc/pip-certificates.crt ]] || environment+=(PIP_CERT=/etc/pip-certificates.crt)
  for command in "$@"; do
    number=$((number + 1))
    status=0
    started=$SECONDS
    echo "=== in the bare $suite: $command"
    chroot "$tree" /usr/bin/env -i "${environment[@]}" bash -c "cd /root/orc && $command" </dev/null 2>&1 |
      tee "$logs/$number.log" || status=$?
    echo "$command: status $status, $((SECONDS - started)) s: $(tail -n 1 "$logs/$number.log")" | tee -a "$logs/result"
    [[ $status -eq 0 ]] || failed=1
  done
  return "$failed"
}

made=()
inside=
# shellcheck disable=SC2317 # a trap calls it
cleanup() {
  local each
  # The end of a namespace's first process ends all others in it.
  [[ -z $inside ]] || pkill -KILL -P "$inside" || true
  wait
  # The mounts went with the namespaces; --one-file-system makes sure.
  for each in "${made[@]}"; do
    if $keep; then echo "kept $each"; else rm -rf --one-file-system "$each"; fi
  done
}

# A function that never returns, so that the script may be edited while it runs.
main() {
  if [[ ${1:-} == --inside ]]; then
    shift
    # First process of its namespace: a signal without a handler would be ignored.
    trap 'exit 130' INT TERM HUP
    check_suite "$@"
    exit
  fi

  suites=()
  keep=false
  tree=
  logs=
  commands=("tools/dev demo" "tools/dev test")
  while [[ $# -gt 0 ]]; do
    case $1 in
    --keep) keep=true ;;
    --tree | --logs)
      [[ $# -gt 1 ]] || die "$1 needs a directory"
      mkdir -p "$2"
      declare -g "${1#--}=$(cd "$2" && pwd)"
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
    -*)
      usage >&2
      exit 2
      ;;
    *) suites+=("$1") ;;
    esac
    shift
  done
  [[ ${#suites[@]} -gt 0 ]] || suites=(bookworm trixie)
  [[ -z $tree || ${#suites[@]} -eq 1 ]] || die "--tree is for one SUITE"
  [[ $(id -u) -eq 0 ]] || die "debootstrap needs root"
  for program in debootstrap unshare git pkill; do
    command -v "$program" >/dev/null || die "no $program: apt-get install debootstrap util-linux git procps first"
  done
  [[ -n $logs ]] || logs=$(mktemp -d /var/tmp/orc-bare-logs.XXXXXX)
  commit=$(git -C "$source_dir" rev-parse --short HEAD)
  [[ -z $(git -C "$source_dir" status --porcelain) ]] || echo "what is not committed is not tried: the clone is $commit"

  trap cleanup EXIT
  trap 'exit 130' INT TERM HUP

  failed=0
  report=()
  for suite in "${suites[@]}"; do
    here=${tree:-$(mktemp -d "${TMPDIR:-/var/tmp}/orc-bare-$suite.XXXXXX")}
    [[ -n $tree ]] || made+=("$here")
    mkdir -p "$logs/$suite"
    rm -f "$logs/$suite"/*
    status=0
    started=$SECONDS
    # in the background: a trap would wait for a process in the foreground
    unshare --mount --propagation private --pid --fork --kill-child bash "${BASH_SOURCE[0]}" --inside "$suite" "$here" \
      "$logs/$suite" "$commit" "${commands[@]}" </dev/null &
    inside=$!
    wait "$inside" || status=$?
    inside=
    verdict=PASS
    if [[ $status -ne 0 ]]; then
      verdict=FAIL
      failed=$((failed + 1))
    fi
    [[ ! -e $logs/$suite/result ]] || report+=("$(sed "s/^/  /" "$logs/$suite/result")")
    report+=("$verdict: bare Debian $suite, commit $commit, $((SECONDS - started)) s, logs in $logs/$suite")
  done
  echo "=== bare systems"
  printf '%s\n' "${report[@]}"
  exit $((failed > 0))
}
main "$@"
