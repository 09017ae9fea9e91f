"""Reads the reports of ctest and pytest (JUnit's XML), for tools/dev test.

usage: report.py REMARKS REPORT [RERUN]

Prints "passed failed skipped". Appends to the file REMARKS a line `skipped REASON` per skipped test, `flaky NAME` per
test that failed in REPORT and passed in RERUN, which then counts as passed, and `failed NAME` per other that failed.
"""

from __future__ import annotations

import re
import sys
import xml.etree.ElementTree as ElementTree
from typing import List, NamedTuple, Tuple


class Outcome(NamedTuple):
    what: str  # passed, failed, skipped
    reason: str


def outcome(case: ElementTree.Element) -> Outcome:
    if case.find("failure") is not None or case.find("error") is not None or case.get("status") == "fail":
        return Outcome("failed", "")
    if case.get("status") == "disabled":
        return Outcome("skipped", "disabled")
    skipped = case.find("skipped")
    if skipped is None:
        return Outcome("passed", "")
    reason = skipped.get("message", "")
    said = re.search(r"\[orc: skipped\] (.*)", case.findtext("system-out") or "")
    if said:
        # names of the test's own, as orc4711a, would make each reason another
        return Outcome("skipped", re.sub(r"(?<=[a-z])\d{3,}", "N", said[1]))
    # ctest also calls skipped what it could not start
    if case.get("status") == "notrun" and not reason.startswith("SKIP_"):
        return Outcome("failed", "")
    return Outcome("skipped", " ".join(reason.split()))


def name_of(case: ElementTree.Element) -> str:
    name, module = case.get("name", ""), case.get("classname", "")
    return name if module in ("", name) else f"{module}.{name}"  # ctest gives the name twice


def outcomes(report: str) -> List[Tuple[str, Outcome]]:
    return [(name_of(case), outcome(case)) for case in ElementTree.parse(report).iter("testcase")]


def main(remarks: str, report: str, rerun: str = "") -> None:
    repeated = dict(outcomes(rerun)) if rerun else {}
    counts = {"passed": 0, "failed": 0, "skipped": 0}
    with open(remarks, "a", encoding="utf-8") as out:
        for name, (what, reason) in outcomes(report):
            if what == "failed" and name in repeated and repeated[name].what == "passed":
                what = "passed"
                out.write(f"flaky {name}\n")
            elif what == "failed":
                out.write(f"failed {name}\n")
            elif what == "skipped":
                out.write(f"skipped {reason}\n")
            counts[what] += 1
    print(*counts.values())


main(*sys.argv[1:])
