"""What is measured: each measure has cases, a trial for one peer in one case, and the figures that its table shows."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass

from field import THREADS, Peer
from support.command_line import size_label
from trial import Figures, Trial

Case = tuple[float, ...]


@dataclass(frozen=True)
class Options:
    sizes: list[int]
    subscribers: list[int]
    rates: list[int]
    processes: list[int]
    stream_size: int
    hz: float


@dataclass(frozen=True)
class Column:
    figure: str
    title: str
    digits: int = 1


@dataclass(frozen=True)
class Measure:
    name: str
    title: str
    columns: tuple[Column, ...]
    judged: tuple[str, ...]
    """The figures of which the lowest is the best; their verdict is printed."""
    cases: Callable[[Options], list[Case]]
    label: Callable[[Case], str]
    size: Callable[[Case, Options], int]
    """Of the samples, in bytes."""
    can: Callable[[Peer, Case], bool]
    """Whether the peer takes part, whatever the size."""
    run: Callable[[Trial, Case, Options], Figures]


def _between_processes(peer: Peer) -> bool:
    return peer.kind != THREADS


def _stream_size(_: Case, options: Options) -> int:
    return options.stream_size


AGE = (Column("age_p50_us", "age p50"), Column("age_p99_us", "p99"))

MEASURES = (
    Measure(
        "echo",
        "Echo: one-way time of a sample (round trip / 2), µs",
        (Column("echo_p50_us", "p50", 2), Column("echo_p99_us", "p99", 2)),
        ("echo_p50_us",),
        lambda o: [(size,) for size in o.sizes],
        lambda case: size_label(int(case[0])),
        lambda case, o: int(case[0]),
        lambda peer, case: True,
        lambda trial, case, o: trial.echo(int(case[0])),
    ),
    Measure(
        "fanout",
        "Fan-out: age of a sample at the last subscriber, time of the publish call, processor time of the\n"
        "publisher's process per sample, all in µs, and its memory in MB",
        (
            *AGE,
            Column("call_p50_us", "call p50"),
            Column("call_p99_us", "p99"),
            Column("cpu_us", "CPU"),
            Column("memory_mb", "MB"),
        ),
        ("age_p50_us", "cpu_us"),
        lambda o: [(count,) for count in o.subscribers],
        lambda case: f"{case[0]:.0f} subscriber{'s' if case[0] > 1 else ''}",
        _stream_size,
        lambda peer, case: _between_processes(peer),
        lambda trial, case, o: trial.stream(o.stream_size, o.hz, int(case[0])),
    ),
    Measure(
        "sweep",
        "Frequency sweep: share of the samples that one subscriber got, their age in µs, and the rate that the\n"
        "publisher reached. Newest only, and with a queue of 1,000",
        (Column("delivered", "share", 3), *AGE, Column("achieved_hz", "Hz", 0)),
        ("age_p50_us",),
        lambda o: [(rate, queue) for queue in (1, 1000) for rate in o.rates],
        lambda case: f"{case[0]:.0f} Hz, {'newest' if case[1] == 1 else 'queue'}",
        _stream_size,
        lambda peer, case: _between_processes(peer) and (case[1] == 1 or peer.queues),
        lambda trial, case, o: trial.stream(o.stream_size, case[0], 1, queue=int(case[1])),
    ),
    Measure(
        "chain",
        "Chain: age of a sample, µs, at the last of so many processes that hand it on",
        AGE,
        ("age_p50_us",),
        lambda o: [(count,) for count in o.processes],
        lambda case: f"{case[0]:.0f} processes",
        _stream_size,
        lambda peer, case: _between_processes(peer) and not peer.spins,
        lambda trial, case, o: trial.stream(o.stream_size, o.hz / 10, 1, relays=int(case[0]) - 2),
    ),
)


def named(names: list[str]) -> Iterator[Measure]:
    return (measure for measure in MEASURES if measure.name in names)
