# tools/dev setup: the packages, and only the missing ones.
# shellcheck shell=bash

readonly packages_build="build-essential cmake ninja-build ccache pkg-config git libzmq3-dev cppzmq-dev
  libflatbuffers-dev flatbuffers-compiler catch2 libcli11-dev nlohmann-json3-dev libisal-dev libsystemd-dev python3-dev
  libprotobuf-dev libprotoc-dev protobuf-compiler libtomlplusplus-dev libzstd-dev liblz4-dev liblcm-dev liblcm-bin libboost-dev"
# tests: network namespaces, python twins of the wire format, LCM programs, a terminal for orc top
readonly packages_run="util-linux iproute2 iputils-ping nftables procps python3 python3-zmq python3-numpy python3-venv tmux"
# tests/interop talks to the LCM of the distribution and to this one of PyPI
readonly lcm_version=1.5.3
# what reads and writes recordings there, to compare with
readonly mcap_packages="mcap==1.6.0 lz4==4.4.5 zstandard==0.25.0 rosbags==0.11.9 protobuf==7.36.2
  foxglove-schemas-protobuf==0.4.0"
readonly mcap_node_version=2.2.2
# Foxglove's own client in tests/web, and what decodes the messages that it gets
readonly foxglove_node_packages="@foxglove/ws-protocol@0.8.0 @foxglove/rosmsg@5.0.5 @foxglove/rosmsg2-serialization@3.1.0
  protobufjs@8.8.1 flatbuffers@25.9.23 ws@8.23.0"
# clients of orc-web in tests/web, and what the programs that publish there need
readonly web_packages="websockets==16.0 numpy flatbuffers"

setup_help() {
  cat <<'TEXT'
usage: tools/dev setup [--lint] [--fuzz] [--model] [--docs] [--plot] [--web]

Installs what is missing of the packages that build, test, demo and bench need, with apt-get: as root, else through
sudo. Says before what it installs and how large that is. Does nothing, and asks for nothing, when all are there. With
--lint, --fuzz, --model or --docs also what those verbs need; with --plot what benchmarks/plot needs; with --web a Chromium
without windows (100 MB to download) for the tests of orc-web's page.
Also makes build/lcm-venv and build/web-venv with packages of PyPI, and, where npm is, build/mcap-node with
@mcap/core and build/foxglove-node with @foxglove/ws-protocol: peers in the tests. Without access to PyPI or npm these tests are skipped.
TEXT
}

# "debian-12"
distribution() {
  local id="" version=""
  if [[ -r /etc/os-release ]]; then
    # shellcheck source=/dev/null
    { read -r id; read -r version; } < <(source /etc/os-release && echo "${ID:-}" && echo "${VERSION_ID:-}")
  fi
  echo "$id-$version"
}

# The clang of the distribution; lint's reference is Debian 12's.
clang_version() {
  case $(distribution) in
  debian-13) echo 19 ;;
  ubuntu-24.04) echo 18 ;;
  *) echo 14 ;;
  esac
}

packages_lint() {
  local v
  v=$(clang_version)
  echo "clang-format-$v clang-tidy-$v clang-$v shellcheck"
}

packages_fuzz() {
  local v
  v=$(clang_version)
  echo "clang-$v libclang-rt-$v-dev"
}

packages_docs() {
  echo "doxygen"
}

packages_model() {
  echo "spin gcc"
}

packages_bare() {
  echo "debootstrap"
}

packages_plot() {
  echo "python3-matplotlib"
}

# Chromium for tests/web. Ubuntu has it as a snap only, which does not come with apt: there ORC_CHROMIUM names one.
packages_web() {
  if [[ $(distribution) == debian-* ]]; then echo "chromium-headless-shell"; fi
}

missing_of() {
  local package installed
  # dpkg-query answers for the known ones and complains about the others
  installed=$(dpkg-query -W -f '${db:Status-Status} ${Package}\n' "$@" 2>/dev/null | sed -n 's/^installed //p') || true
  for package in "$@"; do
    grep -qxF "$package" <<<"$installed" || echo "$package"
  done
}

apt() {
  local as_root=()
  if [[ $(id -u) -ne 0 ]]; then
    as_root=(sudo)
  fi
  "${as_root[@]}" env DEBIAN_FRONTEND=noninteractive apt-get -o DPkg::Lock::Timeout=300 -o Acquire::Retries=3 "$@" \
    </dev/null >&2
}

# "18.1 MB to download, 62.5 MB on disk" for these packages and what they need, as apt-get says; nothing when it does
# not know.
install_size() {
  local download disk
  { read -r download; read -r disk; } < <(
    LC_ALL=C apt-get -o Debug::NoLocking=1 install --assume-no --no-install-recommends "$@" 2>/dev/null </dev/null |
      sed -n -e 's/^Need to get \([0-9.,]* [kMGT]*B\).*/\1/p' \
        -e 's/^After this operation, \([0-9.,]* [kMGT]*B\) of additional.*/\1/p'
  ) || return 0
  echo "$download to download, $disk on disk"
}

install_packages() {
  if ! command -v dpkg-query >/dev/null || ! command -v apt-get >/dev/null; then
    say "this is no Debian or Ubuntu: going on with what is installed. Needed: $*"
    return 0
  fi
  local missing
  mapfile -t missing < <(missing_of "$@")
  [[ ${#missing[@]} -gt 0 ]] || return 0

  if [[ $(id -u) -ne 0 ]] && ! command -v sudo >/dev/null; then
    die "missing packages, and this is neither root nor is there sudo. As root: apt-get install ${missing[*]}"
  fi
  # An index that is absent (a fresh system) or out of date (404) needs an update; any other time it costs only time.
  local unknown
  unknown=$({ apt-cache madison "${missing[@]}" 2>/dev/null || true; } | awk '{print $1}' | sort -u |
    comm -13 - <(printf '%s\n' "${missing[@]}" | sort -u))
  if [[ -n $unknown ]]; then
    say "updating the list of packages"
    apt -q update || die "apt-get update failed"
  fi
  local size
  size=$(install_size "${missing[@]}")
  say "installing ${#missing[@]} packages${size:+ ($size)}: ${missing[*]}"
  if ! apt -qq install -y --no-install-recommends "${missing[@]}"; then
    apt -q update || die "apt-get update failed"
    apt -qq install -y --no-install-recommends "${missing[@]}" || die "apt-get could not install: ${missing[*]}"
  fi
}

# What every other verb calls first. $@: lint, fuzz, model, docs, bare, plot, web
ensure_setup() {
  local wanted extra
  wanted="$packages_build $packages_run"
  for extra in "$@"; do
    wanted+=" $("packages_$extra")"
  done
  # shellcheck disable=SC2086 # a list of words
  install_packages $wanted
}

# A virtual environment with the lcm and mcap of PyPI, for tests alone, so it goes with the build trees. Its
# scripts know where it is: a moved clone needs a new one.
ensure_lcm_venv() {
  local venv=$ORC_ROOT/build/lcm-venv
  local is="lcm $lcm_version, $mcap_packages in $venv"
  [[ ! -e $venv/is || $(<"$venv/is") != "$is" ]] || return 0
  say "installing lcm $lcm_version and $mcap_packages from PyPI in build/lcm-venv"
  # shellcheck disable=SC2086 # a list of words
  if new_venv "$venv" --retries 1 --timeout 10 --only-binary :all: "lcm==$lcm_version" $mcap_packages; then
    echo "$is" >"$venv/is"
  else
    rm -rf "$venv"
    say "no lcm $lcm_version from PyPI: the tests that talk to it will be skipped"
  fi
}

# Packages of npm in a folder of build/, for tests. npm is asked for nowhere else, so it is not installed for this.
# $1: the folder; the others: packages with their versions
ensure_node_packages() {
  local folder=$ORC_ROOT/build/$1
  shift
  local is="$*"
  command -v node >/dev/null && command -v npm >/dev/null || return 0
  [[ ! -e $folder/is || $(<"$folder/is") != "$is" ]] || return 0
  say "installing $is from npm in ${folder#"$ORC_ROOT/"}"
  mkdir -p "$folder"
  if npm install --prefix "$folder" --silent --no-audit --no-fund --ignore-scripts --fetch-retries 1 "$@" >&2; then
    echo "$is" >"$folder/is"
  else
    rm -rf "$folder"
    say "no $is from npm: the tests with them will be skipped"
  fi
}

ensure_mcap_node() {
  ensure_node_packages mcap-node "@mcap/core@$mcap_node_version"
}

ensure_foxglove_node() {
  # shellcheck disable=SC2086 # a list of words
  ensure_node_packages foxglove-node $foxglove_node_packages
}

# A virtual environment with what tests/web needs of PyPI.
ensure_web_venv() {
  local venv=$ORC_ROOT/build/web-venv
  local is="$web_packages in $venv"
  [[ ! -e $venv/is || $(<"$venv/is") != "$is" ]] || return 0
  say "installing $web_packages from PyPI in build/web-venv"
  # shellcheck disable=SC2086 # a list of words
  if new_venv "$venv" --retries 1 --timeout 10 --only-binary :all: $web_packages; then
    echo "$is" >"$venv/is"
  else
    rm -rf "$venv"
    say "no websockets from PyPI: the tests that talk to orc-web will be skipped"
  fi
}

setup_main() {
  local extras=()
  while [[ $# -gt 0 ]]; do
    case $1 in
    --lint) extras+=(lint) ;;
    --fuzz) extras+=(fuzz) ;;
    --model) extras+=(model) ;;
    --docs) extras+=(docs) ;;
    --plot) extras+=(plot) ;;
    --web) extras+=(web) ;;
    *) die "setup: unknown argument $1" ;;
    esac
    shift
  done
  ensure_setup "${extras[@]}"
  ensure_lcm_venv
  ensure_mcap_node
  ensure_foxglove_node
  ensure_web_venv
  say "everything needed is installed"
}
