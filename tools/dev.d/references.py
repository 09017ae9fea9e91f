"""references.py <FILES: checks what the files named on stdin, one a line, say about each other.

Every relative Markdown link leads to a file of the tree and to a heading in it. Every name ending in .md belongs to a
file, and so does every path of code from the top. Every `contract.md N` is a numbered promise of
liborc/doc/contract.md. Prints what is wrong; exit code 1 then.
"""

from __future__ import annotations

import functools
import os
import re
import sys

CONTRACT = "liborc/doc/contract.md"
LINK = re.compile(r"\]\(\s*<?([^()\s>]+)>?(?:\s+\"[^\"]*\")?\s*\)")
HEADING = re.compile(r"^#{1,6} +(.*?)(?: +#+)?$", re.MULTILINE)
FENCED = re.compile(r"^( *)(```|~~~).*?^\1\2[`~]*$", re.MULTILINE | re.DOTALL)
INLINE_CODE = re.compile(r"(`+)(?!`).*?(?<!`)\1(?!`)", re.DOTALL)
PAGE = re.compile(r"(?<![\w/.*-])(?:\.{1,2}/)*([\w-][\w./-]*\.md)\b")
CODE = re.compile(
    r"(?<![\w/.$}-])((?:liborc|broker|tools|bindings|benchmarks|tests|schemas)/[\w./-]+\.(?:h|cpp|py|sh|cmake))\b"
)
# The numbers may stand in the next line of a comment.
PROMISES = re.compile(r"\bcontract\.md,?\s+(?:(?://|#|\*)\s*)?(\d+(?:(?:, | and | or )\d+)*)\b")


def text_of(path: str) -> str:
    with open(path, "rb") as file:
        content = file.read()
    return "" if b"\0" in content else content.decode(errors="replace")


def blanks(code: re.Match[str]) -> str:
    return re.sub(r"[^\n]", " ", code[0])


@functools.lru_cache(maxsize=None)
def prose_of(path: str) -> str:
    """With blanks for the code in fences."""
    return FENCED.sub(blanks, text_of(path))


@functools.lru_cache(maxsize=None)
def anchors_of(path: str) -> frozenset[str]:
    """As GitHub makes them from headings."""
    seen: dict[str, int] = {}
    found = set()
    for heading in HEADING.findall(prose_of(path)):
        words = re.sub(r"\[([^\]]*)\]\([^)]*\)", r"\1", heading).lower()
        slug = re.sub(r"[^\w\- ]", "", words).replace(" ", "-")
        count = seen[slug] = seen.get(slug, -1) + 1
        found.add(f"{slug}-{count}" if count else slug)
    return frozenset(found)


def wrong_links(path: str) -> list[tuple[int, str]]:
    wrong = []
    for link in LINK.finditer(INLINE_CODE.sub(blanks, prose_of(path))):
        if re.match(r"[a-z][a-z0-9+.-]*:", link[1], re.IGNORECASE):
            continue
        name, _, anchor = link[1].partition("#")
        target = os.path.normpath(os.path.join(os.path.dirname(path), name)) if name else path
        if target.startswith("..") or not os.path.exists(target):
            wrong.append((link.start(), f"no such file: {link[1]}"))
        elif anchor and anchor not in anchors_of(target):
            wrong.append((link.start(), f"no such heading: {link[1]}"))
    return wrong


def wrong_names(path: str, pages: set[str]) -> list[tuple[int, str]]:
    """`pages`: each path, and what is left of it without the first folders."""
    text = LINK.sub(blanks, prose_of(path)) if path.endswith(".md") else text_of(path)
    return [(name.start(), f"no such page: {name[1]}") for name in PAGE.finditer(text) if name[1] not in pages]


def wrong_paths(path: str) -> list[tuple[int, str]]:
    """Not in the tests of these scripts, which make trees of their own."""
    if path.startswith("tests/dev/"):
        return []
    return [(name.start(), f"no such file: {name[1]}") for name in CODE.finditer(text_of(path)) if not os.path.exists(name[1])]


def wrong_promises(path: str, promises: set[str]) -> list[tuple[int, str]]:
    wrong = []
    for cited in PROMISES.finditer(text_of(path)):
        for number in re.findall(r"\d+", cited[1]):
            if number not in promises:
                wrong.append((cited.start(), f"no promise {number} in {CONTRACT}"))
    return wrong


def main() -> int:
    files = sys.stdin.read().splitlines()
    pages = {path.split("/", n)[-1] for path in files if path.endswith(".md") for n in range(path.count("/") + 1)}
    promises = set(re.findall(r"^### (\d+)\. ", text_of(CONTRACT), re.MULTILINE)) if CONTRACT in files else set()
    failed = False
    for path in files:
        wrong = wrong_names(path, pages) + wrong_paths(path) + wrong_promises(path, promises)
        if path.endswith(".md"):
            wrong += wrong_links(path)
        for at, what in sorted(wrong):
            print(f"{path}:{text_of(path).count(chr(10), 0, at) + 1}: {what}", file=sys.stderr)
            failed = True
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
