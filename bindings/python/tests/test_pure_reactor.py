"""The I/O thread of the pure backend: what is posted is done, whatever happens in between."""

from __future__ import annotations

import socket
import threading
from typing import Any, Callable, Iterator, List

import pytest

from orc.pure.reactor import Reactor


@pytest.fixture
def running() -> Iterator[Reactor]:
    """Without timers: only the bell wakes it."""
    made = Reactor("test", lambda level, text: None)
    yield made
    made.stop(20)


def done_soon(running: Reactor) -> bool:
    done = threading.Event()
    running.post(done.set)
    return done.wait(20)


def interpose(monkeypatch: pytest.MonkeyPatch, name: str, before: Callable[[], object]) -> None:
    """Has `before` run just before the next socket's `name`, once."""
    real, waiting = getattr(socket.socket, name), [before]

    def call(*arguments: Any) -> Any:
        if waiting:
            waiting.pop()()
        return real(*arguments)

    monkeypatch.setattr(socket.socket, name, call)


def test_the_bell_is_not_lost_to_a_post_while_it_is_quietened(
    running: Reactor, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Its byte was read after the flag that keeps others from ringing was cleared, and set again: silent for good."""
    done = threading.Event()
    interpose(monkeypatch, "recv", lambda: running.post(done.set))
    assert done_soon(running) and done.wait(20)
    assert done_soon(running), "rings again"


def test_the_bell_outlives_an_exception_while_it_is_rung(running: Reactor, monkeypatch: pytest.MonkeyPatch) -> None:
    """Ctrl-C between the flag and the byte."""
    assert done_soon(running)

    def interrupted() -> None:
        raise KeyboardInterrupt

    interpose(monkeypatch, "send", interrupted)
    done = threading.Event()
    while True:
        try:
            running.post(done.set)
        except KeyboardInterrupt:
            break
        assert done.wait(20)
    assert done_soon(running) and done.wait(20)


def test_the_bell_of_many_threads(running: Reactor) -> None:
    """Without a timer each of them waits for its own work, again and again."""
    served: List[bool] = []

    def post() -> None:
        served.append(all(done_soon(running) for _ in range(500)))

    threads = [threading.Thread(target=post) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(60)
    assert served == [True] * 4
