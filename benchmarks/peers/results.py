"""The figures of all rounds: medians, ratios to the floor within each round, verdicts, tables, JSON."""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from statistics import median
from typing import Any

from field import HERE, ORC, PEERS, Peer, lines_of_code
from measures import Case, Measure
from trial import Figures

Key = tuple[str, Case, str]  # measure, case, peer


@dataclass
class Results:
    rounds: dict[Key, dict[int, Figures]] = field(default_factory=lambda: defaultdict(dict))
    left_out: dict[Key, str] = field(default_factory=dict)
    """What could not be measured, and why."""

    def add(self, measure: str, case: Case, peer: Peer, number: int, figures: Figures) -> None:
        if "memory_kb" in figures:
            figures["memory_mb"] = figures["memory_kb"] / 1000
        self.rounds[measure, case, peer.name][number] = figures

    def has(self, measure: str, case: Case, peer: Peer) -> bool:
        return bool(self.rounds.get((measure, case, peer.name)))

    def middle(self, measure: str, case: Case, peer: Peer, figure: str) -> float:
        return median(each[figure] for each in self.rounds[measure, case, peer.name].values())

    def ratio(self, measure: str, case: Case, peer: Peer, other: str, figure: str) -> float | None:
        """Returns the median over the rounds of peer / other; None when no round has both."""
        own, theirs = (self.rounds.get((measure, case, name), {}) for name in (peer.name, other))
        ratios = [own[n][figure] / theirs[n][figure] for n in own if n in theirs and theirs[n][figure] > 0]
        return median(ratios) if ratios else None

    def verdicts(self, measure: Measure, case: Case) -> Iterator[dict[str, Any]]:
        """For each class of peers and each judged figure, whether ORC is first, and by how much."""
        for figure in measure.judged:
            for kind in dict.fromkeys(peer.kind for peer in PEERS):
                there = [
                    peer
                    for peer in PEERS
                    if peer.kind == kind and not peer.is_floor and self.has(measure.name, case, peer)
                ]
                own = [peer for peer in there if peer.family == ORC]
                others = [peer for peer in there if peer.family != ORC]
                if not own or not others:
                    continue

                def value(peer: Peer, figure: str = figure) -> float:
                    return self.middle(measure.name, case, peer, figure)

                best, other = min(own, key=value), min(others, key=value)
                ratio = self.ratio(measure.name, case, best, other.name, figure)
                if ratio is not None:
                    yield {
                        "measure": measure.name,
                        "case": list(case),
                        "figure": figure,
                        "class": kind,
                        "orc": best.name,
                        "orc_value": value(best),
                        "other": other.name,
                        "other_value": value(other),
                        "ratio": ratio,
                        "first": ratio <= 1,
                    }


def number(value: float, digits: int) -> str:
    return f"{value:,.{digits}f}"


def lines(rows: Sequence[Sequence[str]]) -> str:
    """A table in Markdown, the columns aligned."""
    widths = [max(len(row[i]) for row in rows) for i in range(len(rows[0]))]

    def line(row: Sequence[str]) -> str:
        return "| " + " | ".join(cell.ljust(width) for cell, width in zip(row, widths)) + " |"

    return "\n".join([line(rows[0]), "| " + " | ".join("-" * width for width in widths) + " |", *map(line, rows[1:])])


def table(results: Results, measure: Measure, case: Case, peers: Sequence[Peer]) -> str:
    """One line a peer, with the ratio of the first column to the peer's floor."""
    rows = [["", *(column.title for column in measure.columns), "/ floor"]]
    for peer in peers:
        if not results.has(measure.name, case, peer):
            continue
        values = [
            number(results.middle(measure.name, case, peer, column.figure), column.digits) for column in measure.columns
        ]
        ratio = results.ratio(measure.name, case, peer, peer.floor, measure.judged[0]) if peer.floor else None
        rows.append([peer.name, *values, "" if ratio is None else f"{ratio:.2f}"])
    return lines(rows)


def verdict_text(verdict: dict[str, Any], label: str) -> str:
    figure = verdict["figure"].removesuffix("_us").replace("_", " ")
    text = f"{verdict['orc']} {verdict['orc_value']:.1f}, {verdict['other']} {verdict['other_value']:.1f}"
    place = "ORC is first" if verdict["first"] else f"ORC is behind, {verdict['ratio']:.2f} times {verdict['other']}"
    return f"{label}, {verdict['class']}, {figure}: {place} ({text} µs)"


def code_table(peers: Sequence[Peer]) -> str:
    sources = dict.fromkeys((peer.family, peer.source) for peer in peers if not peer.is_floor)
    rows = sorted((lines_of_code(HERE / source), family, source) for family, source in sources)
    return lines([["", "lines", "file"], *([family, str(count), source] for count, family, source in rows)])


def report(results: Results, measures: Sequence[Measure], cases: dict[str, list[Case]], peers: Sequence[Peer]) -> str:
    parts = []
    for measure in measures:
        parts.append(f"## {measure.title}")
        for case in cases[measure.name]:
            parts.append(f"{measure.label(case)}:\n\n{table(results, measure, case, peers)}")
        judged = [
            f"- {verdict_text(verdict, measure.label(case))}"
            for case in cases[measure.name]
            for verdict in results.verdicts(measure, case)
        ]
        if judged:
            parts.append("\n".join(judged))
    parts.append(f"## Lines of code of the node, without blanks and comments\n\n{code_table(peers)}")
    if results.left_out:
        reasons: dict[tuple[str, str], list[str]] = defaultdict(list)
        for (measure, case, peer), why in results.left_out.items():
            label = next((each.label(case) for each in measures if each.name == measure), "")
            reasons[peer, why].append(f"{measure} {label}".strip())
        told = [f"- {peer}: {why} ({', '.join(where)})" for (peer, why), where in reasons.items()]
        parts.append("## Left out\n\n" + "\n".join(told))
    return "\n\n".join(parts) + "\n"


def to_json(results: Results, measures: Sequence[Measure], peers: Sequence[Peer], facts: dict[str, Any]) -> str:
    by_name = {peer.name: peer for peer in peers}
    rows = []
    for (measure, case, name), rounds in results.rounds.items():
        peer = by_name[name]
        figures = {each: results.middle(measure, case, peer, each) for each in next(iter(rounds.values()))}
        judged = next(each.judged[0] for each in measures if each.name == measure)
        row = {"benchmark": "peers", "measure": measure, "case": list(case), "peer": name, "family": peer.family}
        row |= {"class": peer.kind, "rounds": len(rounds), **figures}
        if peer.floor and (ratio := results.ratio(measure, case, peer, peer.floor, judged)) is not None:
            row["ratio_to_floor"] = ratio
        rows.append(row)
    left_out = [
        {"measure": measure, "case": list(case), "peer": peer, "why": why}
        for (measure, case, peer), why in results.left_out.items()
    ]
    judged_cases = dict.fromkeys((measure, case) for measure, case, _ in results.rounds)
    verdicts = [
        verdict
        for name, case in judged_cases
        for verdict in results.verdicts(next(each for each in measures if each.name == name), case)
    ]
    code = {peer.family: lines_of_code(HERE / peer.source) for peer in peers if not peer.is_floor}
    found = {**facts, "rows": rows, "verdicts": verdicts, "lines_of_code": code, "left_out": left_out}
    return json.dumps(found, indent=1) + "\n"
