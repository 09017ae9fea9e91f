#!/usr/bin/env bash
# install_test.sh SOURCE_DIR BUILD_DIR: installs the build into a temporary prefix and uses it from outside.
set -euo pipefail

source_dir=$1
build_dir=$2
here=$source_dir/tests/install
work=$(mktemp -d "${TMPDIR:-/tmp}/orc-install.XXXXXX")
broker_pid=
cleanup() {
  if [[ -n $broker_pid ]]; then
    kill "$broker_pid" 2>/dev/null || true
    wait "$broker_pid" 2>/dev/null || true
  fi
  rm -rf "$work"
}
trap cleanup EXIT
fail() {
  echo "install test: $*" >&2
  exit 1
}

# The copy here is the one that is compiled everywhere; where the paper's original is at hand they must not differ.
original=$source_dir/../shared/listing1.cpp
if [[ -e $original ]]; then
  cmp "$original" "$here/listing1.cpp" || fail "tests/install/listing1.cpp differs from $original"
fi

cmake --install "$build_dir" --prefix "$work/installed" >"$work/install.log" || {
  cat "$work/install.log"
  fail "cmake --install failed"
}
# Moved after installing: an installed tree must not know where it was put.
prefix=$work/moved
mv "$work/installed" "$prefix"
for file in include/orc-middleware/orc.h bin/orc-broker lib/cmake/orc-middleware/orc-middlewareConfig.cmake \
  lib/cmake/orc-middleware/orc-middlewareTargets.cmake lib/cmake/orc-middleware/orc-middlewareConfigVersion.cmake \
  lib/pkgconfig/orc-middleware.pc lib/liborc-middleware.so lib/liborc-middleware.so.0.2 \
  share/bash-completion/completions/orc-broker share/zsh/site-functions/_orc-broker \
  share/fish/vendor_completions.d/orc-broker.fish share/man/man8/orc-broker.8 share/doc/orc/controller.service; do
  [[ -e $prefix/$file ]] || fail "$file was not installed; there is: $(cd "$prefix" && find . | sort | tr '\n' ' ')"
done
unit=$(find "$prefix" -name orc-broker.service)
[[ -n $unit ]] || fail "no systemd unit was installed"
grep -qx "ExecStart=$work/installed/bin/orc-broker" "$unit" || fail "the unit starts something else than was installed"
if command -v systemd-analyze >/dev/null; then
  sed 's|^ExecStart=.*|ExecStart=/bin/true|' "$prefix/share/doc/orc/controller.service" >"$work/controller.service"
  sed 's|^ExecStart=.*|ExecStart=/bin/true|' "$unit" >"$work/orc-broker.service"
  for each in controller orc-broker; do
    said=$(systemd-analyze verify --man=no "$work/$each.service" 2>&1 | grep "$each.service" || true)
    [[ -z $said ]] || fail "$said"
  done
fi
if [[ -x $build_dir/bin/orc ]]; then
  [[ -x $prefix/bin/orc ]] || fail "bin/orc was not installed"
  "$prefix/bin/orc" --version
  for file in bash-completion/completions/orc zsh/site-functions/_orc fish/vendor_completions.d/orc.fish man/man1/orc.1; do
    [[ -s $prefix/share/$file ]] || fail "share/$file was not installed"
  done
fi
# A header that includes what only our build knows would be found by the consumer's compile below.
# orc/typed/flatbuffers.h and protobuf.h are for programs that use these libraries themselves.
if grep -rlE '#include *[<"](zmq|flatbuffers|google/|wire/)' "$prefix/include" |
  grep -vE '/orc/typed/(flatbuffers|protobuf)\.h$'; then
  fail "an installed header needs libzmq, flatbuffers or an internal header"
fi

echo "== find_package"
cmake -S "$here/consumer" -B "$work/consumer" -DCMAKE_BUILD_TYPE=Release \
  -DCMAKE_PREFIX_PATH="$prefix" >"$work/configure.log" || {
  cat "$work/configure.log"
  fail "find_package(orc-middleware) failed"
}
cmake --build "$work/consumer" -- >"$work/build.log" || {
  cat "$work/build.log"
  fail "the consumer does not compile with find_package"
}

echo "== examples"
{ cmake -S "$source_dir/liborc/examples" -B "$work/examples" -DCMAKE_PREFIX_PATH="$prefix" &&
  cmake --build "$work/examples"; } >"$work/examples.log" || {
  cat "$work/examples.log"
  fail "the examples do not build against the installed tree"
}

echo "== add_subdirectory"
cmake -S "$here/parent" -B "$work/parent" -DORC_SOURCE="$source_dir" >"$work/parent.log" 2>&1 || {
  cat "$work/parent.log"
  fail "a project without ORC's tools cannot be configured"
}

echo "== pkg-config"
# shellcheck disable=SC2046,SC2086 # flags are words
PKG_CONFIG_PATH=$prefix/lib/pkgconfig ${CXX:-c++} -std=c++20 -Wall -Wextra ${CXXFLAGS:-} "$here/listing1.cpp" \
  -o "$work/listing1_pc" $(PKG_CONFIG_PATH=$prefix/lib/pkgconfig pkg-config --cflags --libs orc-middleware) \
  "-Wl,-rpath,$prefix/lib" || fail "the listing does not compile with pkg-config"

echo "== run"
export ORC_BROKER=ipc://$work/broker
"$prefix/bin/orc-broker" --listen "$ORC_BROKER" &
broker_pid=$!
for listing in "$work/consumer/listing1" "$work/listing1_pc"; do
  "$work/consumer/feeder" "$listing" || fail "$listing did not control the robot"
done
"$work/consumer/history" || fail "a program with a history does not run"
kill -0 "$broker_pid" 2>/dev/null || fail "the broker died"
kill -TERM "$broker_pid"
wait "$broker_pid" || fail "the broker left with status $? after SIGTERM"
broker_pid=
