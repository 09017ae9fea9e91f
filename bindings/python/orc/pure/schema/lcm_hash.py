"""The fingerprint with which LCM messages begin, computed as lcm-gen does."""

from __future__ import annotations

import collections
import re
from typing import Dict, FrozenSet, Iterable, Mapping, Optional, Tuple

from .lcm_schema import PRIMITIVES, Definition
from .model import MAX_FINGERPRINT_STEPS, MAX_TYPE_LEVELS, SchemaError

_MASK = (1 << 64) - 1
_LINE = re.compile(rb"fingerprint 0x([0-9a-fA-F]{1,16})\Z")


def stated(text: bytes) -> Optional[int]:
    """Returns the fingerprint that a schema without definitions states: `fingerprint 0x…`. None: it has definitions."""
    found = _LINE.match(text.strip(b" \t\r\n\v\f"))
    return int(found.group(1), 16) if found else None


class _BaseHash:
    """The hash of a struct's members. Names of types are not part of it, those of fields are."""

    def __init__(self, definition: Definition) -> None:
        self.value = 0x12345678
        for member in definition.members:
            self.text(member.name)
            if member.type in PRIMITIVES:
                self.text(member.type)
            self.byte(len(member.dimensions))
            for variable, size in member.dimensions:
                self.byte(int(variable))
                self.text(size)

    def byte(self, value: int) -> None:
        # In C, this is int64_t and char: shift and addition are signed
        signed = self.value - (1 << 64) if self.value >> 63 else self.value
        value &= 0xFF
        self.value = (((signed << 8) ^ (signed >> 55)) + (value - 256 if value > 127 else value)) & _MASK

    def text(self, text: str) -> None:
        self.byte(len(text))
        for value in text.encode():
            self.byte(value)


class _Hashes:
    """The hash of a type depends on the types around it: one of those counts 0 inside it."""

    def __init__(self, definitions: Dict[str, Definition]) -> None:
        self.definitions = definitions
        self.nested = {
            name: collections.Counter(member.type for member in each.members if member.type in definitions)
            for name, each in definitions.items()
        }
        # Of the types around one, only those matter that it contains itself: those of its own cycle
        self.cycle = cycles(self.nested)
        self.known: Dict[Tuple[str, FrozenSet[str]], int] = {}
        self.steps = 0

    def of(self, name: str, around: FrozenSet[str]) -> int:
        if name in around:
            return 0
        if len(around) == MAX_TYPE_LEVELS:
            raise SchemaError(f"types are nested more than {MAX_TYPE_LEVELS} levels deep")
        key = (name, frozenset(each for each in around if self.cycle[each] == self.cycle[name]))
        if key not in self.known:
            value = _BaseHash(self.definitions[name]).value
            for each, count in self.nested[name].items():
                self.steps += 1
                if self.steps > MAX_FINGERPRINT_STEPS:
                    raise SchemaError("the types contain each other in too many ways")
                value += self.of(each, around | {name}) * count
            value &= _MASK
            self.known[key] = ((value << 1) | (value >> 63)) & _MASK
        return self.known[key]


def cycles(nested: Mapping[str, Iterable[str]]) -> Dict[str, int]:
    """Returns a number per type. Types that contain each other have the same one (Tarjan's algorithm)."""
    order: Dict[str, int] = {}
    lowest: Dict[str, int] = {}
    found: Dict[str, int] = {}
    path = []
    for root in nested:
        if root in order:
            continue
        order[root] = lowest[root] = len(order)
        path.append(root)
        work = [(root, iter(nested[root]))]
        while work:
            name, rest = work[-1]
            for each in rest:
                if each not in order:
                    order[each] = lowest[each] = len(order)
                    path.append(each)
                    work.append((each, iter(nested[each])))
                    break
                if each not in found:
                    lowest[name] = min(lowest[name], order[each])
            else:
                work.pop()
                if work:
                    lowest[work[-1][0]] = min(lowest[work[-1][0]], lowest[name])
                if lowest[name] == order[name]:
                    while name not in found:
                        found[path.pop()] = order[name]
    return found


def fingerprint(definitions: Dict[str, Definition]) -> int:
    """Returns that of the first definition. Raises SchemaError when it would take too long."""
    return _Hashes(definitions).of(next(iter(definitions)), frozenset())
