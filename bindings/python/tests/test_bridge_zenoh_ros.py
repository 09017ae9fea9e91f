"""The formats of rmw_zenoh and zenoh-bridge-ros2dds. No ROS 2 runs here: a client of Zenoh sends and reads what their
public documentation says, with samples in CDR that the package rosbags writes and reads."""

from __future__ import annotations

import struct
from typing import Any

import pytest

from support import wait_until

zenoh = pytest.importorskip("zenoh", reason="eclipse-zenoh is not installed: pip install eclipse-zenoh")
np = pytest.importorskip("numpy")
rosbags = pytest.importorskip("rosbags.typesys", reason="rosbags is not installed: pip install rosbags")

from bridge_fixtures import Fleet, Heard, one_fleet, put, receive, wait_for_subscriber  # noqa: E402
from orc import TypeDescription  # noqa: E402
from orc.bridge._shared.local_topics import NotBridged  # noqa: E402
from orc.bridge._zenoh.rihs import type_digest  # noqa: E402
from orc.bridge._zenoh.ros import demangled, mangled  # noqa: E402

__all__ = ["one_fleet"]

STRING, IMAGE = "std_msgs/msg/String", "sensor_msgs/msg/Image"
STRING_HASH = "RIHS01_df668c740482bbd48fb39d76a70dfd4bd59db1288021743503259e948f6b1a18"  # that ROS 2 documents
GID = bytes(range(100, 116))


@pytest.fixture(scope="module")
def store() -> Any:
    return rosbags.get_typestore(rosbags.Stores.ROS2_JAZZY)


def described(store: Any, name: str) -> TypeDescription:
    return TypeDescription(name, "ros2msg", "cdr", store.generate_msgdef(name, ros_version=2)[0].encode())


def text(store: Any, value: str) -> bytes:
    return bytes(store.serialize_cdr(store.types[STRING](data=value), STRING))


def test_hashes_are_those_of_ros(store: Any) -> None:
    """Against rosbags, for every type of Jazzy; but `char`, which ROS 2 hashes as uint8 and rosbags as char."""
    assert type_digest(described(store, STRING)) == STRING_HASH
    compared = 0
    for name in store.fielddefs:
        type = described(store, name)
        if b"\nchar" in b"\n" + type.schema:
            continue
        assert type_digest(type) == store.hash_rihs01(name), name
        compared += 1
    assert compared > 100
    char = "RIHS01_3ad2d04dd29ba19d04b16659afa3ccaedd691914b02a64e82e252f2fa6a586a9"  # of std_msgs/msg/Char in ROS 2
    assert type_digest(described(store, "std_msgs/msg/Char")) == char


def test_hashes_do_not_depend_on_how_a_writer_joins_definitions(store: Any) -> None:
    """Without Time and Duration, with other separators, a byte order mark, repeated and unused messages."""
    for name in store.fielddefs:
        type = described(store, name)
        root, *parts = type.schema.split(b"=" * 80 + b"\n")
        own = [each for each in parts if not each.startswith(b"MSG: builtin_interfaces/")]
        unused = b"MSG: nobody/Uses\r\nnot_there/This x\r\n"
        joined = b"\xef\xbb\xbf" + b"===\r\n".join([root, *own, unused, *own])
        assert type_digest(type) == type_digest(TypeDescription(name, "ros2msg", "cdr", joined)), name
    time = TypeDescription("a/msg/B", "ros2msg", "cdr", b"MSG: a/B\n@key builtin_interfaces/Time t\n")
    assert type_digest(time) == type_digest(TypeDescription("a/msg/B", "ros2msg", "cdr", b"time t"))
    type_digest(TypeDescription("a/msg/B", "ros2msg", "cdr", b"int8[0] none\nint8 x\n===\n"))
    for bad, why in (
        (b"a/C c\n===\nMSG: a/C\nint8 x\n===\nMSG: a/C\nint16 x\n", "in two ways"),
        (b"a/C c", "not defined"),
    ):
        with pytest.raises(NotBridged, match=why):
            type_digest(TypeDescription("a/msg/B", "ros2msg", "cdr", bad))


def test_names_of_types() -> None:
    assert mangled(STRING) == mangled("std_msgs/String") == "std_msgs::msg::dds_::String_"
    assert demangled("std_msgs::msg::dds_::String_") == STRING
    for bad in ("", "a", "std_msgs::msg::String", "a::msg::dds_::B", "a::b::dds_::C_", "é::msg::dds_::B_"):
        assert demangled(bad) is None
    for bad in ("", "a", "robot.State", "a/b/c", "a/msg/b/c", "a/*"):
        with pytest.raises(NotBridged):
            mangled(bad)
    with pytest.raises(NotBridged):
        type_digest(TypeDescription(STRING, "ros2msg", "cdr", b"no such type"))


def test_rmw_zenoh_hears_a_topic_of_cdr(one_fleet: Fleet, store: Any) -> None:
    session = one_fleet.session()
    tokens = []
    session.liveliness().declare_subscriber("@ros2_lv/3/**", lambda token: tokens.append(str(token.key_expr)))
    key = f"3/robot/chatter/std_msgs::msg::dds_::String_/{STRING_HASH}"
    heard, images = Heard(session, key), Heard(session, "3/camera/*/*")
    one_fleet.bridge("r1", "--topic", "**", "--format", "rmw_zenoh", "--domain", "3")
    local = one_fleet.participant("r1")
    local.register_topic("not/cdr").send_msg(b"x")
    local.register_topic("robot/chatter", type=described(store, STRING)).send_msg(text(store, "hello"))
    sample = heard.wait_for(text(store, "hello"))
    assert store.deserialize_cdr(sample.payload.to_bytes(), STRING).data == "hello"
    sequence, stamp, size, gid = struct.unpack("<qqB16s", sample.attachment.to_bytes())
    published = one_fleet.orc.Directory(one_fleet.broker("r1")).describe("robot/chatter").publication
    assert (sequence, size, gid.hex()) == (1, 16, published.id) and stamp > 10**18

    end = f"%robot%chatter/std_msgs::msg::dds_::String_/{STRING_HASH}/:1:,1:,:,:,,"
    wait_until(lambda: [each for each in tokens if f"/MP/%/%/orc_bridge/{end}" in each])
    assert any(each.endswith("/0/0/NN/%/%/orc_bridge") for each in tokens)

    header = store.types["std_msgs/msg/Header"](
        stamp=store.types["builtin_interfaces/msg/Time"](sec=1, nanosec=2), frame_id="camera"
    )
    image = store.types[IMAGE](
        header=header, height=480, width=640, encoding="rgb8", is_bigendian=0, step=1920,
        data=np.arange(480 * 1920, dtype=np.uint32).astype(np.uint8),
    )  # fmt: skip
    data = bytes(store.serialize_cdr(image, IMAGE))
    local.register_topic("camera", type=described(store, IMAGE)).send_msg(data)
    assert str(images.wait_for(data).key_expr).endswith(store.hash_rihs01(IMAGE))


def test_a_talker_of_rmw_zenoh_is_a_topic_here(one_fleet: Fleet, store: Any) -> None:
    schema = one_fleet._run_dir / "string.msg"
    schema.write_bytes(described(store, STRING).schema)
    settings = f'format = "rmw_zenoh"\n[[topic]]\nname = "chatter"\ntype_name = "{STRING}"\nschema_file = "{schema}"\n'
    bridge = one_fleet.bridge("r1", "--file", one_fleet.file(settings))
    session = one_fleet.session()
    local = one_fleet.participant("r1")
    chatter = local.request_topic("chatter", type=described(store, STRING))

    def talk(key: str, sequence: int, data: bytes) -> None:
        put(session, key, data, struct.pack("<qqB16s", sequence, 1000 + sequence, 16, GID))

    wrong = f"0/chatter/std_msgs::msg::dds_::String_/RIHS01_{'0' * 64}"
    key = f"0/chatter/std_msgs::msg::dds_::String_/{STRING_HASH}"
    wait_for_subscriber(session, key)
    talk(wrong, 1, b"of another type")
    wait_until(lambda: bridge.wrote("not bridged"))
    talk(key, 5, text(store, "hello"))
    assert receive(chatter, text(store, "hello")) == [text(store, "hello")]
    talk(key, 4, text(store, "older"))
    put(session, key, text(store, "bad"), attachment=struct.pack("<qqB16s", 6, 6, 15, GID))
    put(session, key, text(store, "bad"), attachment=b"short")
    talk(key, 7, text(store, "newer"))
    assert receive(chatter, text(store, "newer")) == [text(store, "newer")]
    counts = bridge.end()
    assert counts["malformed"] == 2 and counts["not newer"] >= 1


def test_ros2dds_has_plain_keys_and_its_tokens(one_fleet: Fleet, store: Any) -> None:
    session = one_fleet.session()
    tokens = []
    session.liveliness().declare_subscriber("@/*/@ros2_lv/**", lambda token: tokens.append(str(token.key_expr)))
    heard = Heard(session, "robot/chatter")
    bridge = one_fleet.bridge("r1", "--topic", "robot/*", "--format", "ros2dds")
    local = one_fleet.participant("r1")
    local.register_topic("robot/chatter", type=described(store, STRING)).send_msg(text(store, "out"))
    sample = heard.wait_for(text(store, "out"))
    assert sample.attachment is None
    wait_until(lambda: [e for e in tokens if e.endswith("/@ros2_lv/MP/robot§chatter/std_msgs§msg§String/::1:0,1")])
    wait_for_subscriber(session, "robot/cmd")
    put(session, "robot/cmd", text(store, "in"))
    receive(local.request_topic("robot/cmd"), text(store, "in"))
    put(session, "robot/chatter", text(store, "somebody else"))  # published here: it never comes in
    put(session, "robot/cmd", text(store, "last"))
    receive(local.request_topic("robot/cmd"), text(store, "last"))
    assert bridge.end()["received"] == 2
