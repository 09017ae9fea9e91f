"""What a participant of the pure backend does when the broker refuses it, falls silent, or is another user's."""

from __future__ import annotations

import os
import pathlib
import re
import signal
import socket
import threading
import time
from typing import Any, List, Optional, Tuple

import pytest

pytest.importorskip("zmq")

import orc.pure as orc
from orc.pure import endpoints, messages, wire
from session_peer import FakeBroker
from support import BrokerProcess, run_python, wait_until

Log = List[Tuple[str, str]]


@pytest.fixture
def endpoint(run_dir: pathlib.Path) -> str:
    return f"ipc://{run_dir}/orc/broker"


def refusing(fake: FakeBroker, code: int, times: int) -> None:
    """Its next Hellos are refused, and all that is asked under them."""
    left = times

    def answer(body: messages.Body) -> Optional[messages.Body]:
        nonlocal left
        if isinstance(body, messages.Hello) and left > 0:
            left -= 1
            return messages.Error(code, "not you")
        return messages.Error(3, "say Hello first") if left > 0 else fake.agree(body)

    fake.answer = answer


def test_hello_has_a_secret_which_stays(endpoint: str) -> None:
    with (
        FakeBroker(endpoint) as fake,
        orc.Participant(log=lambda *_: None) as one,
        orc.Participant(log=lambda *_: None) as two,
    ):
        for participant in (one, two):
            participant.register_topic("t")
        first, second = fake.next(messages.Hello), fake.next(messages.Hello)
        assert len({first.participant, first.secret, second.participant, second.secret}) == 4
        assert min(first.secret, second.secret) > (0, 0)
        fake.push(messages.Welcome(2, 3000, 1000, False, "another"))
        again = [fake.next(messages.Hello) for _ in range(2)]
        assert {(h.participant, h.secret) for h in again} == {(h.participant, h.secret) for h in (first, second)}


def test_an_id_that_is_taken_is_drawn_anew(endpoint: str) -> None:
    """The victim of somebody who shows its id: it says so, and all it has is registered again."""
    log: Log = []
    with FakeBroker(endpoint) as fake, orc.Participant(log=lambda *entry: log.append(entry)) as participant:
        participant.register_topic("t")
        participant.request_topic("u")
        before = fake.next(messages.Hello)
        refusing(fake, 7, 1)
        fake.push(messages.Welcome(fake.epoch, 3000, 1000, False, "fake"))
        refused, after = fake.next(messages.Hello), fake.next(messages.Hello)
        assert refused.participant == before.participant
        assert after.participant != before.participant and after.secret != before.secret
        assert fake.next(messages.RegisterTopic).topic == "t"
        assert fake.next(messages.RequestTopic).topic == "u"
        assert [text for level, text in log if level == "error" and "not you" in text]


def test_ids_that_are_always_taken_are_not_drawn_without_end(endpoint: str) -> None:
    with FakeBroker(endpoint) as fake, orc.Participant(log=lambda *_: None) as participant:
        refusing(fake, 7, 1_000_000)
        with pytest.raises(orc.Refused, match="not you"):
            participant.register_topic("t")
        time_of: List[float] = []
        while len(time_of) < 4:
            fake.next(messages.Hello)
            time_of.append(time.monotonic())
        assert time_of[3] - time_of[1] > 0.9, "the first one is repeated at once, the others are not"


@pytest.mark.parametrize("code", [1, 2, 6])
def test_a_refused_hello_is_reported_at_once(endpoint: str, code: int) -> None:
    """It was "no address broker answers", after broker_timeout_ms."""
    with FakeBroker(endpoint) as fake, orc.Participant(broker_timeout_ms=-1, log=lambda *_: None) as participant:
        refusing(fake, code, 1_000_000)
        for call in (participant.register_topic, participant.request_topic, participant.register_topic):
            with pytest.raises(orc.Refused, match="not you"):
                call("t")
        participant.publisher("t").send_msg(b"it is declared all the same")
        fake.answer = fake.agree
        publication = participant.publisher("t")._publication
        wait_until(lambda: publication.wait(0) is None)


def test_who_waits_when_the_hello_is_refused_hears_of_it(endpoint: str) -> None:
    with orc.Participant(endpoint, broker_timeout_ms=-1, log=lambda *_: None) as participant:
        raised: List[BaseException] = []

        def register() -> None:
            try:
                participant.register_topic("t")
            except orc.Error as error:
                raised.append(error)

        waiting = threading.Thread(target=register)
        waiting.start()
        wait_until(lambda: "t" in participant._core.publications)
        with FakeBroker(endpoint) as fake:
            refusing(fake, 6, 1_000_000)
            waiting.join(20)
        assert len(raised) == 1 and "refused this participant: not you" in str(raised[0])


def test_a_withdrawal_is_repeated_until_it_is_acknowledged(endpoint: str) -> None:
    with FakeBroker(endpoint) as fake, orc.Participant(broker_timeout_ms=100, log=lambda *_: None) as participant:
        participant.register_topic("t")
        fake.answer = lambda body: None if isinstance(body, messages.UnregisterTopic) else fake.agree(body)
        participant.unregister_topic("t")
        first, second = fake.next(messages.UnregisterTopic), fake.next(messages.UnregisterTopic)
        assert first == second


@pytest.mark.parametrize("silent_s", [0.5, 4.5])
def test_what_is_withdrawn_while_the_broker_is_silent_is_withdrawn(endpoint: str, silent_s: float) -> None:
    """After 4 s the participant takes the broker for gone. It forgot the withdrawal, and the name stayed taken."""
    with FakeBroker(endpoint) as fake, orc.Participant(broker_timeout_ms=100, log=lambda *_: None) as participant:
        participant.register_topic("t")
        participant.request_topic("u")
        publication = fake.next(messages.RegisterTopic).publication
        silent_since = time.monotonic()
        fake.answer = lambda body: None
        wait_until(lambda: time.monotonic() - silent_since > silent_s)
        participant.unregister_topic("t")
        participant.release_topic("u")
        fake.answer = fake.agree
        assert fake.next(messages.UnregisterTopic).publication == publication
        assert fake.next(messages.ReleaseTopic).topic == "u"


def test_a_name_that_was_withdrawn_while_the_broker_was_stopped_is_free(broker: BrokerProcess) -> None:
    with (
        orc.Participant(broker_timeout_ms=100, log=lambda *_: None) as one,
        orc.Participant(log=lambda *_: None) as two,
    ):
        one.register_topic("t")
        stopped = time.monotonic()
        os.kill(broker.pid, signal.SIGSTOP)
        wait_until(lambda: time.monotonic() - stopped > 4.5)
        one.unregister_topic("t")
        os.kill(broker.pid, signal.SIGCONT)

        def free() -> bool:
            try:
                two.register_topic("t")
                return True
            except (orc.NameTaken, orc.NoBroker):
                return False

        wait_until(free)


def test_another_broker_does_not_hear_of_old_withdrawals(endpoint: str) -> None:
    with orc.Participant(endpoint, broker_timeout_ms=500, log=lambda *_: None) as participant:
        with FakeBroker(endpoint) as fake:
            participant.register_topic("t")
            fake.answer = lambda body: None
            participant.unregister_topic("t")
        with FakeBroker(endpoint, epoch=2) as other:
            participant.register_topic("u")
            told: List[Any] = []
            while not other.told.empty():
                told.append(other.told.get())
        assert not [body for body in told if isinstance(body, messages.UnregisterTopic)]


def test_nonsense_of_a_broker_is_survived(endpoint: str) -> None:
    log: Log = []
    with FakeBroker(endpoint) as fake, orc.Participant(log=lambda *entry: log.append(entry)) as participant:
        participant.request_topic("t")
        good = wire.encode(messages.Envelope(0, messages.TopicState("t", None, [], 0)))
        for number in range(500):
            changed = bytearray(good)
            changed[number % len(good)] ^= 1 + number % 255
            fake.push_bytes(bytes(changed))
        fake.push_bytes(b"")
        fake.push_bytes(b"ORC1" * 16_000)
        fake.push_bytes(good, good, b"x" * 1000)
        fake.push_bytes(wire.encode(messages.Envelope(7, messages.Ack())))
        fake.push(messages.Error(7, "nobody asked"))
        for _ in range(200):
            fake.push(messages.Probe())
        participant.register_topic("u")
        assert fake.next(messages.RegisterTopic).topic == "u"
    assert not [text for level, text in log if "Traceback" in text or "orc.pure:" in text]


def test_a_frame_that_is_too_long_costs_the_broker_its_connection(endpoint: str) -> None:
    with FakeBroker(endpoint) as fake, orc.Participant(log=lambda *_: None) as participant:
        participant.register_topic("t")
        before = len(fake._peers)
        fake.push_bytes(bytes(10_000_000))
        wait_until(lambda: len(fake._peers) > before)
        participant.register_topic("u")


# ---- where the broker is looked for ----


def test_a_directory_that_all_can_write_has_no_broker(run_dir: pathlib.Path) -> None:
    assert endpoints.trusted(str(run_dir / "orc"))
    os.chmod(run_dir / "orc", 0o777)
    assert not endpoints.trusted(str(run_dir / "orc"))


def test_a_link_to_a_directory_is_none(run_dir: pathlib.Path) -> None:
    (run_dir / "real").mkdir()
    (run_dir / "link").symlink_to(run_dir / "real")
    assert endpoints.trusted(f"{run_dir}/real")
    assert not endpoints.trusted(f"{run_dir}/link")


@pytest.mark.skipif(os.geteuid() != 0, reason="needs root to be another user")
def test_another_users_broker_is_not_found(run_dir: pathlib.Path) -> None:
    """Who makes /tmp/orc-<uid> first, makes the broker of that user."""
    os.chown(run_dir / "orc", 4711, 4711)
    assert not endpoints.trusted(str(run_dir / "orc"))


@pytest.mark.skipif(os.geteuid() != 0, reason="needs root to be another user")
def test_another_users_socket_in_our_directory_is_no_broker(run_dir: pathlib.Path) -> None:
    done = run_python(
        """
        import os, socket, sys
        from orc.pure import endpoints
        path = sys.argv[1] + "/broker"
        listener = socket.socket(socket.AF_UNIX)
        listener.bind(path)
        os.chmod(path, 0o777)
        if os.fork() == 0:
            os.setresuid(4711, 4711, 4711)
            listener.listen()
            os._exit(0)
        os.wait()
        peer = socket.socket(socket.AF_UNIX)
        peer.connect(path)
        print(endpoints.trusted_peer(peer, path))
        """,
        str(run_dir / "orc"),
    )
    assert done.stdout == "False\n"


@pytest.mark.skipif(os.geteuid() != 0, reason="needs root to be another user")
@pytest.mark.parametrize("name, believed", [("0", False), ("4711", True), ("4711-0123abcd", True), ("47110", False)])
def test_only_the_user_of_a_directory_publishes_there(run_dir: pathlib.Path, name: str, believed: bool) -> None:
    """A member of the broker's group can put its own directory in the place of another user's."""
    done = run_python(
        """
        import os, socket, sys
        from orc.pure import endpoints
        path = sys.argv[1] + "/0000000000000007"
        listener = socket.socket(socket.AF_UNIX)
        os.chmod(os.path.dirname(sys.argv[1]), 0o777)
        os.chmod(os.path.dirname(os.path.dirname(sys.argv[1])), 0o755)
        if os.fork() == 0:
            os.setresuid(4711, 4711, 4711)
            os.mkdir(sys.argv[1])
            listener.bind(path)
            listener.listen()
            os._exit(0)
        os.wait()
        peer = socket.socket(socket.AF_UNIX)
        peer.connect(path)
        print(endpoints.may_publish_at(peer, path))
        """,
        str(run_dir / "orc" / name),
    )
    assert done.stdout == f"{believed}\n"


@pytest.mark.skipif(os.geteuid() != 0, reason="needs root to be another user")
def test_another_users_directory_of_our_name_keeps_no_one_from_publishing(run_dir: pathlib.Path) -> None:
    os.chmod(run_dir / "orc", 0o3770)
    (run_dir / "orc" / "0").mkdir()
    os.chown(run_dir / "orc" / "0", 4711, 4711)
    first, second = (endpoints.socket_directory(f"ipc://{run_dir}/orc/broker") for _ in range(2))
    assert first == second and first is not None
    assert re.fullmatch("0-[0-9a-f]{8}", first.name)


@pytest.mark.skipif(os.geteuid() != 0, reason="needs root to be another user")
def test_publications_do_not_listen_in_another_users_directory(
    run_dir: pathlib.Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    os.chown(run_dir / "orc", 4711, 4711)
    monkeypatch.setattr(endpoints, "_SYSTEM", str(run_dir / "nothing" / "here"))
    found = endpoints.socket_directory("tcp://127.0.0.1:5570")
    assert found is None or run_dir not in found.parents


# ---- where publications are looked for ----


def state(address: str, publication: messages.Id, transport: int = 2) -> messages.TopicState:
    endpoints = [messages.Endpoint(transport, address)]
    found = messages.Publication(publication, messages.Id(1, 1), "", "h", 1, endpoints, None, None, 0)
    return messages.TopicState("t", found, [], 0)


@pytest.mark.parametrize(
    "path",
    [
        "{d}/other",
        "{d}/orc/{uid}/0000000000000008",
        "{d}/elsewhere/{uid}/0000000000000007",
        "{d}/orc/x/0000000000000007",
        "{d}/orc/../orc/{uid}/0000000000000007",
        "{d}/orc/{uid}/../{uid}/0000000000000007",
    ],
)
def test_only_sockets_of_publications_are_connected_to(endpoint: str, run_dir: pathlib.Path, path: str) -> None:
    """A publisher could name any socket of the host: the subscriber connected, and reported what it found."""
    where = pathlib.Path(path.format(d=run_dir, uid=os.geteuid()))
    for directory in (where.parent, run_dir / "orc" / str(os.geteuid())):
        directory.mkdir(parents=True, exist_ok=True)
    with socket.socket(socket.AF_UNIX) as listener, FakeBroker(endpoint) as fake:
        listener.bind(os.path.normpath(where))
        listener.listen()
        listener.settimeout(0.3)
        with orc.Participant(log=lambda *_: None) as participant:
            subscriber = participant.request_topic("t")
            fake.push(state(f"ipc://{where}", messages.Id(7, 7)))
            wait_until(lambda: "no run directory" in subscriber.link.reason)
            with pytest.raises(TimeoutError):
                listener.accept()


def test_the_broker_learns_no_more_than_that_a_transport_does_not_reach(endpoint: str, run_dir: pathlib.Path) -> None:
    def reason(address: str, fake: FakeBroker) -> str:
        fake.push(messages.TopicState("t", None, [], 0))
        fake.push(state(address, messages.Id(7, 7)))
        while True:
            for counters in fake.next(messages.Heartbeat).subscriptions:
                if "reachable" in counters.reason:
                    return str(counters.reason)

    own = run_dir / "orc" / str(os.geteuid())
    own.mkdir()
    with FakeBroker(endpoint) as fake, orc.Participant(log=lambda *_: None) as participant:
        participant.request_topic("t")
        missing = reason(f"ipc://{own}/0000000000000007", fake)
        elsewhere = reason("ipc:///etc/passwd", fake)
        (own / "0000000000000007").touch()
        no_socket = reason(f"ipc://{own}/0000000000000007", fake)
    assert {missing, elsewhere, no_socket} == {"ipc: not reachable"}


def test_endpoints_that_change_without_end_are_followed_now_and_then(endpoint: str) -> None:
    """4,000 a second made a subscriber open as many connections, to any address."""
    accepted = 0
    with socket.socket() as listener, FakeBroker(endpoint) as fake:
        listener.bind(("127.0.0.1", 0))
        listener.listen(4096)
        listener.settimeout(0.05)
        address = f"tcp://127.0.0.1:{listener.getsockname()[1]}"
        with orc.Participant(log=lambda *_: None) as participant:
            participant.request_topic("t")
            since = time.monotonic()
            number = 1
            while time.monotonic() - since < 3:
                for _ in range(100):
                    number += 1
                    fake.push(state(address, messages.Id(number, 1), transport=3))
                try:
                    while True:
                        listener.accept()[0].close()
                        accepted += 1
                except TimeoutError:
                    pass
            seconds = time.monotonic() - since
    assert 0 < accepted <= 3 * (10 + seconds), f"{number} changes made {accepted} connections"


def test_the_newest_of_many_changes_is_reached(broker: BrokerProcess) -> None:
    with orc.Participant(log=lambda *_: None) as one, orc.Participant(log=lambda *_: None) as two:
        subscriber = two.request_topic("t")
        for _ in range(20):
            one.register_topic("t").send_msg(b"x")
            one.unregister_topic("t")
        one.register_topic("t").send_msg(b"the last")
        wait_until(lambda: (message := subscriber.recv_msg(1000)) is not None and bytes(message) == b"the last")


def test_a_name_that_was_lost_is_asked_for_until_it_is_free(endpoint: str) -> None:
    """As after a broker restart, or when another host has the name: nobody waits for the answer."""
    log: Log = []
    with FakeBroker(endpoint) as fake, orc.Participant(log=lambda *entry: log.append(entry)) as participant:
        participant.register_topic("t")
        fake.answer = lambda body: (
            messages.Error(4, "robot has it") if isinstance(body, messages.RegisterTopic) else fake.agree(body)
        )
        fake.push(messages.Welcome(2, 3000, 1000, False, "another"))
        for _ in range(4):  # the first one was granted
            fake.next(messages.RegisterTopic)
        assert sum("robot has it" in text for _, text in log) == 1
        with pytest.raises(orc.NameTaken):
            participant.register_topic("t")
        fake.answer = fake.agree
        participant.register_topic("t")
