"""Finds out what kind of type `type=` was given."""

from __future__ import annotations

import builtins
import dataclasses
import sys
from typing import TYPE_CHECKING, Any, Dict, Optional, Type, TypeVar, get_origin

from .._errors import BadArgument
from .._type_description import TypeDescription
from .codec import Bytes, Typed, shown
from .json_codec import Json

if TYPE_CHECKING:
    import numpy

T = TypeVar("T")


def struct(name: str, dtype: "numpy.dtype[numpy.void]") -> "Typed[numpy.void]":
    """Returns a structured numpy dtype as a type with a name: orc.struct("robot.State", dtype).

    dtype: with the offsets that the C++ struct has: numpy.dtype([…], align=True) lays fields out as C++ does. A field
        may have numpy.dtype("f8", metadata={"unit": "rad", "comment": "…"}).
    """
    import numpy

    from .struct_codec import Record

    return Record(name, numpy.dtype(dtype), {})


def json(name: str = "") -> Typed[Dict[str, Any]]:
    """Returns the type of samples that are JSON objects; values are dicts. Names are compared, contents are not."""
    return Json(name)


def flatbuffer(table: Type[T], schema: Any) -> Typed[T]:
    """Returns the type of a table that flatc made for Python: orc.flatbuffer(State, "state.bfbs").

    schema: the binary schema (flatc --binary --schema), as bytes or the path of the file. Its root type is the type.
    """
    from .flatbuffer_codec import FlatBuffer

    return FlatBuffer(table, schema)


def typed(type: Any) -> Optional[Typed[Any]]:
    """Returns the type that register_topic and request_topic were given. None: the topic is untyped.

    Raises BadArgument (a field that cannot be sent) and TypeError (no type).
    """
    if type is None or isinstance(type, Typed):
        return type
    if isinstance(type, TypeDescription):
        return None if type == TypeDescription() else Bytes(type)
    if type is dict or get_origin(type) is dict:
        return Json("")
    numpy = sys.modules.get("numpy")
    if numpy is not None and isinstance(type, numpy.dtype):
        return struct("", type)
    if isinstance(type, builtins.type):
        return _of_class(type)
    raise TypeError(f"{shown(type)} is no type of a topic: {_KNOWN}")


_KNOWN = (
    "pass a numpy dtype, a dataclass, a class of lcm-gen or protoc, orc.flatbuffer(…), dict, orc.json(…) or an "
    "orc.TypeDescription"
)


def _of_class(kind: Any) -> Typed[Any]:
    if dataclasses.is_dataclass(kind):
        from .dataclass_codec import DataClass

        return DataClass(kind)
    if hasattr(kind, "_get_packed_fingerprint") and hasattr(kind, "__slots__"):
        from .lcm_codec import Lcm

        return Lcm(kind)
    if hasattr(kind, "DESCRIPTOR") and hasattr(kind, "FromString"):
        from .protobuf_codec import Protobuf

        return Protobuf(kind)
    if hasattr(kind, "GetRootAs"):
        raise BadArgument(f"{kind.__name__} needs its schema: pass orc.flatbuffer({kind.__name__}, 'schema.bfbs')")
    raise TypeError(f"class {kind.__name__} is no type of a topic: {_KNOWN}")
