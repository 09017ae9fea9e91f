"""When a publication sent its newest sample, and how regularly: as tests/unit/interval_meter_test.cpp."""

from __future__ import annotations

from typing import Tuple

import pytest

from orc.pure.interval_meter import IntervalMeter

MS = 1_000_000
S = 1_000 * MS


class Clocks:
    def __init__(self) -> None:
        self.monotonic = 100 * S
        self.set = 1_700_000_000 * S
        self.meter = IntervalMeter()

    def send_after(self, *intervals_ns: int) -> None:
        for interval_ns in intervals_ns:
            self.monotonic += interval_ns
            self.meter.add(self.monotonic + self.set)

    def report_after(self, ns: int) -> Tuple[int, int]:
        self.monotonic += ns
        return self.meter.take(self.monotonic, self.monotonic + self.set)


def test_jitter_is_the_standard_deviation_of_the_intervals_since_the_report_before() -> None:
    now = Clocks()
    assert now.report_after(S) == (0, -1)
    now.send_after(0, *[9 * MS, 11 * MS] * 50)
    sent = now.monotonic
    assert now.report_after(MS) == (sent, MS)
    now.send_after(9 * MS, *[10 * MS] * 99)  # 1 ms was before the report
    assert now.report_after(MS)[1] == 0


def test_intervals_of_a_slow_topic_count_for_a_later_report() -> None:
    now = Clocks()
    now.send_after(0)
    assert now.report_after(S)[1] == -1
    now.send_after(S)
    assert now.report_after(S)[1] == -1
    now.send_after(2 * S)
    assert now.report_after(S)[1] == S // 2  # of 2 s and 3 s
    assert now.report_after(S)[1] == -1


@pytest.mark.parametrize("step", [-3_600 * S, -10 * MS, 10 * MS, 3_600 * S])
def test_a_clock_that_is_set_gives_no_jitter_and_no_sample_of_another_time(step: int) -> None:
    now = Clocks()
    now.send_after(*[10 * MS] * 100)
    before, _ = now.report_after(5 * MS)
    reported = now.monotonic
    now.set += step
    assert now.report_after(S)[0] == before
    now.send_after(*[10 * MS] * 50)
    now.set += step
    newest, jitter = now.report_after(5 * MS)
    assert jitter == -1 and reported <= newest <= now.monotonic
    now.send_after(*[10 * MS] * 50)
    assert now.report_after(5 * MS) == (now.monotonic - 5 * MS, 0)
