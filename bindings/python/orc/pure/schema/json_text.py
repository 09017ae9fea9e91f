"""Reads JSON (RFC 8259) from another program, with the place of each value. Depth and time are bounded."""

from __future__ import annotations

import re
from typing import List, NoReturn, Optional, Union

from .model import SchemaError

_MAX_LEVELS = 128  # of arrays and objects in each other
_SPACE = re.compile(rb"[ \t\r\n]*")
_NUMBER = re.compile(rb"-?(?:0|[1-9][0-9]*)(?![0-9.eE])")  # most of them; number() reads the others
_STRING = re.compile(rb'"([^"\\\x00-\x1f\x80-\xff]*)"')  # most of them; string() reads the others
_DIGITS = re.compile(rb"[0-9]+")
_PLAIN = re.compile(rb'[^"\\\x00-\x1f]*')
_HEX = re.compile(rb"[0-9a-fA-F]{4}")
_INTEGER = re.compile(rb"-?[0-9]{1,19}\Z")  # not longer: Python converts in quadratic time
_ESCAPES = {b'"': '"', b"\\": "\\", b"/": "/", b"b": "\b", b"f": "\f", b"n": "\n", b"r": "\r", b"t": "\t"}
_BLANKS = (b" ", b"\t", b"\r", b"\n")
_WORDS = {b"t": (b"true", "boolean"), b"f": (b"false", "boolean"), b"n": (b"null", "null")}


class Value:
    """A value of a document."""

    __slots__ = ("kind", "begin", "content")

    def __init__(self, kind: str, begin: int, content: Union[str, bytes, List[Value]]) -> None:
        self.kind = kind  # "null", "boolean", "number", "text", "array", "object"
        self.begin = begin  # the byte with which it begins
        self.content = content  # of an object: keys and values alternate

    @property
    def text(self) -> str:
        """Of a value of kind text, without quotes and escapes."""
        return self.content if isinstance(self.content, str) else ""

    @property
    def elements(self) -> List[Value]:
        """Of an array; of an object keys and values alternate."""
        return self.content if isinstance(self.content, list) else []

    @property
    def integer(self) -> Optional[int]:
        """The number, if it is an integer of 64 bits without fraction or exponent."""
        if not isinstance(self.content, bytes) or not _INTEGER.match(self.content):
            return None
        value = int(self.content)
        return value if -(1 << 63) <= value < 1 << 63 else None

    def member(self, key: str) -> Optional[Value]:
        """Returns the member's value; the last one, if several have the key."""
        found = None
        if self.kind == "object":
            for at in range(0, len(self.elements), 2):
                if self.elements[at].content == key:
                    found = self.elements[at + 1]
        return found


class _Parser:
    """Recursive descent; the depth is limited."""

    def __init__(self, data: bytes) -> None:
        self.data = data
        self.at = 0

    def fail(self, why: str) -> NoReturn:
        raise SchemaError(f"byte {self.at}: {why}")

    def peek(self) -> bytes:
        return self.data[self.at : self.at + 1]

    def take(self, byte: bytes) -> bool:
        if self.peek() != byte:
            return False
        self.at += 1
        return True

    def skip_space(self) -> None:
        if self.data[self.at : self.at + 1] in _BLANKS:
            found = _SPACE.match(self.data, self.at)
            self.at = found.end() if found else self.at

    def value(self, level: int) -> Value:
        first = self.peek()
        if first in (b"{", b"["):
            if level == _MAX_LEVELS:
                self.fail(f"values are nested more than {_MAX_LEVELS} levels deep")
            return self.object(level) if first == b"{" else self.array(level)
        if first == b'"':
            return self.string()
        if first in _WORDS:
            word, kind = _WORDS[first]
            if not self.data.startswith(word, self.at):
                self.fail("a value is expected")
            self.at += len(word)
            return Value(kind, self.at - len(word), b"")
        return self.number()

    def digits(self) -> None:
        found = _DIGITS.match(self.data, self.at)
        if found is None:
            self.fail("a digit is expected")
        self.at = found.end()

    def number(self) -> Value:
        begin = self.at
        simple = _NUMBER.match(self.data, begin)
        if simple:
            self.at = simple.end()
            return Value("number", begin, simple.group())
        if self.peek() != b"-" and not self.peek().isdigit():
            self.fail("a value is expected")
        self.take(b"-")
        if not self.take(b"0"):
            self.digits()
        if self.take(b"."):
            self.digits()
        if self.take(b"e") or self.take(b"E"):
            if not self.take(b"+"):
                self.take(b"-")
            self.digits()
        return Value("number", begin, self.data[begin : self.at])

    def string(self) -> Value:
        begin = self.at
        simple = _STRING.match(self.data, begin)
        if simple:
            self.at = simple.end()
            return Value("text", begin, simple.group(1).decode("ascii"))
        self.at += 1
        parts = []
        while True:
            plain = _PLAIN.match(self.data, self.at)
            chunk = plain.group() if plain else b""
            try:
                parts.append(chunk.decode("utf-8"))
            except UnicodeDecodeError as error:
                self.at += error.start
                self.fail("a text is not UTF-8")
            self.at += len(chunk)
            last = self.peek()
            if last == b'"':
                self.at += 1
                return Value("text", begin, "".join(parts))
            if last == b"":
                self.fail("a text does not end")
            if last != b"\\":
                self.fail("a control character in a text")
            parts.append(self.escape())

    def hexadecimal(self, at: int) -> Optional[int]:
        found = _HEX.match(self.data, at)
        return int(found.group(), 16) if found else None

    def escape(self) -> str:
        kind = self.data[self.at + 1 : self.at + 2]
        if kind in _ESCAPES:
            self.at += 2
            return _ESCAPES[kind]
        if kind != b"u":
            self.fail("an unknown escape")
        first = self.hexadecimal(self.at + 2)
        if first is None:
            self.fail("\\u needs four hexadecimal digits")
        if not 0xD800 <= first < 0xE000:
            self.at += 6
            return chr(first)
        second = self.hexadecimal(self.at + 8) if self.data.startswith(b"\\u", self.at + 6) else None
        if first >= 0xDC00 or second is None or not 0xDC00 <= second < 0xE000:
            self.fail("half of a surrogate pair")
        self.at += 12
        return chr(0x10000 + ((first - 0xD800) << 10) + (second - 0xDC00))

    def array(self, level: int) -> Value:
        made: List[Value] = []
        begin = self.at
        self.at += 1
        self.skip_space()
        if self.take(b"]"):
            return Value("array", begin, made)
        while True:
            made.append(self.value(level + 1))
            self.skip_space()
            if self.take(b"]"):
                return Value("array", begin, made)
            if not self.take(b","):
                self.fail("`,` or `]` is expected")
            self.skip_space()

    def object(self, level: int) -> Value:
        made: List[Value] = []
        begin = self.at
        self.at += 1
        self.skip_space()
        if self.take(b"}"):
            return Value("object", begin, made)
        while True:
            if self.peek() != b'"':
                self.fail("a name in quotes is expected")
            made.append(self.string())
            self.skip_space()
            if not self.take(b":"):
                self.fail("`:` is expected")
            self.skip_space()
            made.append(self.value(level + 1))
            self.skip_space()
            if self.take(b"}"):
                return Value("object", begin, made)
            if not self.take(b","):
                self.fail("`,` or `}` is expected")
            self.skip_space()


def parse(data: bytes) -> Value:
    """Returns the document's value. Raises SchemaError: "byte 17: …"."""
    parser = _Parser(data)
    parser.skip_space()
    root = parser.value(0)
    parser.skip_space()
    if parser.at < len(data):
        parser.fail("something follows the value")
    return root
