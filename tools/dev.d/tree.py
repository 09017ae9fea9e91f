"""Checks what CONTRIBUTING.md says about the directories against the tree, for tools/dev lint.

usage: tree.py CONTRIBUTING.md <LIST OF THE TREE'S FILES

In the table whose first column is "folder" each row names a directory that exists, and each directory at the top has a
row, or one inside it has; hidden ones need none. Where rows name directories inside another one, each directory in that
one has a row. The section "Tests" names every directory of tests/. Other paths in backticks that begin with a directory
at the top, or in a row with one in the row's folder, exist.
"""

import re
import sys
from pathlib import PurePosixPath

QUOTED = re.compile(r"`([^`]+)`")
PATH = re.compile(r"[\w.-]+(/[\w.-]+)*/?")


def rows(text):
    """The folder of each row, and the cell behind it."""
    table = re.search(r"^\| folder \|.*\n\|[-| ]+\|\n((\|.*\n)+)", text, re.MULTILINE)
    for line in table[1].splitlines() if table else ():
        first, second = line.strip("|").split("|", 1)
        for folder in QUOTED.findall(first):
            yield folder.rstrip("/"), second


def findings(text, files):
    directories = {str(parent) for file in files for parent in PurePosixPath(file).parents} - {"."}
    there = directories | set(files)
    folders = dict(rows(text))
    if not folders:
        yield "there is no table whose first column is `folder`"
        return
    for folder in folders:
        if folder not in directories:
            yield f"the table has `{folder}/`, which is no directory"
    described = {str(PurePosixPath(folder).parent) for folder in folders} | {"."}
    for each in sorted(directories):
        if str(PurePosixPath(each).parent) in described and each not in described.union(folders) and each[0] != ".":
            yield f"the directory {each}/ is not in the table"
    tests = re.search(r"^## Tests\n(.*?)(?=^## |\Z)", text, re.MULTILINE | re.DOTALL)
    for each in sorted(directories):
        if re.fullmatch("tests/[^/]+", each) and not re.search(rf"`{each[6:]}[/`]", tests[1] if tests else ""):
            yield f'the section "Tests" does not name `{each[6:]}`'

    top = {each for each in directories if "/" not in each}
    for quoted in QUOTED.findall(text):
        path = quoted.rstrip("/")
        if PATH.fullmatch(quoted) and "/" in quoted and path.split("/")[0] in top - {"build"} and path not in there:
            yield f"`{quoted}` does not exist"
    for folder, cell in folders.items():
        for quoted in QUOTED.findall(cell):
            path = quoted.rstrip("/")
            if PATH.fullmatch(quoted) and "/" in quoted and not {path, f"{folder}/{path}"} & there:
                yield f"`{quoted}` in the row of `{folder}/` does not exist"


def main(page):
    with open(page, encoding="utf-8") as file:
        found = sorted(set(findings(file.read(), sys.stdin.read().split("\n")[:-1])))
    for each in found:
        print(f"{page}: {each}", file=sys.stderr)
    return 1 if found else 0


sys.exit(main(sys.argv[1]))
