"""A size that does not work is found, with what ran out."""

import json

import fleet
import pytest
from one_fleet import Figures
from verdict import LEAST_BYTES, failure, ran_out

INF = float("inf")


def figures(**changed):
    sound = dict.fromkeys(Figures.__dataclass_fields__, 0)
    sound |= {"robots": 10, "real": 2, "topics_known": 200, "known_s": 0.5, "offered_hz": 200.0, "sent_hz": 200.0}
    sound |= {"desk_hz": 200.0, "delivered": 1.0, "p50_ms": 2.0, "p99_ms": 20.0, "max_ms": 30.0}
    sound |= {"available_bytes": LEAST_BYTES, "machine_cores": 1.0}
    return Figures(**{**sound, **changed})


def test_what_works_has_no_failure():
    assert failure(figures(delivered=0.99, p99_ms=1000.0, sent_hz=190.0)) == ""


@pytest.mark.parametrize(
    "changed, text",
    [
        ({"known_s": INF, "topics_known": 7}, "7 topics known in time"),
        ({"delivered": 0.98}, "98.0 % delivered"),
        ({"p99_ms": 1001.0}, "p99 of the age 1001 ms"),
        ({"delivered": 0.0, "p99_ms": INF}, "0.0 % delivered"),
        ({"sent_hz": 100.0}, "the robots sent 100 of 200 samples/s"),
    ],
)
def test_names_the_failure(changed, text):
    assert failure(figures(**changed)) == text


@pytest.mark.parametrize(
    "changed, text",
    [
        ({"available_bytes": LEAST_BYTES - 1, "fleet_desk_cores": 1.0}, "memory"),
        ({"fleet_desk_cores": 0.95, "machine_cores": 2.0}, "the core of the fleet desk"),
        ({"simulated_busiest_cores": 0.95}, "simulates robots"),
        ({"machine_cores": 1.95, "router_cores": 0.8}, "all 2 cores of this machine: router 0.80, "),
        ({"machine_cores": 1.5}, "none of the measured"),
    ],
)
def test_names_what_ran_out(changed, text):
    assert text in ran_out(figures(**changed), cores=2)


def test_a_row_is_as_wide_as_its_heading():
    assert len(fleet.row(figures())) == len(fleet.heading())
    assert len(fleet.row(figures(known_s=INF, p50_ms=INF))) == len(fleet.heading())


def test_the_cost_of_a_robot_is_the_slope():
    rows = [figures(robots=10, router_cores=0.1, router_bytes=30_000_000, router_in=1e5)]
    assert fleet.per_robot(rows) == ""
    rows.append(figures(robots=30, router_cores=0.2, router_bytes=40_000_000, router_in=3e5))
    assert "router 0.50 % of a core, 500 kB, 10.0 kB/s in" in fleet.per_robot(rows)


def test_json_has_null_for_what_there_is_none_of():
    found = json.loads(fleet.to_json([figures(known_s=INF)], "10 robots: broken"))
    assert found["fleets"][0]["known_s"] is None
    assert found["stopped"] == "10 robots: broken"


@pytest.mark.parametrize(
    "words", [["--robots", "0"], ["--real", "0"], ["--topics", "257"], ["--rate", "0"], ["--size", "15"]]
)
def test_refuses_what_cannot_be_measured(words):
    with pytest.raises(SystemExit) as refused:
        fleet.options_of(words)
    assert refused.value.code == 2
