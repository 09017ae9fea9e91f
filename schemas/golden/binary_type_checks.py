"""Cases of the encodings whose schemas are binary: protobuf and flatbuffer."""

import base64
import struct
import subprocess
import tempfile
from pathlib import Path

from type_check_cases import bad_here, bad_there, described, differs, other_name, same


def compiled(suffix, text, command):
    with tempfile.TemporaryDirectory() as folder:
        source = Path(folder) / f"t{suffix}"
        source.write_text(text, encoding="utf-8")
        subprocess.run([part.format(folder=folder) for part in command], cwd=folder, check=True)
        return (Path(folder) / "t.out").read_bytes()


def protobuf(body, name="robot.State", syntax="proto3"):
    text = f'syntax = "{syntax}";\npackage robot;\n{body}\n'
    data = compiled(".proto", text, ["protoc", "--descriptor_set_out=t.out", "--include_imports", "t.proto"])
    return described(name, "protobuf", "protobuf", data)


def protobuf_cases():
    vec = "message Vec { double x = 1; double y = 2; }\n"
    enum = "enum Mode { IDLE = 0; MOVING = 1; }\n"
    text = vec + enum + "message State { repeated double q = 1; Vec v = 2; Mode mode = 3; map<string, Vec> m = 4; }"
    base = protobuf(text)
    same("protobuf: equal", base, base)
    same("protobuf: added field", protobuf(text.replace("Vec v = 2;", "Vec v = 2; string s = 9;")), base)
    same("protobuf: removed field", protobuf(text.replace("Vec v = 2;", "")), base)
    same("protobuf: renamed field and message", protobuf(text.replace("v = 2", "w = 2").replace("Vec", "V3")), base)
    other_name("protobuf: other name", protobuf(text.replace("State", "Pose"), "robot.Pose"), base)
    floats = protobuf(text.replace("double q", "float q"))
    differs("protobuf: other type", floats, base, "field `q`", "repeated float", "repeated double")
    differs(
        "protobuf: int32 is not int64",
        protobuf("message State { int32 a = 1; }"),
        protobuf("message State { int64 a = 1; }"),
        "field `a`",
        "int32",
        "int64",
    )
    single = protobuf(text.replace("repeated double q", "double q"))
    differs("protobuf: not repeated", base, single, "field `q`", "repeated double", "double")
    nested_float = protobuf(text.replace("double y", "fixed32 y"))
    differs("protobuf: nested", base, nested_float, "field `v.y`", "double", "fixed32")
    differs(
        "protobuf: string is not bytes",
        protobuf("message State { string a = 1; }"),
        protobuf("message State { bytes a = 1; }"),
        "field `a`",
        "string",
        "bytes",
    )
    differs(
        "protobuf: value of a map",
        base,
        protobuf(text.replace("map<string, Vec>", "map<string, int32>")),
        "field `m.value`",
        "robot.Vec",
        "int32",
    )
    same("protobuf: more values", base, protobuf(text.replace("MOVING = 1;", "MOVING = 1; FAILED = 2;")))
    stopped = protobuf(text.replace("MOVING", "STOPPED"))
    differs("protobuf: other value", base, stopped, "value 1 of field `mode`", "`MOVING`", "`STOPPED`")
    differs(
        "protobuf: enum and number",
        base,
        protobuf(text.replace("Mode mode", "int32 mode")),
        "field `mode`",
        "robot.Mode",
        "int32",
    )
    required = protobuf("message State { required double a = 1; }", syntax="proto2")
    optional = protobuf("message State { optional double a = 1; }", syntax="proto2")
    none = protobuf("message State { }", syntax="proto2")
    differs("protobuf: required there", required, optional, "field `a`", "required double", "optional double")
    differs("protobuf: required and missing here", required, none, "field `a`", "required double", "missing")
    differs("protobuf: required and missing there", none, required, "field `a`", "missing", "required double")
    group = protobuf("message State { optional group A = 1 { optional int32 x = 1; } }", syntax="proto2")
    message = protobuf("message State { optional A a = 1; message A { optional int32 x = 1; } }", syntax="proto2")
    differs("protobuf: group and message", group, message, "field `a`", "group robot.State.A", "robot.State.A")
    tree = "message State { double x = 1; repeated State kids = 2; }"
    same("protobuf: recursive", protobuf(tree), protobuf(tree + "\nmessage Other {}"))
    bad_there(
        "protobuf: no descriptor",
        described("robot.State", "protobuf", "protobuf", b"\x0a\x05x"),
        base,
        "byte 2: not a FileDescriptorSet",
    )
    bad_here("protobuf: root is not there", base, protobuf("message Other {}"), "message `robot.State` is not defined")
    protobuf_defaults()
    protobuf_oneofs()


def protobuf_defaults():
    def state(fields, enum="enum Mode { IDLE = 0; MOVING = 1; }"):
        return protobuf(f"{enum}\nmessage State {{ {fields} }}", syntax="proto2")

    def default(case, field, there, here, sentence):
        pair = [state(f"optional {field} = 1{f' [default = {value}]' if value else ''};") for value in (there, here)]
        differs(f"protobuf: default of {case}", *pair, "the default of field `a`", *sentence)

    default("a number", "int32 a", "5", "7", ("5", "7"))
    default("a number here", "double a", "", "2.5", ("0", "2.5"))
    default("a bool", "bool a", "true", "", ("true", "false"))
    default("a text", "string a", '"x`\\n"', "", ("`x`\\n`", "empty"))
    default("an enum", "Mode a", "MOVING", "", ("`MOVING`", "`IDLE`"))
    zeros = "optional int32 a = 1{}; optional bool b = 2{}; optional string c = 3{}; optional Mode d = 4{};"
    values = (f" [default = {value}]" for value in ("0", "false", '""', "IDLE"))
    same("protobuf: defaults that are zero", state(zeros.format(*values)), state(zeros.format("", "", "", "")))
    field = "optional Mode a = 1 [default = {}];"
    alias = "enum Mode { option allow_alias = true; IDLE = 0; MOVING = 1; GOING = 1; }"
    names = [state(field.format(name), alias) for name in ("GOING", "MOVING")]
    same("protobuf: default with another name", *names)
    first = [state("optional Mode a = 1;", f"enum Mode {{ {body} }}") for body in ("A = 0; B = 1;", "B = 1; A = 0;")]
    differs("protobuf: first value of an enum", *first, "the default of field `a`", "`A`", "`B`")
    nested = "message Vec {{ optional double x = 1{}; }} optional Vec v = 1;"
    differs(
        "protobuf: nested default",
        state(nested.format(" [default = inf]")),
        state(nested.format("")),
        "the default of field `v.x`",
        "inf",
        "0",
    )


def protobuf_oneofs():
    apart = protobuf("message State { int32 a = 1; int32 b = 2; int32 c = 3; }")
    both = protobuf("message State { oneof which { int32 a = 1; int32 b = 2; } int32 c = 3; }")
    texts = ("in one oneof with `a`", "in no oneof with `a`")
    differs("protobuf: oneof there", both, apart, "field `b`", *texts)
    differs("protobuf: oneof here", apart, both, "field `b`", *reversed(texts))
    two = protobuf("message State { oneof x { int32 a = 1; int32 c = 3; } oneof y { int32 b = 2; } }")
    differs("protobuf: other oneof", both, two, "field `b`", *texts)
    same("protobuf: renamed oneof", both, protobuf("message State { oneof w { int32 a = 1; int32 b = 2; } }"))
    one = protobuf("message State { oneof w { int32 a = 1; int32 z = 9; } }")
    same("protobuf: oneof of one shared field", apart, one)
    optional = protobuf("message State { optional int32 a = 1; optional int32 b = 2; int32 c = 3; }")
    same("protobuf: optional is no oneof", optional, apart)
    nested = "message Vec {{ {} }}\nmessage State {{ Vec v = 1; }}"
    differs(
        "protobuf: nested oneof",
        protobuf(nested.format("oneof w { int32 a = 1; int32 b = 2; }")),
        protobuf(nested.format("int32 a = 1; int32 b = 2;")),
        "field `v.b`",
        "in one oneof with `v.a`",
        "in no oneof with `v.a`",
    )


def flatbuffer(body, name="robot.State"):
    text = f"namespace robot;\n{body}\nroot_type State;\n"
    data = compiled(".fbs", text, ["sh", "-c", "flatc --binary --schema t.fbs && mv t.bfbs t.out"])
    return described(name, "flatbuffer", "flatbuffer", data)


def flatbuffer_cases():
    text = (
        "struct Vec { x:double; y:double; }\nenum Mode : ubyte { IDLE, MOVING }\n"
        "table A { i:int; }\ntable B { s:string; }\n"
        "union Body { A, B }\ntable State { q:[double]; v:Vec; mode:Mode; body:Body; gain:float = 0.5; }"
    )
    base = flatbuffer(text)
    same("flatbuffer: equal", base, base)
    same("flatbuffer: added field", flatbuffer(text.replace("0.5;", "0.5; more:string;")), base)
    same("flatbuffer: added field here", base, flatbuffer(text.replace("0.5;", "0.5; more:string;")))
    same("flatbuffer: deprecated field", base, flatbuffer(text.replace("q:[double]", "q:[double](deprecated)")))
    same("flatbuffer: renamed field", base, flatbuffer(text.replace("gain", "factor")))
    differs(
        "flatbuffer: other type",
        flatbuffer(text.replace("q:[double]", "q:[float]")),
        base,
        "field `q`",
        "[float]",
        "[double]",
    )
    differs(
        "flatbuffer: renamed with another type",
        base,
        flatbuffer(text.replace("gain:float", "factor:double")),
        "field `gain`",
        "float",
        "double",
    )
    moved = text.replace("q:[double]; v:Vec;", "v:Vec; q:[double];")
    differs("flatbuffer: other id", base, flatbuffer(moved), "the id of field `q`", "0", "1")
    differs(
        "flatbuffer: other default",
        base,
        flatbuffer(text.replace("0.5", "0.25")),
        "the default of field `gain`",
        "0.5",
        "0.25",
    )
    null = text.replace("0.5", "null")
    differs("flatbuffer: default null", base, flatbuffer(null), "the default of field `gain`", "0.5", "null")
    differs(
        "flatbuffer: struct",
        base,
        flatbuffer(text.replace("y:double; }", "y:double; z:double; }")),
        "field `v.z`",
        "missing",
        "double",
    )
    differs(
        "flatbuffer: field of a struct",
        base,
        flatbuffer(text.replace("y:double; }", "y:float; }")),
        "field `v.y`",
        "double",
        "float",
    )
    required = flatbuffer(text.replace("q:[double]", "q:[double](required)"))
    differs("flatbuffer: required here", base, required, "field `q`", "[double]", "required [double]")
    same("flatbuffer: added value", base, flatbuffer(text.replace("MOVING", "MOVING, FAILED")))
    differs(
        "flatbuffer: other value",
        base,
        flatbuffer(text.replace("IDLE, MOVING", "MOVING, IDLE")),
        "value `IDLE` of field `mode`",
        "0",
        "1",
    )
    differs(
        "flatbuffer: underlying type",
        base,
        flatbuffer(text.replace("ubyte", "ushort")),
        "field `mode`",
        "robot.Mode (ubyte)",
        "robot.Mode (ushort)",
    )
    same(
        "flatbuffer: added member of a union",
        base,
        flatbuffer(text.replace("{ A, B }", "{ A, B, C }").replace("table A", "table C {}\ntable A")),
    )
    differs(
        "flatbuffer: in a union",
        base,
        flatbuffer(text.replace("s:string", "s:[ubyte]")),
        "field `body.B.s`",
        "string",
        "[ubyte]",
    )
    swapped = flatbuffer(text.replace("{ A, B }", "{ B, A }"))
    differs("flatbuffer: order of a union", base, swapped, "value `A` of field `body`", "1", "2")
    other_name("flatbuffer: other name", dict(base, name="robot.A"), base)
    fixed = [flatbuffer(f"struct F {{ a:[double:{size}]; }}\ntable State {{ f:F; }}") for size in (3, 4)]
    differs("flatbuffer: length of an array", fixed[0], fixed[1], "field `f.a`", "[double:3]", "[double:4]")
    tree = "table State { x:double; kids:[State]; }"
    same("flatbuffer: recursive", flatbuffer(tree), flatbuffer(tree.replace("kids", "children")))
    bad_there("flatbuffer: no binary schema", dict(base, schema_base64="eA=="), base, "byte 4: `BFBS` is expected")
    bad_here(
        "flatbuffer: root is not there",
        dict(base, name=""),
        dict(base, name="robot.C"),
        "table `robot.C` is not defined",
    )


# What the compilers of Debian 12 cannot write yet: protobuf editions (descriptor.proto), 64-bit offsets
# (reflection.fbs).


def record(number, content):
    """A field of a protobuf message, shorter than 128 bytes: bytes, or an integer."""
    if isinstance(content, int):
        return varint(number << 3) + varint(content)
    return varint(number << 3 | 2) + varint(len(content)) + content


def varint(value):
    head = b""
    while value > 0x7F:
        head += bytes([value & 0x7F | 0x80])
        value >>= 7
    return head + bytes([value])


EDITION_2023 = record(12, b"editions") + record(14, 1000)
IN_FILE, IN_MESSAGE, IN_FIELD = ((8, 50), (7, 12), (8, 21))  # the numbers of `options`, and of `features` in it
LEGACY_REQUIRED = record(1, 3)
LENGTH_PREFIXED, DELIMITED = record(5, 1), record(5, 2)


def features(place, content):
    options, number = place
    return record(options, record(number, content))


def edition_2023(field=b"", message=b"", file=b""):
    """message State { message V { int32 x = 1; } V v = 1; }, with further records of its descriptors."""
    inner = record(1, b"V") + record(2, record(1, b"x") + record(3, 1) + record(4, 1) + record(5, 5))
    v = record(1, b"v") + record(3, 1) + record(4, 1) + record(5, 11) + record(6, b".robot.State.V") + field
    state = record(1, b"State") + record(2, v) + record(3, inner) + message
    text = record(1, b"t.proto") + record(2, b"robot") + record(4, state) + EDITION_2023 + file
    return described("robot.State", "protobuf", "protobuf", record(1, text))


def edition_cases():
    plain = edition_2023()
    delimited = edition_2023(field=features(IN_FIELD, DELIMITED))
    texts = ("group robot.State.V", "robot.State.V")
    differs("protobuf: a delimited field against a length-prefixed one", delimited, plain, "field `v`", *texts)
    in_file = edition_2023(file=features(IN_FILE, DELIMITED))
    differs("protobuf: fields of a delimited file", in_file, plain, "field `v`", *texts)
    in_message = edition_2023(message=features(IN_MESSAGE, DELIMITED))
    differs("protobuf: fields of a delimited message", in_message, plain, "field `v`", *texts)
    undone = edition_2023(file=features(IN_FILE, DELIMITED), field=features(IN_FIELD, LENGTH_PREFIXED))
    same("protobuf: a length-prefixed field of a delimited file", undone, plain)
    required = edition_2023(field=features(IN_FIELD, LEGACY_REQUIRED))
    differs(
        "protobuf: legacy_required against optional",
        required,
        plain,
        "field `v`",
        "required robot.State.V",
        "optional robot.State.V",
    )


def extension_cases():
    def extended(kind, body="extend State {{ optional {} e = 100; }}"):
        text = "message State {{ optional int32 a = 1; extensions 100 to 199; {} }}\n{}"
        inside = body.startswith("in ")
        parts = (body[3:], "") if inside else ("", body)
        return protobuf(text.format(*(part.format(kind) for part in parts)), syntax="proto2")

    texts = ("sint32", "int32")
    differs("protobuf: an extension with another type", extended("sint32"), extended("int32"), "field `e`", *texts)
    nested = extended("sint32", "in extend State {{ optional {} e = 100; }}")
    differs("protobuf: an extension inside a message", nested, extended("int32"), "field `e`", *texts)
    same("protobuf: an extension of one end", extended("int32"), extended("", ""))
    repeated = extended("int32", "extend State {{ repeated {} e = 100; }}")
    differs("protobuf: a repeated extension", repeated, extended("int32"), "field `e`", "repeated int32", "int32")


def with_offset64(of, field):
    """Sets offset64 of a field that is required: a new table of offsets says that both are the same byte."""
    data = bytearray(base64.b64decode(of["schema_base64"]))

    def number(form, at):
        return struct.unpack_from(form, data, at)[0]

    def target(at):
        return at + number("<I", at)

    def place(table, index):
        offsets = table - number("<i", table)
        return table + number("<H", offsets + 4 + 2 * index)

    def tables(table, index):
        vector = target(place(table, index))
        return [target(vector + 4 + 4 * i) for i in range(number("<I", vector))]

    def name(table):
        text = target(place(table, 0))
        return bytes(data[text + 4 : text + 4 + number("<I", text)]).decode()

    root = target(0)
    table = next(each for owner in tables(root, 0) for each in tables(owner, 1) if name(each) == field)
    offsets = table - number("<i", table)
    entries = list(struct.unpack_from(f"<{number('<H', offsets) // 2 - 2}H", data, offsets + 4))
    entries += [0] * (13 - len(entries)) + [entries[7]]
    data += bytes(-len(data) % 4)
    struct.pack_into("<i", data, table, table - len(data))
    data += struct.pack(f"<{2 + len(entries)}H", 4 + 2 * len(entries), number("<H", offsets + 2), *entries)
    return dict(of, schema_base64=base64.b64encode(data).decode())


def offset64_cases():
    near = flatbuffer("table State { a:double; s:string (required); }")
    far = with_offset64(near, "s")
    differs("flatbuffer: offset64", far, near, "field `s`", "required string (offset64)", "required string")
