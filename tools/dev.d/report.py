"""Reads the reports of ctest and pytest (JUnit's XML) and those of sanitizers, for tools/dev test.

usage: report.py REMARKS REPORT [RERUN]

Prints "passed failed skipped". Appends to the file REMARKS a line `skipped REASON` per skipped test, `flaky NAME` per
test that failed in REPORT and passed in RERUN, which then counts as passed, and `failed NAME` per other that failed.

A sanitizer's report in the output of either run fails the test, whatever its result. Each file in sanitizer/ beside
REPORT is one failure more: tests/CMakeLists.txt sends the reports there, because most tests hide the output of the
programs they start. These reports, and the first failure of a flaky test, go to stderr.
"""

from __future__ import annotations

import re
import sys
import xml.etree.ElementTree as ElementTree
from pathlib import Path
from typing import Iterator, NamedTuple, Tuple

# The third comes from a crash whose report is in a file, the last from a process that cannot write that file.
FINDING = re.compile(
    r"[A-Z]+: \w+Sanitizer.*|\bruntime error: .*|\w+Sanitizer:DEADLYSIGNAL|ERROR: Can't open file: .*"
)
MAX_LINES = 60


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


def output_of(case: ElementTree.Element) -> str:
    return "\n".join(part.text or "" for part in case if part.tag in ("system-out", "system-err", "failure", "error"))


def runs(report: str) -> Iterator[Tuple[str, Outcome, str]]:
    for case in ElementTree.parse(report).iter("testcase"):
        yield name_of(case), outcome(case), output_of(case)


def finding(text: str) -> str:
    """The sanitizer's own summary, or else its first line; empty: there is no report in the text."""
    found = FINDING.findall(text)
    return next((line for line in found if line.startswith("SUMMARY")), found[0] if found else "")


def show(title: str, text: str) -> None:
    """From the first report in the text on, or the end of the text."""
    lines = text.strip().splitlines()
    reports = (at for at, line in enumerate(lines) if FINDING.search(line))
    start = next(reports, max(0, len(lines) - MAX_LINES))
    print(f"tools/dev: {title}:", *lines[start : start + MAX_LINES], sep="\n    ", file=sys.stderr)


def main(remarks: str, report: str, rerun: str = "") -> None:
    repeated = {name: (result.what, output) for name, result, output in runs(rerun)} if rerun else {}
    counts = {"passed": 0, "failed": 0, "skipped": 0}
    with open(remarks, "a", encoding="utf-8") as out:
        for name, (what, reason), output in runs(report):
            what_again, output_again = repeated.get(name, ("", ""))
            reported = output if finding(output) else output_again
            if found := finding(reported):
                show(f"{name} printed a sanitizer's report", reported)
                what = "failed"
                out.write(f"failed {name}: {found}\n")
            elif what == "failed" and what_again == "passed":
                show(f"{name} first failed with", output)
                what = "passed"
                out.write(f"flaky {name}\n")
            elif what == "failed":
                out.write(f"failed {name}\n")
            elif what == "skipped":
                out.write(f"skipped {reason}\n")
            counts[what] += 1
        for file in sorted(Path(report).with_name("sanitizer").glob("report.*")):
            text = file.read_text(encoding="utf-8", errors="replace")
            show(f"sanitizer report {file}", text)
            program = file.name.partition(".")[2].rpartition(".")[0]  # report.PROGRAM.PID
            out.write(f"failed sanitizer report of {program}: {finding(text) or file}\n")
            counts["failed"] += 1
    print(*counts.values())


main(*sys.argv[1:])
