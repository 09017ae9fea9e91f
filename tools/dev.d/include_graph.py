"""Which of our files includes which."""

from __future__ import annotations

import collections
import os
import re
from typing import Dict, Iterable, List, Set

INCLUDE = re.compile(r'^[ \t]*#[ \t]*include[ \t]*["<]([^">\n]+)[">]', re.MULTILINE)


class include_graph:
    """Over files, given relative to the folder `root`.

    A name is looked up beside the file that includes it, then as the end of any path: no include path to keep in step
    with CMake. A name that several paths end with counts as all of them.
    """

    def __init__(self, root: str, files: Iterable[str]) -> None:
        self.root = root
        self.files = set(files)
        self.ending: Dict[str, List[str]] = collections.defaultdict(list)
        for file in self.files:
            parts = file.split("/")
            for start in range(len(parts)):
                self.ending["/".join(parts[start:])].append(file)
        self.names: Dict[str, List[str]] = {}

    def names_in(self, file: str) -> List[str]:
        """What the file includes, as it says it."""
        if file not in self.names:
            with open(os.path.join(self.root, file), encoding="utf-8") as text:
                self.names[file] = INCLUDE.findall(text.read())
        return self.names[file]

    def included_by(self, file: str) -> Set[str]:
        """Those of our files that the file itself includes."""
        found: Set[str] = set()
        for name in self.names_in(file):
            beside = os.path.normpath(os.path.join(os.path.dirname(file), name))
            found.update([beside] if beside in self.files else self.ending.get(os.path.normpath(name), ()))
        return found

    def reached_from(self, file: str) -> Set[str]:
        """The file, and all of ours that are included when it is compiled."""
        reached = {file}
        waiting = [file]
        while waiting:
            new = self.included_by(waiting.pop()) - reached
            reached |= new
            waiting.extend(new)
        return reached
