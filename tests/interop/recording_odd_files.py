"""Makes MCAP files as odd writers write them, damages some, and compares `orc log` with PyPI's reader.

usage: recording_odd_files.py ORC [SCRATCH COUNT SEED]

Prints each difference with the seed that makes its file again, and keeps that file in SCRATCH. Without
SCRATCH it makes 20 files, and 10,000 with ORC_TEST_LONG=1. A file that is valid
must be copied with every field of every record. Of a damaged one, `orc log` must not read fewer messages than PyPI's
reader does.
"""

from __future__ import annotations

import collections
import io
import json
import os
import random
import resource
import struct
import subprocess
import sys
import tempfile
import zlib
from pathlib import Path
from typing import Any, Callable, Iterator, NamedTuple

import lz4.frame
import zstandard
from mcap.reader import McapReader, NonSeekingReader
from mcap.records import Header
from mcap.stream_reader import StreamReader
from mcap.writer import CompressionType, IndexType, Writer

MAGIC = b"\x89MCAP0\r\n"
BASE = 1_700_000_000_000_000_000
TIMES = (0, 1, 999, 2**63 - 1, 2**63, 2**64 - 1)
MEMORY = 3 << 30
PATIENCE_S = 60


def text(value: str) -> bytes:
    data = value.encode()
    return struct.pack("<I", len(data)) + data


def text_map(values: dict[str, str]) -> bytes:
    data = b"".join(text(key) + text(value) for key, value in values.items())
    return struct.pack("<I", len(data)) + data


def crc(data: bytes) -> int:
    return zlib.crc32(data)


class OddWriter:
    """Writes one file, with what the format allows and few writers do."""

    def __init__(self, dice: random.Random) -> None:
        self.dice = dice
        self.out = MAGIC
        self.with_tails = self.maybe(0.2)
        self.with_strangers = self.maybe(0.3)
        self.statistics: dict[int, int] = collections.Counter()
        self.times: list[int] = []
        self.chunk_indexes: list[bytes] = []
        self.attachment_indexes: list[bytes] = []
        self.metadata_indexes: list[bytes] = []
        self.usual_times = self.maybe(0.8)
        self.in_group = False  # with nothing between its records

    def maybe(self, chance: float = 0.5) -> bool:
        return self.dice.random() < chance

    def record(self, code: int, content: bytes, fixed: bool = False) -> bytes:
        """`fixed`: with nothing behind its fields, which PyPI's reader does not skip everywhere."""
        if self.with_tails and not fixed and self.maybe():
            content += b"\0later"  # a field that a later version of the format has
        made = bytes([code]) + struct.pack("<Q", len(content)) + content
        if self.with_strangers and not self.in_group and self.maybe(0.2):
            made += bytes([self.dice.choice((0x42, 0x80, 0xFF))]) + struct.pack("<Q", 3) + b"???"
        return made

    def time(self, n: int) -> int:
        if self.usual_times or self.maybe():
            return BASE + n * 1_000_000 + self.dice.randrange(-3, 3) * 2_000_000
        return self.dice.choice(TIMES)

    def declare(self) -> None:
        self.in_group = True  # the summary has them again
        count = self.dice.randrange(1, 4)
        self.schemas = {}
        self.channels = {}
        for _ in range(self.dice.randrange(0, 3)):
            number = self.dice.randrange(1, 65536)
            kind = self.dice.choice(("jsonschema", "", "ros2msg"))
            data = b"" if kind == "" else b"{}" if kind == "jsonschema" else b"int32 x\n"
            self.schemas[number] = self.record(
                0x03, struct.pack("<H", number) + text(f"T{number}") + text(kind) + struct.pack("<I", len(data)) + data, fixed=True
            )
        for n in range(count):
            number = self.dice.randrange(0, 65536)
            schema = self.dice.choice([0, *self.schemas])
            topic = self.dice.choice((f"/t{n}", f"t{n}", "", "a b", "ünï", "same"))
            about = {"k": "v", "": ""} if self.maybe(0.3) else {}
            self.channels[number] = self.record(
                0x04, struct.pack("<HH", number, schema) + text(topic) + text(self.dice.choice(("json", "", "cdr"))) + text_map(about), fixed=True
            )

        self.in_group = False

    def messages(self, count: int, at: int) -> list[tuple[int, int, bytes]]:
        made = []
        for n in range(count):
            channel = self.dice.choice(list(self.channels))
            log_time = self.time(at + n)
            publish_time = self.time(at + n)
            data = self.dice.choice((b"", b"{}", b'{"i":1}', self.dice.randbytes(40), bytes(self.dice.randrange(3000))))
            head = struct.pack("<HIQQ", channel, self.dice.choice((0, n, at + n, 2**32 - 1)), log_time, publish_time)
            made.append((channel, log_time, self.record(0x05, head + data, fixed=True)))
            self.statistics[channel] += 1
            self.times.append(log_time)
        return made

    def declarations(self, schemas_first: bool = True) -> bytes:
        parts = (b"".join(self.schemas.values()), b"".join(self.channels.values()))
        return b"".join(parts if schemas_first else reversed(parts))

    def chunk(self, at: int, declared: bool, indexed: bool) -> None:
        records = self.declarations() if not declared or self.maybe(0.2) else b""
        places: dict[int, list[tuple[int, int]]] = {}
        times = []
        for channel, log_time, made in self.messages(self.dice.randrange(0, 8), at):
            places.setdefault(channel, []).append((log_time, len(records)))
            times.append(log_time)
            records += made
        first, last = (min(times), max(times)) if times else (0, 0)
        compression = self.dice.choice(("", "lz4", "zstd"))
        stored = {"": bytes, "lz4": lz4.frame.compress, "zstd": zstandard.compress}[compression](records)
        checksum = crc(records) if self.maybe(0.8) else 0
        content = struct.pack("<QQQI", first, last, len(records), checksum) + text(compression)
        made = self.record(0x06, content + struct.pack("<Q", len(stored)) + stored, fixed=True)
        length = 9 + len(content) + 8 + len(stored)
        offset = len(self.out)
        self.out += made
        index_places = {}
        begin = len(self.out)
        if indexed:
            for channel, entries in places.items():
                index_places[channel] = len(self.out)
                listed = b"".join(struct.pack("<QQ", *entry) for entry in entries)
                content = struct.pack("<HI", channel, len(listed)) + listed
                self.out += bytes([0x07]) + struct.pack("<Q", len(content)) + content
        index_length = len(self.out) - begin if indexed else 0
        where = b"".join(struct.pack("<HQ", *each) for each in index_places.items())
        self.chunk_indexes.append(
            struct.pack("<QQQQI", first, last, offset, length, len(where))
            + where
            + struct.pack("<Q", index_length)
            + text(compression)
            + struct.pack("<QQ", len(stored), len(records))
        )

    def extras(self) -> None:
        if self.maybe(0.3):
            name, kind, data = self.dice.choice(("a.txt", "", "ü")), "text/plain", self.dice.randbytes(20)
            log_time, create_time = self.time(0), self.time(1)
            content = struct.pack("<QQ", log_time, create_time) + text(name) + text(kind)
            content += struct.pack("<Q", len(data)) + data
            content += struct.pack("<I", crc(content) if self.maybe(0.8) else 0)
            place = struct.pack("<QQQQQ", len(self.out), 9 + len(content), log_time, create_time, len(data))
            self.attachment_indexes.append(place + text(name) + text(kind))
            self.out += self.record(0x09, content, fixed=True)
        if self.maybe(0.3):
            content = text(self.dice.choice(("m", "", "orc.drops"))) + text_map({"b": "2", "a": "1"})
            self.metadata_indexes.append(struct.pack("<QQ", len(self.out), 9 + len(content)) + content[: 4 + content[0]])
            self.out += self.record(0x0C, content, fixed=True)

    def write(self) -> bytes:
        self.declare()
        self.out += self.record(0x01, text(self.dice.choice(("", "ros2", "x"))) + text(self.dice.choice(("", "odd 1"))))
        chunked, indexed = self.maybe(0.7), self.maybe(0.6)
        declared = not chunked or self.maybe()
        if declared:
            self.out += self.declarations(schemas_first=self.maybe(0.8))
        for at in range(self.dice.randrange(0, 6)):
            self.extras()
            if chunked and self.maybe(0.9):
                self.chunk(at * 10, declared, indexed)
                declared = True
            elif declared:
                self.out += b"".join(made for _, _, made in self.messages(self.dice.randrange(5), at * 10))
        self.extras()
        if self.maybe(0.9):
            self.out += self.record(0x0F, struct.pack("<I", 0), fixed=True)
        self.end()
        return self.out

    def end(self) -> None:
        start = len(self.out)
        self.in_group = True
        groups = []
        if self.maybe(0.8):
            if self.maybe(0.8):
                groups += [(0x03, list(self.schemas.values())), (0x04, list(self.channels.values()))]
            if self.maybe(0.7):
                counts = b"".join(struct.pack("<HQ", *each) for each in self.statistics.items())
                times = (min(self.times), max(self.times)) if self.times else (0, 0)
                sizes = (len(self.attachment_indexes), len(self.metadata_indexes), len(self.chunk_indexes))
                about = struct.pack("<QHIIII", len(self.times), len(self.schemas), len(self.channels), *sizes)
                about += struct.pack("<QQI", *times, len(counts)) + counts
                groups.append((0x0B, [self.record(0x0B, about)]))
            kinds = ((0x08, self.chunk_indexes), (0x0A, self.attachment_indexes), (0x0D, self.metadata_indexes))
            groups += [(code, [self.record(code, each) for each in all]) for code, all in kinds if self.maybe(0.8)]
            self.dice.shuffle(groups)
        offsets = b""
        for code, records in groups:
            made = b"".join(records)
            if made:
                offsets += self.record(0x0E, struct.pack("<BQQ", code, len(self.out), len(made)), fixed=True)
            self.out += made
        is_there = len(self.out) > start
        offset_start = 0
        if offsets and self.maybe(0.8):
            offset_start = len(self.out)
            self.out += offsets
        footer = bytes([0x02]) + struct.pack("<QQQ", 20, start if is_there else 0, offset_start)
        checksum = crc(self.out[start:] + footer) if is_there and self.maybe(0.7) else 0
        self.out += footer + struct.pack("<I", checksum) + MAGIC


def usual_file(dice: random.Random) -> bytes:
    """By PyPI's writer, with any of its options."""
    to = io.BytesIO()
    kinds = IndexType.ALL
    for kind in (IndexType.MESSAGE, IndexType.CHUNK, IndexType.ATTACHMENT, IndexType.METADATA):
        if dice.random() < 0.2:
            kinds &= ~kind
    writer = Writer(
        to,
        chunk_size=dice.choice((1, 200, 100_000)),
        compression=dice.choice(list(CompressionType)),
        index_types=kinds,
        repeat_channels=dice.random() < 0.8,
        repeat_schemas=dice.random() < 0.8,
        use_chunking=dice.random() < 0.8,
        use_statistics=dice.random() < 0.8,
        use_summary_offsets=dice.random() < 0.8,
        enable_crcs=dice.random() < 0.8,
        enable_data_crcs=dice.random() < 0.3,
    )
    writer.start(profile=dice.choice(("", "ros2")), library="usual")
    schema = writer.register_schema("T", "jsonschema", b"{}")
    channels = [writer.register_channel(name, "json", dice.choice((0, schema))) for name in ("a", "/a", "b")]
    for n in range(dice.randrange(40)):
        if dice.random() < 0.05:
            writer.add_attachment(dice.choice((0, BASE + n)), dice.choice((0, BASE)), f"f{n}", "text/plain", b"x" * n)
        if dice.random() < 0.05:
            writer.add_metadata(f"m{n}", {"n": str(n)})
        at = BASE + (n + dice.randrange(-2, 2)) * 1000
        writer.add_message(dice.choice(channels), at, b'{"n":%d}' % n, dice.choice((0, at - 5)), n)
    writer.finish()
    return to.getvalue()


def damaged(dice: random.Random, data: bytes) -> bytes:
    made = bytearray(data)
    kind = dice.randrange(4)
    if kind == 0:
        return data[: dice.randrange(len(data) + 1)]
    for _ in range(dice.choice((1, 1, 1, 5))):
        at = dice.randrange(8, len(made))
        if kind == 1:
            made[at] ^= 1 << dice.randrange(8)
        elif kind == 2:
            made[at : at + 4] = dice.choice((b"\0\0\0\0", b"\xff\xff\xff\xff", b"\x01\0\0\0"))
        else:
            count = dice.randrange(1, 600)
            made[at : at + count] = dice.choice((b"", bytes(count), bytes(made[at : at + count]) * 2))
            if len(made) < 9:
                break
    return bytes(made)


class Contents(NamedTuple):
    messages: collections.Counter[Any]
    attachments: collections.Counter[Any]
    metadata: collections.Counter[Any]
    profile: tuple[str, str]
    is_whole: bool


def key_of(schema: Any, channel: Any, message: Any) -> tuple[Any, ...]:
    kind = (schema.name, schema.encoding, schema.data) if schema else ("", "", b"")
    about = tuple(sorted(channel.metadata.items()))
    times = (message.sequence, message.log_time, message.publish_time)
    return (channel.topic, channel.message_encoding, about, kind, *times, message.data)


def all_of(make: Callable[[], Iterator[Any]]) -> tuple[list[Any], bool]:
    """As much as comes before an error, and whether none came."""
    found = []
    try:
        for each in make():
            found.append(each)
    except Exception:  # noqa: BLE001 - whatever the reader raises, it has ended
        return found, False
    return found, True


def contents_of(data: bytes) -> Contents:
    reader: McapReader = NonSeekingReader(io.BytesIO(data), validate_crcs=True)
    messages, is_whole = all_of(lambda: reader.iter_messages(log_time_order=False))
    records, _ = all_of(lambda: StreamReader(io.BytesIO(data), validate_crcs=True).records)
    heads = [(each.profile, each.library) for each in records if isinstance(each, Header)]
    reader = NonSeekingReader(io.BytesIO(data))
    attachments, _ = all_of(reader.iter_attachments)
    reader = NonSeekingReader(io.BytesIO(data))
    metadata, _ = all_of(reader.iter_metadata)
    return Contents(
        collections.Counter(key_of(*each) for each in messages),
        collections.Counter((a.name, a.media_type, a.log_time, a.create_time, a.data) for a in attachments),
        collections.Counter((m.name, tuple(sorted(m.metadata.items()))) for m in metadata),
        heads[0] if heads else ("", ""),
        is_whole,
    )


class Run(NamedTuple):
    code: int
    out: str
    err: str


class Trial:
    def __init__(self, orc: str, scratch: Path, seed: int) -> None:
        self.orc, self.scratch, self.seed = orc, scratch, seed
        self.problems: list[str] = []
        self.remarks: list[str] = []

    def note(self, problem: str, remark: str = "") -> None:
        """`remark`: what the tool says about it, with the byte."""
        (self.remarks if " byte" in remark else self.problems).append(problem)

    def run(self, *words: str) -> Run:
        def limit() -> None:
            resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))

        try:
            done = subprocess.run(
                [self.orc, "log", *words], capture_output=True, timeout=PATIENCE_S, preexec_fn=limit, check=False
            )
        except subprocess.TimeoutExpired:
            self.note(f"{words[0]} hangs")
            return Run(1, "", "hangs")
        err = done.stderr.decode(errors="replace")
        if done.returncode not in (0, 1) and not (done.returncode == 2 and "nothing in that time" in err):
            self.note(f"{words[0]} ends with {done.returncode}: {err[-300:]}")
        return Run(done.returncode, done.stdout.decode(errors="replace"), err)

    def copied(self, verb: str, path: Path, expected: Contents, is_valid: bool, *more: str) -> None:
        new = path.with_suffix(f".{verb}.mcap")
        new.unlink(missing_ok=True)
        done = self.run(verb, str(path), "-o", str(new), *more)
        if not new.exists():
            if expected.messages or (is_valid and verb == "recover"):
                self.note(f"{verb} writes nothing: {done.err[-300:]}", "" if is_valid else done.err)
            return
        found = contents_of(new.read_bytes())
        if lost := expected.messages - found.messages:
            self.note(f"{verb} loses {sum(lost.values())} of {sum(expected.messages.values())}: {next(iter(lost))} {done.err[-300:]}", "" if is_valid else done.err)
        if is_valid:
            if done.code != 0 or done.err:
                self.note(f"{verb} of a valid file: {done.code} {done.err[-300:]}")
            for name in ("messages", "attachments", "metadata"):
                is_, wanted = getattr(found, name), getattr(expected, name)
                if is_ != wanted:
                    self.note(f"{verb} changes {name}: {list(wanted - is_)[:2]} to {list(is_ - wanted)[:2]}")
            if found.profile[0] != expected.profile[0]:
                self.note(f"{verb} changes the profile {expected.profile} to {found.profile}")
        if verb == "recover" and (checked := self.run("check", str(new))).code != 0:
            self.note(f"the recovered file is broken: {checked.out[:300]}{checked.err[:300]}")
        new.unlink()

    def judge(self, path: Path, data: bytes, is_valid: bool) -> None:
        path.write_bytes(data)
        expected = contents_of(data)
        is_valid = is_valid and expected.is_whole  # of a channel before its schema, that reader refuses messages
        count = sum(expected.messages.values())
        info = self.run("info", str(path), "--json")
        checked = self.run("check", str(path))
        echoed = self.run("echo", str(path), "--json")
        if is_valid and (checked.code != 0 or "no problem" not in checked.out):
            self.note(f"check of a valid file: {checked.out[:300]}{checked.err[:300]}")
        if is_valid:
            about = json.loads(info.out)
            if info.code != 0 or about["samples"] != count:
                self.note(f"info of a valid file: {info.code}, {about['samples']} of {count} {info.err[:300]}")
        shown = collections.Counter()
        for line in echoed.out.splitlines():
            one = json.loads(line)
            shown[(one["topic"], one["sequence"], one["received_ns"], one["stamp_ns"], one["size"])] += 1
        wanted = collections.Counter({})
        for (topic, _, _, _, sequence, log_time, publish_time, payload), times in expected.messages.items():
            wanted[(topic, sequence, log_time, publish_time, len(payload))] += times
        if lost := wanted - shown:
            self.note(f"echo loses {sum(lost.values())} of {count}: {next(iter(lost))} {echoed.err[-300:]}", "" if is_valid else echoed.err)
        self.copied("recover", path, expected, is_valid)
        self.copied("convert", path, expected, is_valid)
        if is_valid and expected.messages:
            self.copied("cut", path, expected, is_valid)
            self.copied("merge", path, expected, is_valid)
        if not self.problems:
            path.unlink()


def run(orc: str, scratch: Path, count: int, first: int) -> int:
    failed = remarked = 0
    for seed in range(first, first + count):
        dice = random.Random(seed)
        data = usual_file(dice) if dice.random() < 0.3 else OddWriter(dice).write()
        is_valid = dice.random() < 0.4
        trial = Trial(orc, scratch, seed)
        trial.judge(scratch / f"{seed}.mcap", data if is_valid else damaged(dice, data), is_valid)
        failed += bool(trial.problems)
        remarked += bool(trial.remarks)
        for problem in trial.problems:
            print(f"seed {seed}, {'valid' if is_valid else 'damaged'}: {problem}", flush=True)
        if os.environ.get("ORC_ODD_FILES_VERBOSE") is not None:
            for remark in trial.remarks:
                print(f"seed {seed}, with a remark: {remark}", flush=True)
    print(f"{count} files, {failed} with differences, {remarked} with fewer messages and a remark")
    return 1 if failed else 0


def main() -> int:
    if len(sys.argv) == 5:
        return run(sys.argv[1], Path(sys.argv[2]), int(sys.argv[3]), int(sys.argv[4]))
    with tempfile.TemporaryDirectory() as scratch:
        return run(sys.argv[1], Path(scratch), 10_000 if os.environ.get("ORC_TEST_LONG") else 20, 1)


if __name__ == "__main__":
    sys.exit(main())
