"""Encoding flatbuffer: the classes that flatc makes of tests/types/every.fbs."""

from __future__ import annotations

import pathlib
from typing import Any, Callable, Dict, List, Union

import pytest

from every_values import TYPES, Encoding, Values, double, number, single
from generated_types import flatbuffer_classes

# The kinds of the fields: a word, or a list of one word, for a vector. What is not named here is an integer.
Kind = Union[str, List[str]]
_SINGLES = {"f32_tenth", "f32_zero", "f32_tiny", "f32_largest", "some_maybe"}
_DOUBLES = {"f64_tenth", "f64_zero", "f64_tiny", "f64_largest", "left_out_ratio"}
KINDS: Dict[str, Kind] = {
    **dict.fromkeys(_SINGLES, "float"),
    **dict.fromkeys(_DOUBLES, "double"),
    **dict.fromkeys(("mode", "unnamed_mode", "left_out_mode"), "Mode"),
    **dict.fromkeys(("text", "no_text", "left_out_text"), "string"),
    **dict.fromkeys(("part", "left_out_part"), "Part"),
    **dict.fromkeys(("point", "left_out_point"), "Point"),
    **dict.fromkeys(("payload", "other_payload", "no_payload"), "union"),
    **dict.fromkeys(("payload_type", "other_payload_type", "no_payload_type"), "Payload"),
    **dict.fromkeys(("i8s", "u8s", "i16s", "u16s", "i32s", "u32s", "i64s", "u64s", "left_out_list"), ["int"]),
    **dict.fromkeys(("f64_special", "f64s", "no_numbers"), ["double"]),
    **dict.fromkeys(("texts", "no_texts"), ["string"]),
    **dict.fromkeys(("parts", "no_parts"), ["Part"]),
    "yes": "bool", "no": "bool", "wide": "Wide", "flags": "Flags", "box": "Box", "tree": "Node",
    "bools": ["bool"], "f32s": ["float"], "modes": ["Mode"], "points": ["Point"],
}  # fmt: skip
_MODULES = ("Every", "Part", "Other", "Point", "Box", "Node", "Mode", "Wide", "Flags", "Payload")
_INTEGERS = (
    "i8_low", "i8_high", "u8_high", "i16_low", "i16_high", "u16_high", "i32_low", "i32_high", "u32_high", "i64_low",
    "i64_high", "u64_high", "left_out_int", "left_out_maybe", "zero_maybe",
)  # fmt: skip
_PREPENDS = {
    "i8s": "Int8", "u8s": "Uint8", "i16s": "Int16", "u16s": "Uint16", "i32s": "Int32", "u32s": "Uint32",
    "i64s": "Int64", "u64s": "Uint64", "f32s": "Float32", "f64s": "Float64", "f64_special": "Float64",
    "no_numbers": "Float64", "bools": "Bool", "modes": "Int8",
}  # fmt: skip


def encoding(backend: Any, directory: pathlib.Path, monkeypatch: pytest.MonkeyPatch) -> Encoding:
    module_of, bfbs = flatbuffer_classes(directory, monkeypatch, TYPES / "every.fbs")
    modules = {each: module_of(f"typed_fb.every.{each}") for each in _MODULES}
    generated = Generated(modules.__getitem__)
    return Encoding(backend.flatbuffer(generated.named("Every").Every, bfbs), generated.build, generated.every)


def camel(name: str) -> str:
    return "".join(each[0].upper() + each[1:] for each in name.split("_"))


class Generated:
    """The modules of the namespace, read and filled through the functions that flatc made."""

    def __init__(self, named: Callable[[str], Any]) -> None:
        self.named = named

    # Reading

    def every(self, table: Any) -> Values:
        found = {name: self._field(table, name) for name in (*KINDS, *_INTEGERS)}
        return {name: value for name, value in found.items() if value is not None}

    def _field(self, table: Any, name: str) -> Any:
        kind, method = KINDS.get(name, "int"), getattr(table, camel(name))
        if isinstance(kind, list):
            if getattr(table, camel(name) + "IsNone")():
                return None
            return [self._json(kind[0], method(each)) for each in range(getattr(table, camel(name) + "Length")())]
        value = method()
        if value is None:
            return None
        if kind == "union":
            which = self._json("Payload", getattr(table, camel(name) + "Type")())
            made = getattr(self.named(which), which)()
            made.Init(value.Bytes, value.Pos)
            return self._json(which, made)
        return self._json(kind, value)

    def _json(self, kind: str, value: Any) -> Any:
        if kind in ("Mode", "Wide", "Flags", "Payload"):
            names = {number: name for name, number in vars(getattr(self.named(kind), kind)).items() if name[0] != "_"}
            return names.get(value, value)
        reads: Dict[str, Callable[[Any], Any]] = {
            "float": single, "double": double, "bool": bool, "string": lambda text: text.decode(),
            "Part": self._part, "Point": self._point, "Box": self._box, "Node": self._node,
            "Other": lambda other: {"ratio": double(other.Ratio())},
        }  # fmt: skip
        return reads.get(kind, int)(value)

    def _part(self, part: Any) -> Values:
        label = {} if part.Label() is None else {"label": part.Label().decode()}
        return {"id": part.Id(), **label}

    def _point(self, point: Any) -> Values:
        return {"x": double(point.X()), "y": single(point.Y())}

    def _node(self, node: Any) -> Values:
        if node.ChildrenIsNone():
            return {"value": node.Value()}
        return {"value": node.Value(), "children": [self._node(node.Children(i)) for i in range(node.ChildrenLength())]}

    def _corner(self, box: Any, index: int) -> Any:
        try:
            return box.Corners(index)  # of flatc since 23
        except TypeError:
            return box.Corners(self.named("Point").Point(), index)

    def _box(self, box: Any) -> Values:
        point = self.named("Point").Point
        return {
            "low": self._point(box.Low(point())), "flag": bool(box.Flag()), "mode": self._json("Mode", box.Mode()),
            "i8": box.I8(), "u16": box.U16(), "i64": box.I64(), "ids": box.Ids(),
            "corners": [self._point(self._corner(box, i)) for i in range(2)],
            "modes": [self._json("Mode", each) for each in box.Modes()],
        }  # fmt: skip

    # Building: what a table refers to comes first.

    def build(self, values: Values) -> Any:
        import flatbuffers  # type: ignore[import-untyped]

        builder, module = flatbuffers.Builder(64), self.named("Every")
        offsets = {name: self._offset(builder, values, name) for name in values if self._is_apart(name)}
        module.EveryStart(builder)
        for name, value in values.items():
            if name.startswith("left_out"):
                continue
            if name in offsets:
                made = offsets[name]
            elif name == "point":
                made = self.named("Point").CreatePoint(builder, value["x"], value["y"])
            elif name == "box":
                made = self._build_box(builder, value)
            else:
                made = self._number(KINDS.get(name, "int"), value)
            getattr(module, "EveryAdd" + camel(name))(builder, made)
        builder.Finish(module.EveryEnd(builder))
        return builder

    def _is_apart(self, name: str) -> bool:
        kind = KINDS.get(name)
        return isinstance(kind, list) or kind in ("string", "Part", "Node", "union")

    def _number(self, kind: Kind, value: Any) -> Any:
        if kind in ("Mode", "Wide", "Flags", "Payload") and isinstance(value, str):
            return getattr(getattr(self.named(str(kind)), str(kind)), value)
        return number(value)

    def _offset(self, builder: Any, values: Values, name: str) -> Any:
        kind, value = KINDS[name], values[name]
        if kind == "union":
            return self._build(builder, values[name + "_type"], value)
        if not isinstance(kind, list):
            return self._build(builder, kind, value)
        start = getattr(self.named("Every"), f"EveryStart{camel(name)}Vector")
        apart = [self._build(builder, kind[0], each) for each in value] if kind[0] in ("string", "Part") else []
        start(builder, len(value))
        for at in reversed(range(len(value))):
            if apart:
                builder.PrependUOffsetTRelative(apart[at])
            elif kind == ["Point"]:
                self.named("Point").CreatePoint(builder, value[at]["x"], value[at]["y"])
            else:
                getattr(builder, "Prepend" + _PREPENDS[name])(self._number(kind[0], value[at]))
        return builder.EndVector()

    def _build(self, builder: Any, kind: str, value: Any) -> Any:
        if kind == "string":
            return builder.CreateString(value)
        module = self.named(kind)
        if kind == "Part":
            label = builder.CreateString(value["label"]) if "label" in value else None
            module.PartStart(builder)
            module.PartAddId(builder, value["id"])
            if label is not None:
                module.PartAddLabel(builder, label)
        elif kind == "Other":
            module.OtherStart(builder)
            module.OtherAddRatio(builder, value["ratio"])
        else:
            return self._build_node(builder, value)
        return getattr(module, kind + "End")(builder)

    def _build_node(self, builder: Any, value: Values) -> Any:
        module, children = self.named("Node"), None
        if "children" in value:
            made = [self._build_node(builder, each) for each in value["children"]]
            module.NodeStartChildrenVector(builder, len(made))
            for each in reversed(made):
                builder.PrependUOffsetTRelative(each)
            children = builder.EndVector()
        module.NodeStart(builder)
        module.NodeAddValue(builder, value["value"])
        if children is not None:
            module.NodeAddChildren(builder, children)
        return module.NodeEnd(builder)

    def _build_box(self, builder: Any, value: Values) -> Any:
        return self.named("Box").CreateBox(
            builder, value["low"]["x"], value["low"]["y"], value["flag"], self._number("Mode", value["mode"]),
            value["i8"], value["u16"], value["i64"], value["ids"], [each["x"] for each in value["corners"]],
            [each["y"] for each in value["corners"]], [self._number("Mode", each) for each in value["modes"]],
        )  # fmt: skip
