"""Checks the direction of every #include of ours, for tools/dev lint.

usage: includes.py ROOT

Each folder of `layers` may include itself and the folders listed for it. Tests may include anything. Prints each wrong
include, and each exception that no file needs any more. The exit status is 1 when it printed one.
"""

from __future__ import annotations

import re
import sys
from pathlib import Path
from typing import Dict, Iterator, List, NamedTuple, Optional, Tuple

public = "liborc/include"
base = "liborc/src/base"
wire = "liborc/src/wire"
zmtp = "liborc/src/zmtp"
schema = "liborc/src/schema"
transport = "liborc/src/transport"
core = "liborc/src/core"
json = "liborc/ext/json/include"
types = "liborc/ext/types/include"
recording = "liborc/ext/recording/include"
calls = "liborc/src/calls"
transports = ("inproc", "multicast", "shm", "stream")

# folder: the folders that it may include beside itself. The longest folder that holds a file counts, so the folder of a
# transport is closed to other transports and to the core.
layers: Dict[str, Tuple[str, ...]] = {
    public: (),
    base: (public,),
    wire: (public, base),
    zmtp: (base, wire),
    schema: (public, base),
    transport: (public, base, wire, zmtp),
    core: (public, base, wire, transport),
    json: (),
    "liborc/ext/json": (json,),
    types: (public,),
    "liborc/ext/types": (public, json, types),
    recording: (public,),
    "liborc/ext/recording": (public, recording),
    calls: (public, json, base, core),
    "liborc/src/parameters": (public, json, core),
    "liborc/src/history": (public,),
    "broker": (public, base, wire, zmtp, "tools/command_line"),
    "bindings": (public,),
    "liborc/examples": (public,),
    "tools": (
        public,
        json,
        types,
        recording,
        base,
        wire,
        "broker",
        "tools/command_line",
        "tools/parameter_files",
        "tools/support",
        "tools/terminal",
        "tools/view",
    ),
    "tools/command_line": (),
    "tools/parameter_files": (public, base),
    "tools/terminal": (base,),
    "tools/view": (public, base),
    "benchmarks": (public, types, recording, base, wire, "broker", "tools/command_line", "tools/support"),
    "tools/support": (public, json, base, wire, "broker"),
}
layers.update({f"{transport}/{name}": (public, base, wire, zmtp, transport) for name in transports})

# (including file, included file): reason
exceptions: Dict[Tuple[str, str], str] = {
    **{
        (f"{transport}/transports.cpp", f"{transport}/{name}/{name}_transport.h"): "the one place that lists them"
        for name in transports
    },
    (f"{transport}/transports.cpp", f"{transport}/inproc/inproc_registry.h"): "what inproc shares within a process",
    ("benchmarks/fec_cost.cpp", f"{transport}/multicast/fec/fec_assembly.h"): "measures the code alone",
    ("tools/orc/doctor/group_probe.cpp", f"{transport}/multicast/socket/multicast_socket.h"): "tests what liborc opens",
    ("tools/orc/doctor/multicast_probe.cpp", f"{transport}/multicast/socket/multicast_socket.h"): "the same",
    ("tools/orc/doctor/multicast_probe.cpp", f"{transport}/multicast/socket/multicast_interface.h"): "the same",
    **{
        (f"tools/orc/record/record_lcm_listener.{end}", f"{transport}/multicast/{name}.h"): "captures all channels"
        for end, name in (
            ("h", "datagram/reassembly"),
            ("cpp", "socket/datagram_batch"),
            ("cpp", "datagram/lcm_datagram"),
            ("cpp", "socket/multicast_socket"),
        )
    },
}

# Search path of quoted includes, after the folder of the file itself. The code that flatc makes belongs to wire.
include_paths = (
    "liborc/src",
    public,
    json,
    types,
    recording,
    "liborc/ext/types/src",
    "liborc/ext/recording/src",
    "bindings/python/src",
    "",
)
generated = "orc_protocol_generated.h"

include = re.compile(r'^\s*#\s*include\s*(["<])([^">]+)[">]', re.MULTILINE)


class Included(NamedTuple):
    who: str
    line: int
    text: str
    what: Optional[str]  # path in the tree; None: not ours


def resolved(root: Path, who: Path, text: str, quoted: bool) -> Optional[str]:
    places = [root / path for path in include_paths]
    if quoted:
        places.insert(0, who.parent)
    for place in places:
        found = place / text
        if found.is_file():
            return found.resolve().relative_to(root).as_posix()
    return None


def includes_of(root: Path, who: Path) -> Iterator[Included]:
    content = who.read_text(encoding="utf-8")
    for match in include.finditer(content):
        quoted = match.group(1) == '"'
        what = resolved(root, who, match.group(2), quoted)
        if what is not None or quoted:
            line = content.count("\n", 0, match.start(2)) + 1
            yield Included(who.relative_to(root).as_posix(), line, match.group(2), what)


def layer_of(path: str) -> Optional[str]:
    fitting = [layer for layer in layers if path.startswith(layer + "/")]
    return max(fitting, key=len, default=None)


def problem_with(each: Included) -> Optional[str]:
    here = layer_of(each.who)
    assert here is not None
    if each.what is None:
        if each.text == generated and here == wire:
            return None
        return f"includes {each.text}, which is not in the tree"
    there = layer_of(each.what)
    if there == here or there in layers[here]:
        return None
    allowed = ", ".join(layers[here]) or "nothing else"
    return f"includes {each.what}; {here} may include itself and {allowed}"


def problems(root: Path) -> List[str]:
    found: List[str] = []
    unused = dict(exceptions)
    files = {file for layer in layers for file in (root / layer).rglob("*") if file.suffix in (".h", ".cpp")}
    for file in sorted(files):
        for each in includes_of(root, file):
            problem = problem_with(each)
            if problem is None:
                continue
            if each.what is not None and (each.who, each.what) in exceptions:
                unused.pop((each.who, each.what), None)
                continue
            found.append(f"{each.who}:{each.line}: {problem}")
    found += [f"{who}: does not include {what}: remove it from the exceptions in includes.py" for who, what in unused]
    if not files:
        found.append(f"{root}: there is nothing to check")
    return found


def main() -> int:
    found = problems(Path(sys.argv[1]).resolve())
    for each in found:
        print(each, file=sys.stderr)
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
