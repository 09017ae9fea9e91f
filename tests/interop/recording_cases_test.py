"""Recordings as other programs write them, each with what `orc` must say or make of it.

usage: recording_cases_test.py ORC ORC_BROKER

Needs PyPI's mcap. Exits with 77 without it.
"""

from __future__ import annotations

import contextlib
import gzip
import json
import os
import resource
import struct
import subprocess
import sys
import tempfile
import unittest.mock
from pathlib import Path
from typing import Any, Callable, Iterator

try:
    import zstandard
    from mcap.reader import make_reader
    from mcap.writer import CompressionType, IndexType, Writer
except ImportError as missing:
    print(f"skipped: {missing}")
    sys.exit(77)

MAGIC = b"\x89MCAP0\r\n"
AT = 1_600_000_000_000_000_000


def text(value: bytes) -> bytes:
    return struct.pack("<I", len(value)) + value


def record(code: int, content: bytes) -> bytes:
    return bytes([code]) + struct.pack("<Q", len(content)) + content


def bare_file(*records: bytes) -> bytes:
    """Without an index."""
    return MAGIC + record(1, text(b"") + text(b"")) + b"".join(records) + record(15, bytes(4)) + record(2, bytes(20)) + MAGIC


def event(at_us: int, name: bytes, data: bytes) -> bytes:
    return struct.pack(">IqqII", 0xEDA1DA01, 0, at_us, len(name), len(data)) + name + data


class Case:
    def __init__(self, orc: str, broker: str, scratch: Path) -> None:
        self.orc, self.broker_program, self.scratch = orc, broker, scratch

    @contextlib.contextmanager
    def broker(self) -> Iterator[None]:
        endpoint = f"ipc://{self.scratch}/broker"
        with unittest.mock.patch.dict(os.environ, {"ORC_BROKER": endpoint}):
            running = subprocess.Popen([self.broker_program, "--listen", endpoint], stderr=subprocess.DEVNULL)
            try:
                yield
            finally:
                running.terminate()
                running.wait()

    def path(self, name: str) -> Path:
        return self.scratch / name

    def put(self, name: str, data: bytes) -> str:
        self.path(name).write_bytes(data)
        return name

    def make(self, name: str, fill: Callable[[Writer], None], **options: Any) -> str:
        with open(self.path(name), "wb") as file:
            writer = Writer(file, **{"compression": CompressionType.NONE, **options})
            writer.start(profile="rover", library="someone")
            fill(writer)
            writer.finish()
        return name

    def run(self, *words: str, code: int = 0, **more: Any) -> subprocess.CompletedProcess[str]:
        done = subprocess.run([self.orc, *words], cwd=self.scratch, capture_output=True, text=True, timeout=100, **more)
        assert done.returncode == code, (words, done.returncode, done.stdout, done.stderr)
        return done


def fill_json(writer: Writer, sequences: tuple[int, ...] = (0, 1, 2), schema: bool = True) -> None:
    kind = writer.register_schema("J", "jsonschema", b"{}") if schema else 0
    channel = writer.register_channel("arm", "json", kind)
    for number, sequence in enumerate(sequences):
        writer.add_message(channel, AT + number * 1000, b'{"n":%d}' % number, AT, sequence)


def an_index_may_be_left_out(case: Case) -> None:
    for kind in (IndexType.MESSAGE, IndexType.CHUNK, IndexType.ALL):
        name = case.make("lean.mcap", fill_json, index_types=IndexType.ALL & ~kind)
        assert "no problem in 3 samples" in case.run("log", "check", name).stdout
    name = case.make("lean.mcap", fill_json, repeat_channels=False, repeat_schemas=False)
    assert "no problem in 3 samples" in case.run("log", "check", name).stdout


def messages_beside_chunks_are_read(case: Case) -> None:
    name = case.make("mixed.mcap", fill_json)
    data = case.path(name).read_bytes()
    chunk = next(at for at in range(len(data)) if data[at] == 6 and data[at + 9 : at + 17] == struct.pack("<Q", AT))
    declared = record(3, struct.pack("<H", 1) + text(b"J") + text(b"jsonschema") + text(b"{}"))
    declared += record(4, struct.pack("<HH", 1, 1) + text(b"arm") + text(b"json") + bytes(4))
    alone = declared + record(5, struct.pack("<HIQQ", 1, 9, AT - 5, AT) + b"{}")
    length = len(alone)
    # The index has the places of before; its offsets are moved.
    with open(case.path(name), "rb") as file:
        about = make_reader(file).get_summary()
    assert about is not None
    moved = data[:chunk] + alone + data[chunk:]
    for index in about.chunk_indexes:
        old = struct.pack("<QQ", index.chunk_start_offset, index.chunk_length)
        moved = moved.replace(old, struct.pack("<QQ", index.chunk_start_offset + length, index.chunk_length))
    (start,) = struct.unpack("<Q", data[-28:-20])
    moved = moved[:-28] + struct.pack("<QQI", start + length, 0, 0) + MAGIC
    # The statistics count all four.
    statistics = moved.index(bytes([11]) + struct.pack("<Q", 56), start + length)
    moved = moved[: statistics + 9] + struct.pack("<Q", 4) + moved[statistics + 17 :]
    moved = moved.replace(struct.pack("<IHQ", 10, 1, 3), struct.pack("<IHQ", 10, 1, 4))
    case.put(name, moved)
    assert len(case.run("log", "echo", name, "--json").stdout.splitlines()) == 4


def late_samples_are_not_lost(case: Case) -> None:
    for sequences, lost in (((0, 2, 1, 3, 5, 4, 6), 0), ((1, 2, 5, 3, 6), 1), ((7, 8, 1, 2), 0), ((0, 10, 5, 4, 6, 1, 9, 11), 4),
                            ((2**32 - 2, 1, 2**32 - 1, 0, 2), 0)):
        name = case.make("order.mcap", lambda writer, sequences=sequences: fill_json(writer, sequences))
        topic = json.loads(case.run("log", "info", name, "--json").stdout)["topics"][0]
        assert topic["lost"] == lost, (sequences, topic)


def json_needs_no_schema(case: Case) -> None:
    name = case.make("json.mcap", lambda writer: fill_json(writer, schema=False))
    values = [json.loads(line)["value"] for line in case.run("log", "echo", name, "--json").stdout.splitlines()]
    assert values == [{"n": 0}, {"n": 1}, {"n": 2}], values
    table = case.run("log", "convert", name, "--to", "csv", "-o", "-").stdout.splitlines()
    assert table[0].endswith(",n") and table[3].endswith(",2"), table


def copies_are_utf8(case: Case) -> None:
    channel = record(4, struct.pack("<HH", 1, 0) + text(b"arm\xfe") + text(b"") + text(text(b"k\xff") + text(b"v")))
    message = record(5, struct.pack("<HIQQ", 1, 1, AT, AT) + b"x")
    case.put("odd.mcap", bare_file(channel, message))
    case.put("odd.log", event(5, b"arm\xfe", b"x"))
    for verb, name in (("recover", "odd.mcap"), ("convert", "odd.mcap"), ("recover", "odd.log"), ("convert", "odd.log")):
        done = case.run("log", verb, name, "-o", "new.mcap", "--force")
        assert "is not UTF-8" in done.stderr, done
        with open(case.path("new.mcap"), "rb") as file:
            ((_, made, _),) = make_reader(file).iter_messages()
        assert made.topic == "arm\\xfe", made


def what_is_not_there_is_an_error(case: Case) -> None:
    name = case.make("run.mcap", fill_json)
    for words, code in ((("--topic", "leg"), 3), (("--start", "100"), 2), (("--end", "1999-01-01"), 2)):
        for verb in (("echo",), ("cut", "-o", "new.mcap"), ("convert", "-o", "new.mcap")):
            case.run("log", verb[0], name, *verb[1:], *words, code=code if words[1] != "1999-01-01" else 2)
        if words[0] == "--topic":
            case.run("play", name, *words, "--linger", "0", code=code)


def lcm_logs_are_found_behind_other_bytes(case: Case) -> None:
    name = case.put("run.log", b"\xed\xa1" + bytes(700) + event(5, b"arm", b"1") + event(6, b"arm", b"22"))
    done = case.run("log", "recover", name, "-o", "new.log")
    assert "702 bytes from byte 0 on" in done.stderr, done.stderr
    assert json.loads(case.run("log", "info", "new.log", "--json").stdout)["samples"] == 2
    assert "neither an MCAP file nor an LCM log" in case.run("log", "info", case.put("a", bytes(99)), code=1).stderr


def other_files_are_named(case: Case) -> None:
    whole = case.path(case.make("run.mcap", fill_json)).read_bytes()
    case.path("folder").mkdir()
    for name, data, what in (
        ("a.mcap.zst", zstandard.compress(whole), "compressed with zstd"),
        ("a.mcap.gz", gzip.compress(whole), "compressed with gzip"),
        ("a.mcap.lz4", b"\x04\x22\x4d\x18" + bytes(20), "compressed with lz4"),
        ("a.db3", b"SQLite format 3\0" + bytes(99), "SQLite database"),
        ("a.bag", b"#ROSBAG V2.0\n" + bytes(99), "bag of ROS 1"),
        ("two.mcap", whole + whole, "another MCAP file"),
        ("folder", None, "is a directory"),
    ):
        if data is not None:
            case.put(name, data)
        done = case.run("log", "info", name, code=1)
        assert what in done.stderr, (name, done.stderr)


def copies_keep_each_field(case: Case) -> None:
    times = (0, 1, 2**63 - 1, 2**63, 2**64 - 1)

    def fill(writer: Writer) -> None:
        channel = writer.register_channel("arm", "json", 0, {"maker": "x"})
        writer.register_channel("silent", "cdr", writer.register_schema("S", "ros2msg", b"int32 x"))
        for number, time in enumerate(times):
            writer.add_message(channel, time, b"{}", times[-1 - number], number)
            writer.add_attachment(times[-1 - number], time, f"f{number}", "text/plain", b"data")
        writer.add_metadata("site", {"room": "lab"})

    def contents(name: str) -> Any:
        with open(case.path(name), "rb") as file:
            reader = make_reader(file)
            messages = [(c.topic, c.metadata, m.sequence, m.log_time, m.publish_time) for _, c, m in reader.iter_messages()]
            files = [(a.name, a.log_time, a.create_time, a.data) for a in reader.iter_attachments()]
            notes = [(m.name, m.metadata) for m in reader.iter_metadata()]
            about = reader.get_summary()
            assert about is not None and about.statistics is not None
            span = (about.statistics.message_start_time, about.statistics.message_end_time)
            topics = sorted(channel.topic for channel in about.channels.values())
            return sorted(messages, key=str), files, notes, span, topics, reader.get_header().profile

    name = case.make("run.mcap", fill)
    for verb in ("recover", "convert", "cut", "merge"):
        done = case.run("log", verb, name, "-o", "new.mcap", "--force")
        assert done.stderr == "" and contents("new.mcap") == contents(name), (verb, contents("new.mcap"), contents(name))
    shown = [json.loads(line)["received_ns"] for line in case.run("log", "echo", name, "--json").stdout.splitlines()]
    assert sorted(shown) == sorted(times), shown


def a_small_file_takes_little_memory(case: Case) -> None:
    zeros = record(0x42, bytes(200 << 20))
    packed = zstandard.compress(zeros)
    head = struct.pack("<QQQI", AT, AT, len(zeros), 0) + text(b"zstd") + struct.pack("<Q", len(packed))
    name = case.put("bomb.mcap", bare_file(*[record(6, head + packed)] * 3))

    def limit() -> None:
        resource.setrlimit(resource.RLIMIT_AS, (600 << 20, 600 << 20))

    done = case.run("log", "info", name, code=1, preexec_fn=limit)
    assert "much larger than what it is compressed to" in done.stderr, done.stderr


def a_chunk_with_a_wrong_length_is_read(case: Case) -> None:
    name = case.make("run.mcap", fill_json, index_types=IndexType.NONE, use_statistics=False)
    data = case.path(name).read_bytes()
    chunk = next(at for at in range(len(data)) if data[at] == 6 and data[at + 9 : at + 17] == struct.pack("<Q", AT))
    case.put(name, data[: chunk + 1] + b"\x0a" + data[chunk + 2 :])
    assert json.loads(case.run("log", "info", name, "--json").stdout)["samples"] == 3
    assert "of another length than its content" in case.run("log", "check", name, code=1).stdout


def channels_may_come_before_their_schema(case: Case) -> None:
    channel = record(4, struct.pack("<HH", 1, 7) + text(b"arm") + text(b"json") + bytes(4))
    schema = record(3, struct.pack("<H", 7) + text(b"Late") + text(b"jsonschema") + text(b"{}"))
    name = case.put("late.mcap", bare_file(channel, schema, record(5, struct.pack("<HIQQ", 1, 1, AT, AT) + b"{}")))
    assert json.loads(case.run("log", "info", name, "--json").stdout)["topics"][0]["type"] == "Late"
    assert "has schema 7, which is not there" in case.run("log", "check", case.put("a", bare_file(channel)), code=1).stdout


def topics_of_one_name_are_not_mixed(case: Case) -> None:
    def fill(writer: Writer) -> None:
        for topic in ("/arm", "arm"):
            writer.add_message(writer.register_channel(topic, "json", 0), AT, b"{}", AT, 1)

    name = case.make("two.mcap", fill)
    with case.broker():
        done = case.run("play", name, "--linger", "0", "--json")
    assert "leaves out channel 'arm': '/arm' is published as 'arm'" in done.stderr, done.stderr
    assert json.loads(done.stdout)["topics"] == 1, done.stdout


def default_names_never_clash(case: Case) -> None:
    with case.broker():
        recorders = [subprocess.Popen([case.orc, "record", "--duration", "0.2", "--force"], cwd=case.scratch) for _ in range(4)]
        assert [each.wait(100) for each in recorders] == [0, 0, 0, 0]
    assert len(list(case.scratch.glob("orc_*.mcap"))) == len(recorders)


CASES = [
    an_index_may_be_left_out,
    messages_beside_chunks_are_read,
    late_samples_are_not_lost,
    json_needs_no_schema,
    copies_are_utf8,
    what_is_not_there_is_an_error,
    lcm_logs_are_found_behind_other_bytes,
    other_files_are_named,
    copies_keep_each_field,
    a_small_file_takes_little_memory,
    a_chunk_with_a_wrong_length_is_read,
    channels_may_come_before_their_schema,
    topics_of_one_name_are_not_mixed,
    default_names_never_clash,
]


def main() -> int:
    failed = 0
    for each in CASES:
        with tempfile.TemporaryDirectory() as scratch:
            try:
                each(Case(sys.argv[1], sys.argv[2], Path(scratch)))
            except Exception as problem:  # noqa: BLE001 - the next case comes all the same
                print(f"{each.__name__}: {problem!r}")
                failed += 1
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
