"""Which topics may cross, in which direction, and under which name."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Iterable, Optional, TypeVar

from .patterns import matches

DIRECTIONS = ("out", "in", "both")


@dataclass
class LocalRule:
    """One entry of an allow-list."""

    name: str = ""
    direction: str = "both"
    local: str = ""
    """in: the name here. `{topic}`, and what else the bridge knows, stand for what the sender says."""

    def is_for(self, direction: str) -> bool:
        """Returns whether it allows this direction."""
        return self.direction in (direction, "both")


R = TypeVar("R", bound=LocalRule)


def first_rule(rules: Iterable[R], direction: str, topic: str) -> Optional[R]:
    """Returns the first rule that lets the topic cross."""
    for rule in rules:
        if rule.is_for(direction) and matches(rule.name, topic):
            return rule
    return None
