"""The control plane from outside: questions to a real broker, and a broker that answers what a test wants."""

from __future__ import annotations

import queue
import threading
from typing import Any, Callable, List, Optional

import zmq

from orc.pure import messages, wire

Answer = Callable[[messages.Body], Optional[messages.Body]]


def ask(endpoint: str, body: messages.Body) -> messages.Body:
    """The answer to one request, without a Hello."""
    with zmq.Context() as context, context.socket(zmq.DEALER) as socket:
        socket.linger = 0
        socket.connect(endpoint)
        socket.send(wire.encode(messages.Envelope(1, body)))
        assert socket.poll(20_000), "no answer"
        return wire.decode(socket.recv()).body


class FakeBroker:
    """Answers each request with what `answer` makes of it, None: nothing; and keeps what it was sent, in order.

    `welcome`, `ack` and `state` are what a broker says that agrees. `epoch` is that of its welcomes.
    """

    def __init__(self, endpoint: str, answer: Optional[Answer] = None, epoch: int = 1) -> None:
        self.answer: Answer = answer or self.agree
        self.epoch = epoch
        self.told: "queue.Queue[messages.Body]" = queue.Queue()
        self._posted: "queue.Queue[List[bytes]]" = queue.Queue()
        self._context = zmq.Context()
        self._socket = self._context.socket(zmq.ROUTER)
        self._socket.linger = 0
        self._socket.bind(endpoint)
        self._peers: List[bytes] = []
        self._ending = False
        self._thread = threading.Thread(target=self._serve, daemon=True)
        self._thread.start()

    def agree(self, body: messages.Body) -> Optional[messages.Body]:
        if isinstance(body, messages.Hello):
            return messages.Welcome(self.epoch, 3000, 1000, False, "fake")
        if isinstance(body, (messages.RegisterTopic, messages.RequestTopic)):
            return messages.TopicState(body.topic, None, [], 0)
        return messages.Ack()

    def push(self, body: messages.Body) -> None:
        """To all that have connected."""
        self.push_bytes(wire.encode(messages.Envelope(0, body)))

    def push_bytes(self, *frames: bytes) -> None:
        """A message of these frames, to all."""
        self._posted.put(list(frames))

    def next(self, kind: Any) -> Any:
        """The next message of this kind; what came before it is dropped."""
        while True:
            body = self.told.get(timeout=20)
            if isinstance(body, kind):
                return body

    def close(self) -> None:
        self._ending = True
        self._thread.join(20)
        self._context.destroy(0)

    def __enter__(self) -> FakeBroker:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def _serve(self) -> None:
        while not self._ending:
            while not self._posted.empty():
                frames = self._posted.get()
                for peer in self._peers:
                    self._socket.send_multipart([peer, *frames])
            if not self._socket.poll(5):
                continue
            peer, frame = self._socket.recv_multipart()
            if peer not in self._peers:
                self._peers.append(peer)
            if not frame:
                self._say(peer, messages.Envelope(0, messages.Welcome(self.epoch, 3000, 1000, False, "fake")))
                continue
            envelope = wire.decode(frame)
            self.told.put(envelope.body)
            answer = self.answer(envelope.body)
            if answer is not None:
                self._say(peer, messages.Envelope(envelope.request, answer))

    def _say(self, peer: bytes, envelope: messages.Envelope) -> None:
        self._socket.send_multipart([peer, wire.encode(envelope)])
