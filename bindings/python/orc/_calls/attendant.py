"""The thread of a channel: makes the connection, ends calls at their deadlines, and receives when no other thread does
and something waits. It ends when the service was not called for a while."""

from __future__ import annotations

import math
import threading
import time
from typing import TYPE_CHECKING, Any, Callable, Optional

from .._errors import Closed, Error, SystemFailure
from .._log import logger
from .client_topics import ClientTopics
from .errors import CallErrc, CallError
from .wakeup import Wakeup

if TYPE_CHECKING:
    from .channel import Channel

_UNUSED_AFTER_S = 30.0
_BETWEEN_ATTEMPTS_S = 0.2
_SLICE_S = 0.02


class Attendant:
    def __init__(self, channel: Channel) -> None:
        self._channel = channel
        self.wakeup = Wakeup()
        self.sleeps_until = math.inf
        self.is_running = False
        self._thread: Optional[threading.Thread] = None
        self._setting_up = False

    def start(self) -> None:
        """Starts the thread, unless it runs. Needs the lock."""
        if not self.is_running:
            self._thread = _start(self._run, f"orc call {self._channel.service}")
            self.is_running = True

    def join(self, until: float) -> None:
        thread = self._thread
        if thread is not None and thread is not threading.current_thread():
            thread.join(max(0.0, until - time.monotonic()))

    def _run(self) -> None:
        channel = self._channel
        while True:
            self._connect()
            id = self._attend()
            participant = channel.participant()
            if participant is not None and not channel.stopping:
                channel.topics.withdraw(participant, id)
            del participant
            with channel.lock:
                if channel.stopping:
                    channel.calls.end_all(CallError(CallErrc.closed))
                elif channel.calls.has_unsent or channel.service_waiters:
                    continue
                self.is_running = False
            self._run_callbacks()
            return

    def _connect(self) -> None:
        """Registering may wait long for a broker, so a thread of its own does it: this one ends calls in time."""
        channel = self._channel
        while not channel.stopping and channel.topics.replies is None:
            self._setting_up = True
            try:
                _start(self._set_up, f"orc connect {channel.service}")
            except RuntimeError as error:
                self._finish_set_up(0, None, SystemFailure(str(error)))
            while self._setting_up and not channel.stopping:
                self._rest(math.inf)
            with channel.lock:
                if channel.topics.is_hopeless:
                    why = CallError(CallErrc.bad_argument, str(channel.topics.problem))
                    channel.calls.end_all(why)
            again = time.monotonic() + _BETWEEN_ATTEMPTS_S
            while channel.topics.replies is None and not channel.stopping and time.monotonic() < again:
                self._rest(again)

    def _set_up(self) -> None:
        id = ClientTopics.draw_id()
        participant = self._channel.participant()
        try:
            if participant is None:
                raise Closed()
            self._finish_set_up(id, self._channel.topics.set_up(participant, id), None)
        except Error as error:
            self._finish_set_up(id, None, error)
        except Exception as error:  # else the channel would wait for ever
            self._finish_set_up(id, None, SystemFailure(str(error)))

    def _finish_set_up(self, id: int, made: Any, problem: Optional[Error]) -> None:
        with self._channel.lock:
            if problem is None:
                self._channel.take_topics(id, made)
            else:
                self._channel.topics.fail(problem)
            self._setting_up = False
        self.wakeup.ring()

    def _rest(self, until: float) -> None:
        """Waits until then, a deadline or a ring, and ends what is late."""
        self._look_after()
        with self._channel.lock:
            self.sleeps_until = min(self._channel.calls.next_deadline(), until)
        self._sleep()

    def _attend(self) -> int:
        """Returns the id of the topics when the channel has left the server."""
        channel = self._channel
        while not channel.stopping:
            self._look_after()
            now = time.monotonic()
            with channel.lock:
                unused_at = channel.last_used + _UNUSED_AFTER_S
                if not channel.calls and not channel.service_waiters and now >= unused_at:
                    return channel.leave()
                is_needed = channel.needs_attendant
                next_deadline = channel.calls.next_deadline()
                # A call that is made meanwhile moves the time of the last use.
                self.sleeps_until = min(next_deadline, unused_at if unused_at > now else now + _UNUSED_AFTER_S)
            if is_needed:
                channel.receive(math.ceil(max(0.0, min(next_deadline - now, _SLICE_S)) * 1000))
                channel.hand_over()
            else:
                self._sleep()
        with channel.lock:
            return channel.leave()

    def _look_after(self) -> None:
        self._channel.end_late(time.monotonic())
        self._channel.cancel_dropped()
        self._run_callbacks()

    def _sleep(self) -> None:
        left = self.sleeps_until - time.monotonic()
        self.wakeup.wait(None if math.isinf(left) else left)

    def _run_callbacks(self) -> None:
        due = self._channel.calls.due
        while due:
            run_apart(due.popleft())


def run(callback: Callable[[], object]) -> None:
    """An exception of a callback goes to the log."""
    try:
        callback()
    except Exception:
        logger.exception("callback of a call")


def run_apart(callback: Callable[[], object]) -> None:
    """The same on a thread of ORC, which serves others: SystemExit does not end it, either."""
    try:
        run(callback)
    except BaseException:
        logger.exception("callback of a call")


def _start(work: Callable[[], None], name: str) -> threading.Thread:
    thread = threading.Thread(target=work, name=name, daemon=True)
    thread.start()
    return thread
