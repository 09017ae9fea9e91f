"""Bridges between ORC and other networks, as programs: `python3 -m orc.bridge.zenoh`, or `orc bridge zenoh`."""
