"""Reads a message of ROS 2 with PyPI's rosbags, for transcoded_cdr_test.cpp.

usage: ros2_peer.py NAME DEFINITION MESSAGE      prints the message as JSON; DEFINITION is a file of encoding ros2msg,
                                                 MESSAGE one of CDR
"""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

import numpy as np
from rosbags.typesys import Stores, get_types_from_msg, get_typestore


def plain(value: Any) -> Any:
    if isinstance(value, np.ndarray):
        return value.tolist()
    if isinstance(value, np.generic):
        return value.item()
    if isinstance(value, list):
        return [plain(each) for each in value]
    if hasattr(value, "__msgtype__"):
        return {name: plain(each) for name, each in vars(value).items()}
    return value


def main() -> None:
    name, definition, message = sys.argv[1:]
    store = get_typestore(Stores.EMPTY)
    store.register(get_types_from_msg(Path(definition).read_text(encoding="utf-8"), name))
    print(json.dumps(plain(store.deserialize_cdr(Path(message).read_bytes(), name))))


main()
