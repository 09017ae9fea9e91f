"""The two ends of a round trip, over ORC and over pyzmq written by hand."""

from __future__ import annotations

from typing import Any, Protocol

from support.round_trips import LARGE


class End(Protocol):
    def send(self, data: Any) -> None: ...

    def receive(self) -> Any:
        """What came, with the buffer protocol; raises TimeoutError when nothing comes."""

    def close(self) -> None: ...


class OrcEnd:
    """Two topics of ORC, by the backend that `module` is."""

    def __init__(self, module: Any, transport: str, out: str, into: str, size: int, timeout_ms: int) -> None:
        self._broker = module.Participant(name=f"python_rtt {out}", transports=transport)
        reserve = {"expected_size": size} if transport == "shm" else {}
        self._publisher = self._broker.register_topic(out, **reserve)
        self._subscriber = self._broker.request_topic(into)
        self._timeout_ms = timeout_ms
        self.send = self._publisher.send_msg

    def wait_for_peer(self) -> None:
        if not self._subscriber.wait_connected(self._timeout_ms):
            raise TimeoutError(f"no link: {self._subscriber.link.reason}")

    def receive(self) -> Any:
        message = self._subscriber.recv_msg(self._timeout_ms)
        if message is None:
            raise TimeoutError("nothing came back")
        return message

    def send_in_place(self, mark: bytes, size: int) -> None:
        """A sample that is made where the subscriber will read it; only its first bytes are written."""
        with self._publisher.loan(size) as memory:
            memory[: len(mark)] = mark

    def close(self) -> None:
        self._broker.close()


class PyzmqEnd:
    """A pair of pyzmq sockets, which has less to do than PUB and SUB."""

    def __init__(self, endpoint: str, serves: bool, size: int, timeout_ms: int) -> None:
        import zmq

        self._small = size < LARGE
        self._again = zmq.Again
        self._context = zmq.Context()
        self._socket = self._context.socket(zmq.PAIR)
        self._socket.setsockopt(zmq.LINGER, 1000)
        self._socket.setsockopt(zmq.RCVTIMEO, timeout_ms)
        if serves:
            self._socket.bind(endpoint)
        else:
            self._socket.connect(endpoint)

    def wait_for_peer(self) -> None:
        """libzmq keeps what is sent until the other end is there."""

    def send(self, data: Any) -> None:
        self._socket.send(data, copy=self._small)

    def receive(self) -> Any:
        try:
            if self._small:
                return self._socket.recv()
            return self._socket.recv(copy=False).buffer
        except self._again:
            raise TimeoutError("nothing came back") from None

    def close(self) -> None:
        self._socket.close()
        self._context.term()
