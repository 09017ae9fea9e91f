"""Splits the text of LCM type definitions into tokens."""

from __future__ import annotations

import re
from typing import List, NamedTuple

from .sentences import escaped

# Each alternative begins differently, and none fails after a long beginning, so that the search takes linear time.
_TOKENS = re.compile(
    r"""
      [ \t\r\n\f\v]+
    | //[^\n]*
    | (?P<comment>/\*)(?:[^*]+|\*(?!/))*(?P<closed>\*/)?
    | (?P<word>[A-Za-z0-9_.+-]+)
    | (?P<symbol>.)
    """,
    re.VERBOSE,
)


class Token(NamedTuple):
    """A word (a name, a type with its package, a number), a symbol, or the end."""

    text: str  # "": the end
    line: int
    is_word: bool = False

    def shown(self) -> str:
        """Returns it for a sentence that says what is expected instead."""
        if not self.text:
            return "the end of the text"
        if self.text == "/*":
            return "a comment that does not end"
        # The text was read as Latin-1
        return "`" + escaped(self.text[:64].encode("latin-1").decode("utf-8", "surrogateescape")) + "`"


def tokens(text: str) -> List[Token]:
    """Returns the tokens without comments. A comment that does not end is the token "/*"."""
    found = []
    line = 1
    for match in _TOKENS.finditer(text):
        if match.group("word"):
            found.append(Token(match.group(), line, True))
        elif match.group("symbol"):
            found.append(Token(match.group(), line))
        elif match.group("comment") and not match.group("closed"):
            found.append(Token("/*", line))
        else:
            line += match.group().count("\n")
    found.append(Token("", line))
    return found
