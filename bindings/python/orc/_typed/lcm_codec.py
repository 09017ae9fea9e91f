"""Messages of classes that lcm-gen made. The package lcm is not needed: the classes encode themselves."""

from __future__ import annotations

import struct
import sys
from typing import Any, Dict, List, NamedTuple, Optional, Tuple

from .._errors import BadSample
from .._type_description import TypeDescription
from .codec import T, Typed

_PRIMITIVES = {"int8_t", "int16_t", "int32_t", "int64_t", "byte", "float", "double", "string", "boolean"}
_MASK = (1 << 64) - 1


class Lcm(Typed[T]):
    def __init__(self, kind: Any) -> None:
        self._kind = self.values = kind
        fingerprint = struct.unpack(">Q", kind._get_packed_fingerprint())[0]
        text = _text(kind, fingerprint) or f"fingerprint 0x{fingerprint:016x}\n"
        super().__init__(TypeDescription(_name(kind), "lcm", "lcm", text.encode()))

    def encode(self, value: Any) -> Any:
        if not isinstance(value, self._kind):
            return super().encode(value)
        try:
            return value.encode()
        except Exception as error:  # what Python raises for a member with another value than its type's
            raise BadSample(f"the message is no {self.name}: {type(error).__name__}: {error}") from None

    def decode(self, message: Any) -> T:
        data = bytes(message)
        expected = self._kind._get_packed_fingerprint()
        if data[:8] != expected:
            raise BadSample(
                f"a sample of {len(data)} bytes is no {self.name}: it begins with 0x{data[:8].hex()}, the fingerprint "
                f"is 0x{expected.hex()}"
            )
        try:
            found: T = self._kind.decode(data)
        except Exception as error:  # struct.error, IndexError, UnicodeDecodeError, … of the generated code
            raise BadSample(f"a sample of {len(data)} bytes is no {self.name}: {error}") from None
        return found


class _Member(NamedTuple):
    name: str
    type: str
    dimensions: List[Any]  # int, or the name of the member that has the number


class _Definition(NamedTuple):
    members: List[_Member]
    nested: Dict[str, Any]  # classes by the names of types


def _name(kind: Any) -> str:
    """Returns "exlcm.example_t" of the class in the module exlcm.example_t; without a package "example_t"."""
    package = kind.__module__.rpartition(".")[0]
    return f"{package}.{kind.__name__}" if package else str(kind.__name__)


def _text(root: Any, fingerprint: int) -> Optional[str]:
    """Returns the definitions of a class and of those in it. None: the classes do not have them (lcm-gen before 1.5),
    or another spelling, such as 0x10 for 16, has another fingerprint."""
    definitions: Dict[str, Tuple[Any, _Definition]] = {}
    left = [root]
    while left:
        kind = left.pop(0)
        if _name(kind) in definitions:
            continue
        found = _definition(kind)
        if found is None:
            return None
        definitions[_name(kind)] = (kind, found)
        left += found.nested.values()
    if _fingerprint(root, definitions, ()) != fingerprint:
        return None
    return "".join(_struct_text(name, each) for name, (_, each) in definitions.items())


def _definition(kind: Any) -> Optional[_Definition]:
    types, dimensions = getattr(kind, "__typenames__", None), getattr(kind, "__dimensions__", None)
    if types is None or dimensions is None:
        return None
    nested = {}
    for each in types:
        if each not in _PRIMITIVES:
            module, _, name = each.rpartition(".")
            found = getattr(sys.modules.get(module or name), name, None)
            found = getattr(found, name, found)  # the module of the class, where the package does not import it
            if found is None:
                return None
            nested[each] = found
    members = [_Member(*each) for each in zip(kind.__slots__, types, [each or [] for each in dimensions])]
    return _Definition(members, nested)


def _struct_text(full_name: str, definition: _Definition) -> str:
    package, _, name = full_name.rpartition(".")
    lines = [f"package {package};"] if package else []
    lines.append(f"struct {name} {{")
    for member in definition.members:
        sizes = "".join(f"[{each}]" for each in member.dimensions)
        lines.append(f"  {member.type} {member.name}{sizes};")
    return "\n".join([*lines, "}\n"])


def _fingerprint(kind: Any, definitions: Dict[str, Tuple[Any, _Definition]], around: Tuple[Any, ...]) -> int:
    """The rule of LCM: a type that contains itself counts 0 there."""
    if kind in around:
        return 0
    definition = definitions[_name(kind)][1]
    value = _base_hash(definition)
    for member in definition.members:
        if member.type in definition.nested:
            value += _fingerprint(definition.nested[member.type], definitions, (*around, kind))
    value &= _MASK
    return ((value << 1) | (value >> 63)) & _MASK


def _base_hash(definition: _Definition) -> int:
    value = 0x12345678

    def add(byte: int) -> None:
        nonlocal value
        signed = value - (1 << 64) if value >> 63 else value  # in C: int64_t and char
        value = (((signed << 8) ^ (signed >> 55)) + (byte - 256 if byte > 127 else byte)) & _MASK

    def add_text(text: str) -> None:
        data = text.encode()
        for byte in (len(data) & 0xFF, *data):
            add(byte)

    for member in definition.members:
        add_text(member.name)
        if member.type in _PRIMITIVES:
            add_text(member.type)
        add(len(member.dimensions))
        for each in member.dimensions:
            add(0 if isinstance(each, int) else 1)
            add_text(str(each))
    return value
