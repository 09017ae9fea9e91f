"""What a newcomer sees of objects and errors: names in tracebacks, reprs, arrays, log lines, what to write."""

from __future__ import annotations

import gc
import pickle
from types import ModuleType
from typing import Any

import numpy
import pytest

from support import BrokerProcess, run_python, wait_until


def test_tracebacks_name_errors_as_programs_do(backend: ModuleType) -> None:
    import orc._errors

    for kind in (backend.Error, *orc._errors.by_code.values()):
        assert f"{kind.__module__}.{kind.__qualname__}" == f"orc.{kind.__name__}"
    done = run_python(
        """
        import importlib, sys
        raise importlib.import_module(sys.argv[1]).NameTaken("robot holds it")
        """,
        backend.__name__,
        check=False,
    )
    assert done.stderr.splitlines()[-1] == "orc.NameTaken: robot holds it"


def test_errors_are_pickled(backend: ModuleType) -> None:
    same = pickle.loads(pickle.dumps(backend.NameTaken("robot holds it")))
    assert type(same) is backend.NameTaken
    assert (str(same), same.code) == ("robot holds it", "name_taken")


def test_reprs_say_how_things_stand(backend: ModuleType, broker: BrokerProcess) -> None:
    with backend.Participant(name="controller") as participant, backend.Participant(name="robot") as other:
        publisher = participant.register_topic("arm/position", transports="ipc")
        assert repr(participant) == f"<orc.Participant 'controller', {broker.endpoint}>"
        assert repr(publisher) == "<orc.Publisher 'arm/position', 0 readers>"
        lone = participant.request_topic("camera")
        assert repr(lone) == "<orc.Subscriber 'camera', no link: no publisher>"
        subscriber = other.request_topic("arm/position", connected_within_ms=20_000)
        assert repr(subscriber) == "<orc.Subscriber 'arm/position', linked over ipc>"
        wait_until(lambda: repr(publisher) == "<orc.Publisher 'arm/position', 1 reader>")
        publisher.send_msg(b"12345678")
        message = subscriber.recv_msg(20_000)
        assert repr(message) == str(message) == "<orc.Message sequence=1, 8 bytes, missed=0>"
        message.release()
        assert repr(message) == "<orc.Message released>"
    assert repr(participant) == "<orc.Participant 'controller', closed>"
    assert repr(publisher) == "<orc.Publisher 'arm/position', 0 readers>"
    assert repr(subscriber).startswith("<orc.Subscriber 'arm/position', no link: ")


def test_the_repr_of_a_broker_without_a_broker(backend: ModuleType, run_dir: Any) -> None:
    with backend.Participant(name="alone") as participant:
        assert repr(participant) == "<orc.Participant 'alone', no broker yet>"


def test_a_message_as_an_array(backend: ModuleType, link: Any) -> None:
    publisher, subscriber = link(backend)
    publisher.send_msg(numpy.arange(3.0))
    message = subscriber.recv_msg(20_000)
    array = message.array("f8")
    assert array.tolist() == [0.0, 1.0, 2.0]
    assert array.dtype == numpy.float64 and not array.flags.writeable
    assert array.ctypes.data == numpy.frombuffer(message, dtype="u1").ctypes.data, "a copy"
    assert message.array("3f8").shape == (1, 3)
    with pytest.raises(ValueError, match="a sample of 24 bytes is not a whole number of .*, which has 56 bytes"):
        message.array("7f8")
    with pytest.raises(TypeError):
        message.array("no such type")
    del array
    gc.collect()
    message.release()
    with pytest.raises(ValueError, match="released"):
        message.array("f8")


def test_an_empty_message_as_an_array(backend: ModuleType, link: Any) -> None:
    publisher, subscriber = link(backend)
    publisher.send_msg(b"")
    assert subscriber.recv_msg(20_000).array("f8").tolist() == []


def test_over_shm_an_array_keeps_the_message(native: Any, link: Any) -> None:
    publisher, subscriber = link(native, "shm", max_messages=2)
    held = []
    with pytest.raises(native.TooManyMessages):
        for number in range(10):
            publisher.send_msg(numpy.full(4, float(number)))
            held.append(subscriber.recv_msg(20_000).array(float))
            gc.collect()
    assert [array.tolist() for array in held] == [[float(number)] * 4 for number in range(len(held))]
    held.clear()
    gc.collect()
    publisher.send_msg(numpy.zeros(4))
    assert wait_until(lambda: subscriber.recv_msg(0)).array(float).tolist() == [0.0] * 4


def test_without_numpy_an_array_says_what_to_install(backend: ModuleType, broker: BrokerProcess) -> None:
    done = run_python(
        """
        import importlib, sys
        orc = importlib.import_module(sys.argv[1])
        sys.modules["numpy"] = None  # now import numpy raises ImportError
        with orc.Participant() as one, orc.Participant() as two:
            publisher = one.register_topic("t")
            subscriber = two.request_topic("t", connected_within_ms=20_000)
            publisher.send_msg(b"12345678")
            try:
                subscriber.recv_msg(20_000).array("f8")
            except ImportError as error:
                print(error)
        """,
        backend.__name__,
    )
    assert done.stdout == "message.array() needs numpy: pip install numpy\n"


def test_log_lines_say_where_they_come_from_when_nothing_else_does() -> None:
    code = """
        import logging, sys
        if sys.argv[1] == "set up":
            logging.basicConfig(format="%(name)s %(message)s")
        from orc._log import log_to_logging
        log_to_logging("warning", "100% of it")
        """
    assert run_python(code, "as it is").stderr == "orc: 100% of it\n"
    assert run_python(code, "set up").stderr == "orc 100% of it\n"


@pytest.mark.parametrize(
    "wrong, right",
    [
        ("tcp:/localhost", "needs two slashes after tcp: write tcp://localhost:5570"),
        ("tcp:localhost:5571", "needs two slashes after tcp: write tcp://localhost:5571"),
        ("tcp:///localhost:5571", "has more than two slashes after tcp: write tcp://localhost:5571"),
        ("ipc:/run/orc/broker", "needs three slashes after ipc: write ipc:///run/orc/broker"),
        ("tcp:///", "names no host: a broker's endpoint is tcp://HOST:PORT or ipc:///PATH"),
    ],
)
def test_a_mistyped_endpoint_says_what_to_write(backend: ModuleType, run_dir: Any, wrong: str, right: str) -> None:
    with pytest.raises(backend.BadArgument) as raised:
        with backend.Participant(wrong, broker_timeout_ms=100) as participant:
            participant.register_topic("t")
    assert f"{wrong} {right}" in str(raised.value)


def test_without_a_broker_the_handles_are_reachable(backend: ModuleType, run_dir: Any) -> None:
    with backend.Participant(broker_timeout_ms=50) as participant:
        with pytest.raises(backend.NoBroker) as raised:
            participant.register_topic("t")
        assert str(raised.value).endswith("the topic stays registered: Participant.publisher('t') is its handle")
        participant.publisher("t").send_msg(b"early")
        with pytest.raises(backend.NoBroker) as raised:
            participant.request_topic("s")
        assert str(raised.value).endswith("the request stays: Participant.subscriber('s') is its handle")
        assert participant.subscriber("s").recv_msg(0) is None


def test_after_a_time_out_the_handle_is_reachable(backend: ModuleType, broker: BrokerProcess) -> None:
    with backend.Participant() as participant:
        with pytest.raises(backend.TimedOut) as raised:
            participant.request_topic("t", connected_within_ms=50)
        assert str(raised.value).endswith("the request stays: Participant.subscriber('t') is its handle")
        subscriber = participant.subscriber("t")
        publisher = participant.register_topic("t")
        publisher.send_msg(b"x")
        assert bytes(subscriber.recv_msg(20_000)) == b"x"
