"""usage: comments.py HEADER: writes a header of ours with its comments as Doxygen's. Doxygen's input filter.

Our headers use plain `//` comments. Where one stands says what it is about:
- the first comment of a file is about the file;
- a comment before a declaration is about it, and about the overloads that follow it without a blank line (a class's
  constructors, destructor and assignments count as overloads of each other);
- a comment behind a declaration is about that one;
- a comment that ends with a colon is the heading of what follows, and about no declaration.

Leaves out what is private, which stands last in a class. Writes one line for each line, so that Doxygen's messages
name the right one.
"""

import re
import sys

BEHIND = re.compile(r"(?P<code>.*[\w;,)}].*?)  // (?!NOLINT|namespace)(?P<text>.*)")
SCOPE = re.compile(r"\s*(template\b.*|)(class|struct|enum|namespace|union)\b")
SPECIAL = re.compile(r"\s*(explicit |constexpr )*~?\w+\(|.*\boperator=\(")
NAME = re.compile(r".*?(operator\W*\w*|\w+)\(")


def name_of(function):
    if SPECIAL.match(function):
        return "special"
    name = NAME.match(function)
    return name and name[1]


def documented(lines):
    described = None  # margin and name of the function that the last comment is about
    heading = before_is_comment = private = False
    for at, line in enumerate(lines):
        private = line.strip() == "private:" or (private and not line.startswith("}"))
        if private:
            yield ""
            continue
        ends = at + 1 == len(lines) or not lines[at + 1].strip().startswith("//")
        if line.strip().startswith("//"):
            if not before_is_comment:
                first_of_file = at == 0
                last = next((to for to in range(at, len(lines)) if not lines[to].strip().startswith("//")), len(lines))
                heading = lines[last - 1].endswith(":")
            before_is_comment, described = True, None
            line = line if heading else line.replace("//", "///", 1)
            yield line + r" \file" if first_of_file and ends else line
            continue
        behind = BEHIND.fullmatch(line)
        if behind:
            line = f"{behind['code']}  ///< {behind['text']}"
        margin = len(line) - len(line.lstrip())
        function = (margin, name_of(line)) if "(" in line and not SCOPE.match(line) else None
        if before_is_comment and not heading and function:
            described = function
        elif not line.strip() or (described and margin < described[0]):
            described = None
        elif described and function == described and not behind:
            line = f"{line[:margin]}/** As above. */ {line[margin:]}"
        before_is_comment = False
        yield line.replace("[[nodiscard]] ", "")


with open(sys.argv[1], encoding="utf-8") as header:
    for each in documented(header.read().splitlines()):
        print(each)
