"""What is special about the pure backend: how it is imported, what it leaves on the machine, where it listens, fork."""

from __future__ import annotations

import gc
import json
import os
import pathlib
import signal
import socket
import stat
import subprocess
import threading
from typing import Any, Dict, List

import pytest

import orc.pure as orc
from support import BrokerProcess, environment, free_tcp_endpoint, run_python, start_python, wait_until


def endpoints(bin_dir: pathlib.Path, topic: str, **changes: str) -> List[Dict[str, str]]:
    done = subprocess.run(
        [bin_dir / "orc", "topic", "info", topic, "--json"],
        env=environment(**changes),
        capture_output=True,
        text=True,
        check=True,
    )
    return list(json.loads(done.stdout)["publisher"]["endpoints"])


def test_it_needs_neither_the_native_extension_nor_another_package() -> None:
    run_python(
        """
        import sys, types
        sys.modules["flatbuffers"] = sys.modules["numpy"] = None
        package = types.ModuleType("orc")
        package.__path__ = [p + "/orc" for p in sys.path if __import__("os").path.isdir(p + "/orc/pure")]
        sys.modules["orc"], sys.modules["orc._native"] = package, None
        import orc.pure
        orc.pure.Participant("ipc:///nowhere").close()
        """
    )


@pytest.mark.parametrize("name", ["inproc", "shm", "multicast"])
def test_other_transports_need_the_native_backend(broker: BrokerProcess, name: str) -> None:
    with orc.Participant() as participant:
        for call in (
            lambda: participant.register_topic("t", transports=name),
            lambda: participant.request_topic("t", transports=["ipc", name]),
            lambda: orc.Participant(transports=name),
        ):
            with pytest.raises(orc.BadArgument, match="needs the native backend"):
                call()
    with pytest.raises(orc.BadArgument, match="needs the native backend"):
        orc.Participant("none")


@pytest.mark.parametrize("endpoint", ["nonsense", "udp://1.2.3.4:5", "tcp://127.0.0.1:notaport"])
def test_a_broker_that_cannot_be(run_dir: pathlib.Path, endpoint: str) -> None:
    with pytest.raises(
        (orc.BadArgument, orc.Refused), match="no endpoint of a broker|a broker's endpoint|write tcp://"
    ):
        with orc.Participant(endpoint, broker_timeout_ms=1000, log=lambda *_: None) as participant:
            participant.register_topic("t")


@pytest.mark.parametrize(
    "endpoint, meant",
    [
        ("10.0.0.2:5570", "tcp://10.0.0.2:5570"),
        ("robot", "tcp://robot:5570"),
        ("tcp://robot", "tcp://robot:5570"),
        ("tcp://::1", r"tcp://\[::1\]:5570"),
        ("tcp://a:5570, b:5570", "tcp://b:5570"),
        ("/run/orc/broker", "ipc:///run/orc/broker"),
    ],
)
def test_a_broker_without_scheme_or_port(monkeypatch: pytest.MonkeyPatch, endpoint: str, meant: str) -> None:
    monkeypatch.setenv("ORC_BROKER", endpoint)
    with pytest.raises(orc.BadArgument, match=f"write {meant}$"):
        orc.Participant()


def test_the_environment_may_name_what_only_others_have(
    broker: BrokerProcess, monkeypatch: pytest.MonkeyPatch, bin_dir: pathlib.Path
) -> None:
    monkeypatch.setenv("ORC_TRANSPORTS", "shm,tcp")
    with orc.Participant() as participant:
        participant.register_topic("t")
        assert [e["transport"] for e in endpoints(bin_dir, "t")] == ["tcp"]


def test_where_it_listens(broker: BrokerProcess, run_dir: pathlib.Path, bin_dir: pathlib.Path) -> None:
    with orc.Participant() as participant:
        participant.register_topic("t")
        (endpoint,) = endpoints(bin_dir, "t")
        directory = run_dir / "orc" / str(os.geteuid())
        assert pathlib.Path(endpoint["address"][len("ipc://") :]).parent == directory
        (file,) = directory.iterdir()
        assert stat.S_IMODE(file.stat().st_mode) == 0o660
        assert stat.S_IMODE(directory.stat().st_mode) == 0o750
    assert list(directory.iterdir()) == [], "nothing is left behind"


def test_dead_sockets_are_swept(broker: BrokerProcess, run_dir: pathlib.Path) -> None:
    directory = run_dir / "orc" / str(os.geteuid())
    directory.mkdir()
    old, young, other = directory / "0123456789abcdef", directory / "fedcba9876543210", directory / "file"
    for path in (old, young):
        with socket.socket(socket.AF_UNIX) as dead:
            dead.bind(str(path))
    other.touch()
    for path in (old, other):
        os.utime(path, (1, 1))
    with orc.Participant() as participant:
        participant.register_topic("t")
    assert set(directory.iterdir()) == {young, other}


@pytest.mark.parametrize("listen", ["127.0.0.1", "0.0.0.0"])
@pytest.mark.parametrize("reached_by", ["ipc", "tcp"])
def test_tcp_is_offered_when_others_can_come(
    bin_dir: pathlib.Path, run_dir: pathlib.Path, monkeypatch: pytest.MonkeyPatch, listen: str, reached_by: str
) -> None:
    tcp = free_tcp_endpoint()
    ipc = f"ipc://{run_dir}/orc/broker"
    process = BrokerProcess(bin_dir, ipc, tcp.replace("127.0.0.1", listen))
    process.start()
    try:
        monkeypatch.setenv("ORC_BROKER", tcp if reached_by == "tcp" else ipc)
        monkeypatch.setenv("ORC_ADVERTISE", "127.0.0.7")
        with orc.Participant() as one, orc.Participant(transports="tcp") as two:
            one.register_topic("t").send_msg(b"hello")
            offered = {e["transport"]: e["address"] for e in endpoints(bin_dir, "t")}
            assert ("tcp" in offered) == (listen == "0.0.0.0" or reached_by == "tcp"), offered
            if "tcp" in offered:
                assert offered["tcp"].startswith(f"tcp://127.0.0.{7 if listen == '0.0.0.0' else 1}:")
                message = two.request_topic("t", connected_within_ms=20_000).recv_msg(20_000)
                assert message is not None and bytes(message) == b"hello"
    finally:
        process.stop()


def test_ipc_is_preferred_and_tcp_used_where_it_is_not_there(
    broker: BrokerProcess, run_dir: pathlib.Path, bin_dir: pathlib.Path
) -> None:
    with orc.Participant() as one, orc.Participant() as two, orc.Participant() as three:
        one.register_topic("t", transports=("tcp", "ipc")).send_msg(b"hello")
        assert two.request_topic("t", connected_within_ms=20_000).link.transport == "ipc"
        for file in (run_dir / "orc" / str(os.geteuid())).iterdir():
            file.unlink()
        subscriber = three.request_topic("t", connected_within_ms=20_000)
        assert subscriber.link.transport == "tcp"
        assert f"ipc {run_dir}/orc/" in subscriber.link.reason
        assert ": its socket is not on this host" in subscriber.link.reason


def test_it_finds_the_users_broker_and_the_one_that_comes_later(
    bin_dir: pathlib.Path, run_dir: pathlib.Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Without ORC_BROKER the run directory is looked at first, as often as nobody answers."""
    monkeypatch.delenv("ORC_BROKER")
    process = BrokerProcess(bin_dir, f"ipc://{run_dir}/orc/broker")
    process.start()
    try:
        with orc.Participant() as participant:
            publisher = participant.register_topic("t")
            assert participant.broker_endpoint == process.endpoint
            process.kill()
            publisher.send_msg(b"x")
            process.start()
            with orc.Participant() as other:
                subscriber = other.request_topic("t", connected_within_ms=20_000)
                assert bytes(subscriber.recv_msg(20_000) or b"") == b"x"
    finally:
        process.stop()


def test_it_goes_back_to_the_first_broker_when_that_answers(bin_dir: pathlib.Path, run_dir: pathlib.Path) -> None:
    first = BrokerProcess(bin_dir, f"ipc://{run_dir}/orc/first")
    second = BrokerProcess(bin_dir, f"ipc://{run_dir}/orc/second")
    second.start()
    try:
        with orc.Participant(f"{first.endpoint},{second.endpoint}") as participant:
            participant.register_topic("t")
            assert participant.broker_endpoint == second.endpoint
            first.start()
            wait_until(lambda: participant.broker_endpoint == first.endpoint)
            with orc.Participant(first.endpoint) as other, orc.Participant(second.endpoint) as left:
                with pytest.raises(orc.NameTaken):
                    other.register_topic("t")
                left.register_topic("t")  # the name is free there
    finally:
        first.stop()
        second.stop()


def test_it_proves_that_it_lives_when_the_broker_asks(broker: BrokerProcess, monkeypatch: pytest.MonkeyPatch) -> None:
    """The broker cannot look up a process of another host: it sends Probe before it gives the name away."""
    with monkeypatch.context() as elsewhere:
        elsewhere.setattr("orc.pure.identity.host_identity", lambda: "another-host:1")
        one = orc.Participant(name="far away")
        one.register_topic("t")
    with one, orc.Participant() as two, pytest.raises(orc.NameTaken, match="far away"):
        two.register_topic("t")


def test_at_rest_it_does_next_to_nothing(broker: BrokerProcess) -> None:
    """Links that are idle, and one whose reader is stopped, keep no thread busy."""
    done = run_python(
        """
        import time, orc.pure as orc
        b, c = orc.Participant(), orc.Participant()
        for n in range(20):
            b.register_topic(f"t{n}").send_msg(b"x")
            c.request_topic(f"t{n}", connected_within_ms=20_000)
        before, deadline = time.process_time(), time.monotonic() + 1
        while time.monotonic() < deadline:
            time.sleep(0.1)
        print(time.process_time() - before)
        """
    )
    assert float(done.stdout) < 0.5, "seconds of processor time in a second of rest"


def test_close_leaves_no_thread_and_no_descriptor(broker: BrokerProcess) -> None:
    def once() -> None:
        with orc.Participant() as participant:
            participant.request_topic("u").fileno()
        with orc.Participant() as participant:
            participant.register_topic("t").send_msg(b"x")
            subscriber = participant.request_topic("t", connected_within_ms=20_000)
            subscriber.fileno()
            assert subscriber.recv_msg(20_000) is not None

    def held() -> int:
        gc.collect()
        return len(os.listdir("/proc/self/fd"))

    once()
    threads, descriptors = threading.active_count(), held()
    for _ in range(5):
        once()
    assert threading.active_count() <= threads
    wait_until(lambda: held() <= descriptors)


def test_a_broker_that_is_dropped_ends(broker: BrokerProcess) -> None:
    publisher = orc.Participant().register_topic("t")
    gc.collect()
    publisher.send_msg(b"its handle keeps it")
    del publisher
    gc.collect()
    with orc.Participant() as participant:
        participant.register_topic("t")


def test_fork(broker: BrokerProcess) -> None:
    """A child's calls raise Forked, its end disturbs nothing, and it can make its own Participant."""
    done = run_python(
        """
        import os, warnings, orc.pure as orc
        warnings.simplefilter("ignore")  # Python 3.12 warns of fork beside threads
        b = orc.Participant()
        p, s = b.register_topic("t"), b.request_topic("t", connected_within_ms=20_000)
        pid = os.fork()
        if pid == 0:
            for call in (lambda: p.send_msg(b""), lambda: s.recv_msg(0), lambda: s.wait_connected(0), s.fileno,
                         lambda: b.register_topic("x"), lambda: b.recv_msg("t", 0), lambda: b.unregister_topic("t")):
                try:
                    call()
                    os._exit(1)
                except orc.Forked as error:
                    assert error.code == "forked"
            b.close()
            with orc.Participant() as own:
                own.register_topic("childs").send_msg(b"x")
                assert own.request_topic("childs", connected_within_ms=20_000).recv_msg(20_000)
            raise SystemExit(0)
        assert os.waitpid(pid, 0)[1] == 0
        for number in range(100):
            p.send_msg(bytes([number]))
            assert bytes(s.recv_msg(20_000)) == bytes([number])
        print("parent goes on")
        """
    )
    assert "parent goes on" in done.stdout
    assert done.stderr == ""


@pytest.mark.parametrize("call", ["s.recv_msg(-1)", "s.wait_connected(-1)", "c.register_topic('y')"])
def test_ctrl_c_ends_a_call(broker: BrokerProcess, call: str) -> None:
    child = start_python(
        """
        import sys, time, orc.pure as orc
        c = orc.Participant("ipc:///nowhere/broker", broker_timeout_ms=-1)
        b = orc.Participant()
        s = b.request_topic("t")
        call = eval("lambda: " + sys.argv[1])
        print("waits", flush=True)
        try:
            call()
        except KeyboardInterrupt:
            print("interrupted", flush=True)
            if sys.argv[1].startswith("s.recv"):
                b.register_topic("t").send_msg(b"still works")
                assert bytes(s.recv_msg(20_000)) == b"still works"
        """,
        call,
    )
    assert child.stdout is not None
    assert child.stdout.readline() == "waits\n"
    wait_until(lambda: sleeping(child.pid))
    child.send_signal(signal.SIGINT)
    out, err = child.communicate(timeout=20)
    assert (out, err, child.returncode) == ("interrupted\n", "", 0)


def sleeping(pid: int) -> bool:
    return pathlib.Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] == "S"


def test_out_of_descriptors_is_an_error(broker: BrokerProcess) -> None:
    done = run_python(
        """
        import os, resource, orc.pure as orc
        b = orc.Participant()
        resource.setrlimit(resource.RLIMIT_NOFILE, (len(os.listdir("/proc/self/fd")) - 1, 4096))
        try:
            orc.Participant()
        except orc.NoDescriptors as error:
            print(error.code)
        """
    )
    assert done.stdout == "no_descriptors\n"


def test_a_stopped_reader_gets_the_newest_when_it_goes_on(broker: BrokerProcess) -> None:
    """Behind: its connection is full while it is stopped; what waits for it does not grow with what is sent."""
    child = start_python(
        """
        import orc.pure as orc
        b = orc.Participant()
        s = b.request_topic("t", connected_within_ms=20_000)
        print("linked", flush=True)
        last = 0
        while last < 400:
            m = s.recv_msg(-1)
            assert m.sequence > last
            last = m.sequence
        print("newest", flush=True)
        """
    )
    try:
        with orc.Participant() as participant:
            publisher = participant.register_topic("t")
            assert child.stdout is not None and child.stdout.readline() == "linked\n"
            wait_until(lambda: publisher.readers == 1)
            child.send_signal(signal.SIGSTOP)
            before = resident_bytes()
            for _ in range(400):
                publisher.send_msg(bytes(1_000_000))
            grown = resident_bytes() - before
            child.send_signal(signal.SIGCONT)
            assert child.stdout.readline() == "newest\n", child.communicate(timeout=20)[1]
            assert grown < 100_000_000, f"{grown} bytes kept for a reader that is stopped"
    finally:
        child.kill()
        child.communicate(timeout=20)


def resident_bytes() -> int:
    return int(pathlib.Path("/proc/self/statm").read_text().split()[1]) * os.sysconf("SC_PAGE_SIZE")


def test_messages_are_read_only_and_end(broker: BrokerProcess) -> None:
    with orc.Participant() as participant:
        publisher = participant.register_topic("t")
        subscriber = participant.request_topic("t", connected_within_ms=20_000)

        def exchange(data: bytes) -> Any:
            publisher.send_msg(data)
            return subscriber.recv_msg(20_000)

        message = exchange(b"hello")
        view = memoryview(message)
        assert view.readonly and view.contiguous and view.tobytes() == b"hello" and view.format == "B"
        message.release()
        assert view.tobytes() == b"hello", "it is a copy"
        message.release()
        for call in (len, bytes, lambda m: m.__enter__()):
            with pytest.raises(ValueError):
                call(message)
        with exchange(b"again") as message:
            assert bytes(message) == b"again"
        with pytest.raises(ValueError):
            len(message)
