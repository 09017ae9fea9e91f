"""Places that hosts share: when they are short, the host that has most gives one up."""

from __future__ import annotations

import functools
import ipaddress
from collections import OrderedDict
from typing import Callable, Generic, List, Optional, Tuple, TypeVar

Value = TypeVar("Value")
Address = Tuple[str, int]


@functools.lru_cache(maxsize=1024)
def host_of(address: str) -> str:
    """Returns the host that has an address. Of IPv6 it may take any of its /64."""
    known = ipaddress.ip_address(address.partition("%")[0])
    if known.version == 4 or known.ipv4_mapped is not None:
        return str(known if known.version == 4 else known.ipv4_mapped)
    return str(ipaddress.IPv6Address(int(known) >> 64 << 64))


class Hosts(Generic[Value]):
    """What there is of each address, by host. Not thread-safe."""

    def __init__(self) -> None:
        self._of: OrderedDict[str, OrderedDict[Address, Value]] = OrderedDict()  # the longest unmoved first, both
        self._size = 0

    def __len__(self) -> int:
        return self._size

    def where(self, is_so: Callable[[Value], bool]) -> List[Address]:
        """Returns the addresses of what is so, in any order."""
        return [address for held in self._of.values() for address, value in held.items() if is_so(value)]

    def get(self, address: Address) -> Optional[Value]:
        """Returns what there is of this address."""
        held = self._of.get(host_of(address[0]))
        return None if held is None else held.get(address)

    def put(self, address: Address, value: Value) -> None:
        """Adds or replaces it. It has moved now."""
        host = host_of(address[0])
        held = self._of.setdefault(host, OrderedDict())
        self._size += address not in held
        held[address] = value
        held.move_to_end(address)
        self._of.move_to_end(host)

    def pop(self, address: Address) -> Value:
        """Removes it. Raises KeyError."""
        host = host_of(address[0])
        value = self._of[host].pop(address)
        self._size -= 1
        if not self._of[host]:
            del self._of[host]
        return value

    def longest_unmoved(self, weight: Optional[Callable[[Value], int]] = None) -> Address:
        """Returns what gives up its place: of the host that weighs most, the one that has not moved for longest."""

        def of(host: str) -> int:
            held = self._of[host]
            return len(held) if weight is None else sum(weight(each) for each in held.values())

        return next(iter(self._of[max(self._of, key=of)]))
