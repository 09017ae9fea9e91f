"""Reads a message of ROS 2 with PyPI's rosbags, for transcoded_cdr_test.cpp.

usage: ros2_peer.py NAME DEFINITION MESSAGE      prints {"message":…,"constants":…} as JSON; DEFINITION is a file
                                                 of encoding ros2msg, MESSAGE one of CDR
"""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

import numpy as np
from rosbags.typesys import Stores, get_types_from_msg, get_typestore


def plain(value: Any, store: Any) -> Any:
    if isinstance(value, np.ndarray):
        return value.tolist()
    if isinstance(value, np.generic):
        return value.item()
    if isinstance(value, list):
        return [plain(each, store) for each in value]
    if hasattr(value, "__msgtype__"):
        # rosbags appends "_" to names that are keywords of Python; our names never end with it
        names = [name for name, _ in store.get_msgdef(value.__msgtype__).fields]
        return {name.rstrip("_"): plain(getattr(value, name), store) for name in names}
    return value


def main() -> None:
    name, definition, message = sys.argv[1:]
    store = get_typestore(Stores.EMPTY)
    types = get_types_from_msg(Path(definition).read_text(encoding="utf-8"), name)
    store.register(types)
    read = store.deserialize_cdr(Path(message).read_bytes(), name)
    constants = {constant: value for constant, _, value in types[name][0]}
    print(json.dumps({"message": plain(read, store), "constants": constants}))


main()
