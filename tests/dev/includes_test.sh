#!/usr/bin/env bash
# includes_test.sh SOURCE: `tools/dev lint` finds each kind of wrong include in a copy of our sources.
set -euo pipefail

source_dir=$1
copy=$(mktemp -d)
trap 'rm -rf "$copy"' EXIT
cd "$source_dir"
find liborc broker tools bindings benchmarks \( -name '*.h' -o -name '*.cpp' \) -exec cp --parents -t "$copy" {} +
cd "$copy"

check() {
  python3 "$source_dir/tools/dev.d/includes.py" . 2>&1
}

if ! said=$(check); then
  printf 'the sources as they are:\n%s\n' "$said"
  exit 1
fi

# finds FILE LINE…: with these lines at the end of the file, the last of them will be found
expected=()
finds() {
  local file=$1
  shift
  printf '%s\n' "$@" >>"$file"
  expected+=("$file:$(wc -l <"$file"): ")
}

finds liborc/include/orc/log.h '#include "base/clock.h"'
finds liborc/src/base/clock.h '#include "wire/zmtp.h"'
finds liborc/src/base/files/fd_limit.cpp '#include "core/participant/process.h"'
finds liborc/src/wire/zmtp.cpp '#include "transport/transport.h"'
finds liborc/src/transport/acceptor.h '#include "base/clock.h"' '#include "core/participant/process.h"'
finds liborc/src/transport/acceptor.cpp '#include "transport/shm/shm_layout.h"'
finds liborc/src/transport/shm/shm_layout.h '#include "transport/stream/stream_socket.h"'
finds liborc/src/core/links/endpoint_state.cpp '#include "transport/multicast/socket/multicast_socket.h"'
finds liborc/src/core/links/endpoint_state.cpp '#include "orc_protocol_generated.h"'
finds broker/map/topic_map.h '#include <core/participant/process.h>'
finds broker/program/main.cpp '#include "transport/transport.h"'
finds tools/orc/main.cpp '#include "benchmarks/freshness.h"'
finds tools/orc/doctor/doctor.cpp '  #  include "transport/multicast/socket/multicast_socket.h"'
finds bindings/python/src/gil.h '#include "wire/control.h"'
finds benchmarks/fanout.cpp '#include "core/links/endpoint_state.h"'
finds benchmarks/fanout.cpp '#include "nowhere/to_be_found.h"'
finds benchmarks/fanout.cpp '#include "tools/orc/doctor/doctor.h"'
said=$(check) && status=0 || status=$?
found=$(sed -E 's/^([^:]*:[0-9]+: ).*/\1/' <<<"$said" | sort)
if [[ $status -ne 1 || $found != "$(printf '%s\n' "${expected[@]}" | sort)" ]]; then
  printf 'instead of these and status 1:\n%s\nstatus %d and:\n%s\n' "$(printf '%s\n' "${expected[@]}")" "$status" "$said"
  exit 1
fi

sed -i '/fec_assembly.h/d' benchmarks/fec_cost.cpp
if said=$(check) || [[ $said != *benchmarks/fec_cost.cpp:\ does\ not\ include* ]]; then
  printf 'an exception that nothing needs is not found:\n%s\n' "$said"
  exit 1
fi
