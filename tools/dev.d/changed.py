"""Which of our C++ files a change concerns, for tools/dev lint.

usage: changed.py [SETTING…] < FILES

Prints those of FILES that differ from the merge base of HEAD with $ORC_BASE (else with origin/main, where that is
another commit than HEAD; else HEAD~1), committed or not, and those that include one of them, directly or not. Prints
all where there is no such commit, and when one of the files SETTING differs.
"""

from __future__ import annotations

import os
import subprocess
import sys
from typing import List, Optional, Set

from include_graph import include_graph


def git(*words: str) -> Optional[str]:
    """What git says, or None when it fails."""
    try:
        run = subprocess.run(["git", *words], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True, check=False)
    except FileNotFoundError:
        return None
    return run.stdout.strip() if run.returncode == 0 else None


def base() -> Optional[str]:
    """The commit to compare with, or None."""
    asked = os.environ.get("ORC_BASE")
    if asked:
        found = git("merge-base", "HEAD", asked)
        if not found:
            sys.exit(f"changed.py: ORC_BASE={asked} has no commit in common with HEAD")
        return found
    found = git("merge-base", "HEAD", "origin/main")
    if found and found != git("rev-parse", "HEAD"):
        return found
    return git("rev-parse", "--verify", "--quiet", "HEAD~1")


def differing(commit: str) -> Set[str]:
    tracked = git("diff", "--name-only", "--no-renames", "--relative", commit)
    new = git("ls-files", "--others", "--exclude-standard")
    if tracked is None or new is None:
        sys.exit(f"changed.py: git cannot compare with {commit}")
    return {*tracked.splitlines(), *new.splitlines()}


def main() -> None:
    settings = set(sys.argv[1:])
    files: List[str] = sys.stdin.read().splitlines()
    commit = base()
    changed = differing(commit) if commit else set()
    if not commit or changed & settings:
        chosen = files
    else:
        graph = include_graph(".", files)
        chosen = [file for file in files if changed & graph.reached_from(file)]
    print(f"{len(chosen)} of {len(files)} files, since {commit[:12] if commit else 'the first commit'}", file=sys.stderr)
    for file in chosen:
        print(file)


if __name__ == "__main__":
    main()
