"""Cases of the encodings whose schemas are text: struct, lcm, ros2msg, and of those without a schema."""

import base64
import json

from type_check_cases import THERE, bad_here, bad_there, described, differs, mismatch, other_name, same


def structure(fields, size, name="robot.State", order="little"):
    text = json.dumps({"byte_order": order, "size": size, "fields": fields}, separators=(",", ":"), ensure_ascii=False)
    return described(name, "struct", "struct", text)


def field(name, kind, offset, shape=None, **more):
    made = {"name": name, "type": kind, "offset": offset}
    if shape:
        made["shape"] = shape
    made.update(more)
    return made


def nested(fields, size):
    return {"size": size, "fields": fields}


def struct_cases():
    q64 = field("q", "float64", 0, [7])
    base = structure([q64], 56)
    same("struct: equal", base, base)
    loose = described("robot.State", "struct", "struct", json.dumps(json.loads(plain(base)), indent=2, sort_keys=True))
    same("struct: other white space and order of keys", base, loose)
    same("struct: no name there", dict(base, name=""), base)
    same("struct: no name here", base, dict(base, name=""))
    other_name("struct: other name", dict(base, name="robot.Pose"), base)
    differs(
        "struct: other type",
        structure([field("q", "float32", 0, [7])], 28),
        base,
        "field `q`",
        "float32[7]",
        "float64[7]",
    )
    differs(
        "struct: scalar and array", structure([field("q", "float64", 0)], 8), base, "field `q`", "float64", "float64[7]"
    )
    differs(
        "struct: other shape",
        structure([field("m", "int16", 0, [2, 3])], 12),
        structure([field("m", "int16", 0, [3, 2])], 12),
        "field `m`",
        "int16[2][3]",
        "int16[3][2]",
    )
    tau = structure([q64, field("tau", "float64", 56, [7])], 112)
    differs("struct: field missing here", tau, base, "field `tau`", "float64[7]", "missing")
    differs("struct: field missing there", base, tau, "field `tau`", "missing", "float64[7]")
    two = structure([field("a", "int32", 0), field("dq", "float64", 56)], 64)
    moved = structure([field("a", "int32", 0), field("dq", "float64", 64)], 72)
    mismatch("struct: other offset", two, moved, f"field `dq` begins at byte 56 {THERE}, at byte 64 here")
    differs("struct: other size", structure([q64], 64), structure([q64], 72), "the size", "64 bytes", "72 bytes")
    differs(
        "struct: byte order", structure([q64], 56, order="big"), base, "the byte order", "big-endian", "little-endian"
    )
    pose = nested([field("position", nested([field("x", "float64", 0)], 8), 0)], 8)
    pose32 = nested([field("position", nested([field("x", "float32", 0)], 8), 0)], 8)
    differs(
        "struct: nested field",
        structure([field("pose", pose, 0)], 8),
        structure([field("pose", pose32, 0)], 8),
        "field `pose.position.x`",
        "float64",
        "float32",
    )
    wide = nested([field("x", "int8", 0)], 16)
    differs(
        "struct: size of a nested structure",
        structure([field("p", wide, 0)], 16),
        structure([field("p", dict(wide, size=8), 0)], 16),
        "the size of `p`",
        "16 bytes",
        "8 bytes",
    )
    differs(
        "struct: structure and number",
        structure([field("p", wide, 0)], 16),
        structure([field("p", "int8", 0)], 16),
        "field `p`",
        "struct",
        "int8",
    )
    annotated = structure([dict(q64, unit="rad", comment="joints")], 56)
    same("struct: units and comments are ignored", annotated, base)
    mode = field("mode", "uint8", 0, values={"idle": 0, "moving": 1})
    same("struct: values that one end knows", structure([mode], 1), structure([field("mode", "uint8", 0)], 1))
    more = field("mode", "uint8", 0, values={"idle": 0, "failed": 2})
    same("struct: values that both know agree", structure([mode], 1), structure([more], 1))
    swapped = field("mode", "uint8", 0, values={"idle": 1, "moving": 0})
    differs(
        "struct: other value", structure([mode], 1), structure([swapped], 1), "value `idle` of field `mode`", "0", "1"
    )
    texts = [structure([field("label", "char", 0, [size])], size) for size in (16, 32)]
    differs("struct: length of a text", texts[0], texts[1], "field `label`", "char[16]", "char[32]")
    hostile = structure([field("a\x1b[2J", "int8", 0)], 1)
    differs("struct: names are escaped", hostile, structure([], 1), "field `a\\x1b[2J`", "int8", "missing")
    bad_there("struct: not JSON there", dict(base, schema_base64="eA=="), base, "byte 0: a value is expected")
    behind = structure([field("q", "float64", 50)], 56)
    why = "byte 43: the field `q` ends behind byte 56, the size of its structure"
    bad_here("struct: field outside here", base, behind, why)
    big = structure([field("values", "float64", 0, values={"x": 0})], 8)
    where = plain(big).index('{"x":0}')
    bad_here("struct: values of a real number", base, big, f"byte {where}: only integers have `values`")


def plain(description):
    return base64.b64decode(description["schema_base64"]).decode()


def lcm(text, name="demo.state"):
    return described(name, "lcm", "lcm", text)


def lcm_cases():
    text = "package demo;\nstruct state { int32_t n; double q[7]; vec v[n]; }\nstruct vec { double x, y; }\n"
    base = lcm(text)
    same("lcm: equal", base, base)
    same(
        "lcm: comments, constants and order",
        base,
        lcm("// c\n" + text.replace("{ int32_t", "{ const int8_t A = 1; int32_t")),
    )
    renamed = text.replace("vec", "vector3").replace("state", "robot_state")
    same("lcm: names of types do not matter", base, lcm(renamed, "demo.robot_state"))
    differs("lcm: other type", lcm(text.replace("double q", "float q")), base, "field `q`", "float32[7]", "float64[7]")
    differs("lcm: other dimension", lcm(text.replace("q[7]", "q[n]")), base, "field `q`", "float64[n]", "float64[7]")
    differs("lcm: nested", base, lcm(text.replace("x, y", "x, z")), "field `v.y`", "float64", "missing")
    differs("lcm: missing there", base, lcm(text.replace("v[n];", "v[n]; string s;")), "field `s`", "missing", "string")
    swapped = lcm(text.replace("x, y", "y, x"))
    differs("lcm: order of fields", base, swapped, "field `v.x`", "number 1", "number 2")
    only = lcm(f"fingerprint 0x{LCM_FINGERPRINT:016x}\n")
    same("lcm: only the fingerprint is known there", only, base)
    same("lcm: only the fingerprint is known here", base, only)
    one = f"0x{LCM_FINGERPRINT:016x}"
    differs("lcm: other fingerprint", lcm("fingerprint 0x1\n"), base, "the fingerprint", f"0x{1:016x}", one)
    sized = [lcm(f"struct s {{ int8_t a[{size}]; }}", "s") for size in ("8", "0x8")]
    prints = [f"0x{each:016x}" for each in SIZE_FINGERPRINTS]
    differs("lcm: the same size in other words", sized[0], sized[1], "the fingerprint", prints[0], prints[1])
    constants = "package demo;\nstruct state { const int32_t N = 7; int32_t n; double q[N]; vec v[n]; }\n"
    same("lcm: a constant as a size", lcm(constants + "struct vec { double x, y; }"), base)
    differs(
        "lcm: a constant as another size",
        lcm(constants.replace("N = 7", "N = 6") + "struct vec { double x, y; }"),
        base,
        "field `q`",
        "float64[6]",
        "float64[7]",
    )
    hexadecimal = lcm("struct s { const int8_t N = 0x8; int8_t a[N]; }", "s")
    same("lcm: a constant counts as it was written", sized[1], hexadecimal)
    differs("lcm: a constant in other words", sized[0], hexadecimal, "the fingerprint", prints[0], prints[1])
    real = lcm("struct s { const double N = 8; int8_t a[N]; }", "s")
    bad_here("lcm: a constant that is no size", sized[0], real, "line 1: `N` is no integer member before this array")
    tree = "struct tree { double x; int32_t n; tree kids[n]; }"
    same("lcm: recursive", lcm(tree, "tree"), lcm(tree + "\n", "tree"))
    bad_there(
        "lcm: undefined type",
        lcm("struct demo.state { }"),
        base,
        "line 1: the name of a struct is expected, not `demo.state`",
    )
    bad_here("lcm: root is not there", base, lcm("struct other {}"), "struct demo.state is not defined")


# From lcm-gen 1.5.3.
LCM_FINGERPRINT = 0xBC4A59C0E709D756
SIZE_FINGERPRINTS = (0x4635611279E656BA, 0x611279E652AB7CDB)


def ros2(text, name="robot_msgs/msg/State"):
    return described(name, "ros2msg", "cdr", text)


def ros2_cases():
    dependency = "\n" + "=" * 80 + "\nMSG: geometry_msgs/Point\nfloat64 x\nfloat64 y\n"
    text = (
        "# State of an arm\nuint8 IDLE=0\nfloat64[7] q # joints\nstring<=10 name\ngeometry_msgs/Point[<=3] path\n"
        + dependency
    )
    base = ros2(text)
    same("ros2msg: equal", base, base)
    same(
        "ros2msg: comments, constants and defaults",
        base,
        ros2(text.replace("IDLE=0", "IDLE=1").replace("name", 'name "x"')),
    )
    same(
        "ros2msg: dependency with msg",
        base,
        ros2(text.replace("MSG: geometry_msgs/Point", "MSG: geometry_msgs/msg/Point")),
    )
    differs(
        "ros2msg: other type",
        base,
        ros2(text.replace("float64[7]", "float32[7]")),
        "field `q`",
        "float64[7]",
        "float32[7]",
    )
    differs(
        "ros2msg: bound of a string",
        base,
        ros2(text.replace("<=10", "<=20")),
        "field `name`",
        "string<=10",
        "string<=20",
    )
    path = "field `path`"
    differs(
        "ros2msg: bound of an array",
        base,
        ros2(text.replace("[<=3]", "[]")),
        path,
        "geometry_msgs/msg/Point[<=3]",
        "geometry_msgs/msg/Point[]",
    )
    differs(
        "ros2msg: other message",
        base,
        ros2(text.replace("Point", "Vec")),
        path,
        "geometry_msgs/msg/Point[<=3]",
        "geometry_msgs/msg/Vec[<=3]",
    )
    differs(
        "ros2msg: nested", base, ros2(text.replace("float64 y", "float32 y")), "field `path.y`", "float64", "float32"
    )
    differs(
        "ros2msg: order",
        base,
        ros2(text.replace("x\nfloat64 y", "y\nfloat64 x")),
        "field `path.x`",
        "number 1",
        "number 2",
    )
    other_name("ros2msg: other name", dict(base, name="robot_msgs/msg/Pose"), base)
    bad_here(
        "ros2msg: missing dependency",
        base,
        ros2("geometry_msgs/Point p"),
        "line 1: message geometry_msgs/msg/Point is not defined",
    )
    bad_there("ros2msg: unknown type", ros2("float65! q"), base, "line 1: unknown type `float65!`")
    bad_here("ros2msg: contains itself", base, ros2("State s"), "robot_msgs/msg/State contains itself")
    same("ros2msg: name with and without msg", base, dict(base, name="robot_msgs/State"))
    same("ros2msg: name without msg, no schema", described("robot_msgs/State", "", "cdr", ""), base)
    other_name("ros2msg: other name without msg", dict(base, name="robot_msgs/Pose"), base)


def other_cases():
    base = structure([field("q", "float64", 0)], 8)
    none = described("", "", "", "")
    same("untyped there", none, base)
    same("untyped here", base, none)
    differs("other message encoding", lcm("struct s {}", "robot.State"), base, "message encoding", "lcm", "struct")
    differs("no message encoding", dict(base, message_encoding=""), base, "message encoding", "not known", "struct")
    same("no schema there", described("robot.State", "struct", "struct", ""), base)
    other_name("no schema, other name", described("robot.Pose", "struct", "struct", ""), base)
    documents = [described(name, "jsonschema", "json", text) for name, text in (("a", "{}"), ("a", "[]"), ("b", "{}"))]
    same("json: other schema", documents[0], documents[1])
    same("json: no schema here", documents[0], described("a", "", "json", ""))
    same("json: no name here", documents[0], described("", "", "json", ""))
    other_name("json: other name", documents[0], documents[2])
    idl = [described("p/msg/T", "ros2idl", "cdr", text) for text in ("a", "b")]
    same("unknown encoding: equal", idl[0], idl[0])
    mismatch("unknown encoding: other schema", idl[0], idl[1], "the schemas differ")
    text = described("p/msg/T", "ros2msg", "cdr", "int8 a")
    differs("other schema encoding", idl[0], text, "schema encoding", "ros2idl", "ros2msg")
