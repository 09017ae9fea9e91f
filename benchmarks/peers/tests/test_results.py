"""What the report says of the figures: medians, ratios, verdicts. And how lines are counted."""

import json

import field
import measures
import pytest
import results
from results import Results

ECHO = next(measures.named(["echo"]))
CASE = (10,)


def peer(name):
    return next(each for each in field.PEERS if each.name == name)


def filled(**by_name):
    made = Results()
    for name, values in by_name.items():
        for number, value in enumerate(values):
            made.add(
                "echo", CASE, peer(name.replace("_", " ")), number, {"echo_p50_us": value, "echo_p99_us": 2 * value}
            )
    return made


def test_takes_ratios_within_each_round():
    made = filled(ORC_ipc=[2.0, 30.0, 9.0], floor_Unix_socket=[1.0, 20.0, 3.0])
    assert made.middle("echo", CASE, peer("ORC ipc"), "echo_p50_us") == 9.0
    assert made.ratio("echo", CASE, peer("ORC ipc"), field.UNIX, "echo_p50_us") == 2.0
    assert made.ratio("echo", CASE, peer("ORC tcp"), field.UNIX, "echo_p50_us") is None


def test_compares_only_peers_that_wait_alike():
    made = filled(ORC_shm=[4.0], ORC_shm_polling=[0.3], ORC_inproc=[1.0], libzmq_inproc=[2.0], floor_futex=[3.0])
    found = list(made.verdicts(ECHO, CASE))
    assert [(each["class"], each["orc"], each["other"]) for each in found] == [
        ("threads", "ORC inproc", "libzmq inproc")
    ]


@pytest.mark.parametrize("other, first, told", [(4.0, True, "ORC is first"), (1.0, False, "2.00 times libzmq ipc")])
def test_says_by_how_much_orc_is_behind(other, first, told):
    made = filled(ORC_ipc=[2.0, 2.0], ORC_tcp=[3.0, 3.0], libzmq_ipc=[other, other])
    (verdict,) = made.verdicts(ECHO, CASE)
    assert verdict["first"] is first
    assert told in results.verdict_text(verdict, "10 B")


def test_names_what_was_left_out():
    made = filled(ORC_ipc=[2.0])
    made.left_out["echo", CASE, "libzmq ipc"] = "samples are lost"
    made.left_out["all", (), "nng ipc"] = "it is not installed"
    text = results.report(made, [ECHO], {"echo": [CASE]}, field.PEERS)
    assert "- libzmq ipc: samples are lost (echo 10 B)" in text
    assert "- nng ipc: it is not installed (all)" in text
    found = json.loads(results.to_json(made, [ECHO], field.PEERS, {"benchmark": "peers"}))
    assert [(row["peer"], row["echo_p50_us"]) for row in found["rows"]] == [("ORC ipc", 2.0)]


def test_counts_lines_that_are_code(tmp_path):
    source = tmp_path / "node.cpp"
    source.write_text("// a comment\n\nint a;  // with code\n   \n  // another\nint b;\n")
    assert field.lines_of_code(source) == 2
    for each in field.PEERS:
        assert field.lines_of_code(field.HERE / each.source) > 10


def test_has_a_reason_for_each_limit():
    most = max(each.largest for each in field.PEERS)
    assert all(each.limit for each in field.PEERS if each.largest < most)


def test_brings_the_floors_along():
    assert [each.name for each in field.named(["orc ipc", "LCM"])] == [field.UNIX, field.UDP, "ORC ipc", "LCM"]
    with pytest.raises(ValueError, match="no peer is named DDS9"):
        field.named(["DDS9"])
