"""Reads and writes recordings with the libraries of PyPI, for recording_programs_test.cpp.

usage: recording_peer.py read indexed|streamed FILE      prints what is in an MCAP file, a line each
       recording_peer.py write KIND FILE                 writes an MCAP file; KIND: unchunked, none, lz4, zstd, bare, ros2
       recording_peer.py compare TOPIC FILE TABLE        compares a topic of an MCAP file with a table (CSV) of it

A message's line: message TOPIC SEQUENCE LOG_TIME PUBLISH_TIME SIZE CRC TYPE|SCHEMA_ENCODING|MESSAGE_ENCODING|SCHEMA_SIZE
"""

from __future__ import annotations

import csv
import itertools
import json
import struct
import sys
import tempfile
import zlib
from pathlib import Path
from typing import Any, Iterator

from mcap.reader import McapReader, NonSeekingReader, make_reader
from mcap.writer import CompressionType, Writer


def read(how: str, path: str) -> None:
    with open(path, "rb") as file:
        reader: McapReader = make_reader(file, True) if how == "indexed" else NonSeekingReader(file, True)
        for schema, channel, message in reader.iter_messages():
            kind = (
                f"{schema.name}|{schema.encoding}|{channel.message_encoding}|{len(schema.data)}"
                if schema
                else f"||{channel.message_encoding}|0"
            )
            print(
                f"message {channel.topic} {message.sequence} {message.log_time} {message.publish_time}"
                f" {len(message.data)} {zlib.crc32(message.data):08x} {kind}"
            )
    with open(path, "rb") as file:
        reader = make_reader(file, True)
        for metadata in reader.iter_metadata():
            entries = "".join(f" {key}={value}" for key, value in sorted(metadata.metadata.items()))
            print(f"metadata {metadata.name}{entries}")
        for attachment in reader.iter_attachments():
            crc = zlib.crc32(attachment.data)
            print(f"attachment {attachment.name} {attachment.media_type} {len(attachment.data)} {crc:08x}")


def write(kind: str, path: str) -> None:
    compression = {"lz4": CompressionType.LZ4, "zstd": CompressionType.ZSTD}.get(kind, CompressionType.NONE)
    indexed = kind != "bare"  # bare: as little as the format allows
    with open(path, "wb") as file:
        writer = Writer(
            file,
            chunk_size=2000,
            compression=compression,
            use_chunking=kind not in ("unchunked", "bare"),
            use_statistics=indexed,
            use_summary_offsets=indexed,
            repeat_channels=indexed,
            repeat_schemas=indexed,
            enable_data_crcs=True,
        )
        writer.start(profile="test", library="peer")
        schema = writer.register_schema("T", "jsonschema", b"{}")
        channels = [
            writer.register_channel("typed", "json", schema, {"key": "value"}),
            writer.register_channel("untyped", "", 0),
        ]
        for n in range(300):
            writer.add_message(
                channels[n % 3 % 2],
                # A little out of order, so that chunks overlap and are not sorted.
                log_time=1_700_000_000_000_000_000 + (n + n * 7 % 11) * 1_000_000 + n,
                publish_time=n,
                sequence=n,
                data=bytes((n + i) % 256 for i in range(n)),
            )
        writer.add_attachment(1, 2, "file", "text/plain", b"attached")
        writer.add_metadata("info", {"a": "1", "b": ""})
        writer.finish()


def write_ros2(path: str) -> None:
    import numpy as np
    from rosbags.rosbag2 import StoragePlugin
    from rosbags.rosbag2 import Writer as BagWriter
    from rosbags.typesys import Stores, get_typestore

    store = get_typestore(Stores.ROS2_HUMBLE)
    header_of = store.types["std_msgs/msg/Header"]
    time_of = store.types["builtin_interfaces/msg/Time"]
    imu_of = store.types["sensor_msgs/msg/JointState"]
    with tempfile.TemporaryDirectory() as scratch:
        bag = Path(scratch) / "bag"
        with BagWriter(bag, version=9, storage_plugin=StoragePlugin.MCAP) as writer:
            connection = writer.add_connection("/joints", "sensor_msgs/msg/JointState", typestore=store)
            for n in range(50):
                values = np.arange(7, dtype=np.float64) + n
                state = imu_of(header_of(time_of(n, 5), "base"), [f"q{i}" for i in range(7)], values, values, values)
                writer.write(connection, 1_700_000_000_000_000_000 + n, store.serialize_cdr(state, imu_of.__msgtype__))
        (made,) = bag.glob("*.mcap")
        Path(path).write_bytes(made.read_bytes())


LETTERS = {"bool": "?", "float32": "f", "float64": "d"} | {
    f"{sign}int{bits}": letter.upper() if sign else letter
    for sign in ("", "u")
    for bits, letter in ((8, "b"), (16, "h"), (32, "i"), (64, "q"))
}


def struct_values(about: dict[str, Any], order: str, data: bytes, name: str = "") -> Iterator[tuple[str, Any]]:
    """The columns of a sample of this struct schema (PROTOCOL.md), by Python's module struct."""
    for field in about["fields"]:
        kind, shape = field["type"], field.get("shape", [])
        if kind == "char":
            *shape, length = shape
            size = length
        else:
            size = kind["size"] if isinstance(kind, dict) else struct.calcsize("=" + LETTERS[kind])
        places = itertools.product(*(range(count) for count in shape))
        for number, place in enumerate(places):
            at = field["offset"] + number * size
            part = data[at : at + size]
            column = name + field["name"] + "".join(f"[{index}]" for index in place)
            if kind == "char":
                yield column, part.split(b"\0")[0].decode()
            elif isinstance(kind, dict):
                yield from struct_values(kind, order, part, column + ".")
            else:
                yield column, struct.unpack(order + LETTERS[kind], part)[0]


def json_values(value: Any, name: str = "") -> Iterator[tuple[str, Any]]:
    if isinstance(value, dict):
        for key, each in value.items():
            yield from json_values(each, f"{name}.{key}" if name else key)
    elif isinstance(value, list):
        for number, each in enumerate(value):
            yield from json_values(each, f"{name}[{number}]")
    else:
        yield name, value


def is_equal(value: Any, kind: str, cell: str) -> bool:
    if isinstance(value, bool):
        return cell == ("true" if value else "false")
    if isinstance(value, int):
        return int(cell) == value
    if isinstance(value, float):
        precision = "=f" if kind == "float32" else "=d"
        return struct.pack(precision, float(cell)) == struct.pack(precision, value)
    return cell == ("" if value is None else value)


def compare(topic: str, path: str, table: str) -> None:
    with open(path, "rb") as file, open(table, newline="") as cells:
        rows = csv.DictReader(cells)
        count = 0
        for schema, channel, message in make_reader(file).iter_messages(topics=[topic]):
            row = next(rows)
            times = (message.log_time, message.publish_time, message.sequence)
            assert tuple(int(row.pop(name)) for name in ("received_ns", "stamp_ns", "sequence")) == times
            if schema is not None and channel.message_encoding == "struct":
                about = json.loads(schema.data)
                values = dict(struct_values(about, ">" if about["byte_order"] == "big" else "<", message.data))
                kinds = {field["name"]: str(field["type"]) for field in about["fields"]}
            else:
                values = dict(json_values(json.loads(message.data)))
                kinds = {}
            for name, cell in row.items():
                kind = kinds.get(name.split("[")[0], "")
                assert is_equal(values.pop(name) if name in values else None, kind, cell), (name, cell, row)
            assert not values, values
            count += 1
        assert next(rows, None) is None
        print(f"{count} rows are equal")


def main() -> None:
    verb, how, path = sys.argv[1:4]
    if verb == "compare":
        compare(how, path, sys.argv[4])
    elif verb == "read":
        read(how, path)
    elif how == "ros2":
        write_ros2(path)
    else:
        write(how, path)


if __name__ == "__main__":
    main()
