"""Which LCM channels cross, and how."""

from __future__ import annotations

import re
from typing import Dict, List, Optional

from .outgoing import Pace
from .settings import ChannelRule, compiled

_MAX_KNOWN = 4096
_SELF_TEST = b"LCM_SELF_TEST"  # which programs of LCM send to themselves


class Channels:
    """Remembers what the regular expressions say about a channel. Not thread-safe."""

    def __init__(self, rules: List[ChannelRule], accept: List[str]) -> None:
        self._rules = [
            (compiled(each.name), Pace(1 / each.max_rate, True) if each.max_rate else Pace()) for each in rules
        ]
        self._accept = [compiled(each) for each in accept]
        self._out: Dict[bytes, Optional[Pace]] = {}
        self._in: Dict[bytes, bool] = {}

    def pace(self, channel: bytes) -> Optional[Pace]:
        """Returns how a channel goes out. None: it does not."""
        if channel not in self._out:
            if len(self._out) >= _MAX_KNOWN:
                self._out.clear()
            rules = self._rules if channel != _SELF_TEST else []
            self._out[channel] = next((pace for rule, pace in rules if _matches(rule, channel)), None)
        return self._out[channel]

    def may_come_in(self, channel: bytes) -> bool:
        """Returns whether a channel may come in."""
        if channel not in self._in:
            if len(self._in) >= _MAX_KNOWN:
                self._in.clear()
            self._in[channel] = not self._accept or any(_matches(each, channel) for each in self._accept)
        return self._in[channel]


def _matches(rule: "re.Pattern[str]", channel: bytes) -> bool:
    return rule.fullmatch(channel.decode(errors="surrogateescape")) is not None
