"""Makes type_checks.json: pairs of types, and what orc::check_types() says about each.

usage: make_type_checks.py OUTPUT

Needs flatc and protoc. The sentences are written by hand; no implementation makes them.
"""

import json
import sys
from pathlib import Path

from binary_type_checks import edition_cases, extension_cases, flatbuffer_cases, offset64_cases, protobuf_cases
from text_type_checks import lcm_cases, other_cases, ros2_cases, struct_cases
from type_check_cases import cases


def main():
    struct_cases()
    lcm_cases()
    protobuf_cases()
    flatbuffer_cases()
    ros2_cases()
    other_cases()
    edition_cases()
    extension_cases()
    offset64_cases()
    Path(sys.argv[1]).write_text(json.dumps(cases, indent=1) + "\n", encoding="utf-8")
    print(f"{len(cases)} cases")


if __name__ == "__main__":
    main()
