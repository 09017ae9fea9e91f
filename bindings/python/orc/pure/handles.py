"""The handles of topics (liborc/include/orc/publisher.h, subscriber.h)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Generic, List, Optional, Union, overload

from .. import _errors as errors
from .._typed import Typed
from .._typed.loan import TypedLoan
from .._typed.variables import T, T_co
from .._types import LinkInfo, PublisherInfo, link_text
from .._waiting import Waiting
from . import options
from .core import Owner
from .message import Loan, Message
from .patience import wait_for
from .publication import Publication
from .subscription import Subscription

if TYPE_CHECKING:
    from typing_extensions import Buffer

_MAX_SAMPLE_BYTES = (1 << 30) - 16


class Publisher(Generic[T]):
    """The sending end of a topic. Any thread may make any call. Calls raise Closed after unregister_topic or close."""

    def __init__(self, owner: Owner, publication: Publication, codec: Optional[Typed[Any]]) -> None:
        self._owner = owner
        self._publication = publication
        self._codec = codec

    @property
    def topic(self) -> str:
        return self._publication.topic

    def send_msg(self, data: Any) -> None:
        """Sends one sample to every subscriber and returns. Never waits. `data`: any C-contiguous buffer.

        Keeps the sample for subscribers that join later, unless keep_last is False. Raises TypeError (no buffer),
        BufferError (not contiguous), BadArgument (larger than 1 GiB less 16 bytes), Closed, Forked.
        """
        payload = options.payload(data)
        _check_size(payload.nbytes)
        self._usable()
        self._publication.publish(payload)

    def send(self, value: Union[T, Buffer]) -> None:
        """Sends a value of the type that register_topic was given, or bytes, as send_msg does.

        Also raises BadSample (no value of that type).
        """
        self.send_msg(value if self._codec is None else self._codec.encode(value))

    @overload
    def loan(self, size: int) -> Loan: ...
    @overload
    def loan(self) -> TypedLoan[T]: ...
    def loan(self, size: Optional[int] = None) -> Union[Loan, TypedLoan[T]]:
        """`with publisher.loan(size) as memory:` gives `size` writable bytes. Leaving sends them, an exception not.

        Without a size it is a value of the topic's type, which is a struct: `with publisher.loan() as state:`. Raises
        BadArgument (too large, or another type), Closed, Forked.
        """
        if size is not None:
            return self._bytes_loan(size)
        if self._codec is None:
            raise errors.BadArgument(f"topic {self.topic} has no type: say how many bytes, loan(size)")
        return TypedLoan(self._codec, self._bytes_loan(self._codec.memory_size()))

    def _bytes_loan(self, size: int) -> Loan:
        _check_size(options.number("size", size, 0, 2**63 - 1))
        self._usable()
        if self._publication.closed:
            raise errors.Closed()
        return Loan(size, self._send_filled)

    def _send_filled(self, frame: bytearray) -> None:
        self._usable()
        self._publication.publish_filled(frame)

    def _usable(self) -> None:
        if self._owner.core.forked:
            raise errors.Forked()

    @property
    def readers(self) -> int:
        """How many links are up. A killed subscriber counts until its connection is seen to be gone."""
        return self._publication.readers

    def wait_readers(self, count: int, timeout_ms: int) -> bool:
        """Waits until at least `count` links are up, at most timeout_ms (-1: for ever). Returns False when fewer came
        up. Raises Closed, Forked, BadArgument (timeout_ms below -1).
        """
        count = options.number("count", count, 0, 2**63 - 1)
        timeout_ms = options.milliseconds("timeout_ms", timeout_ms)
        self._usable()
        publication = self._publication
        with publication.joined:
            seconds = None if timeout_ms < 0 else timeout_ms / 1000
            wait_for(publication.joined, lambda: publication.closed or publication.readers >= count, seconds)
            if publication.closed:
                raise errors.Closed()
            return publication.readers >= count

    def __repr__(self) -> str:
        readers = self.readers
        return f"<orc.Publisher {self.topic!r}, {readers} reader{'' if readers == 1 else 's'}>"


class Subscriber(Waiting["Message[Any]"], Generic[T_co]):
    """The receiving end of a topic. Any thread may make any call. When several threads wait, each sample goes to one.

    Calls raise Closed after release_topic or close. On asyncio: `await subscriber.recv()`, `async for message in
    subscriber`.
    """

    def __init__(self, owner: Owner, subscription: Subscription, codec: Optional[Typed[Any]]) -> None:
        self._owner = owner
        self._subscription = subscription
        self._codec = codec
        self._arrivals = subscription.arrivals

    @property
    def topic(self) -> str:
        return self._subscription.topic

    def recv_msg(self, timeout_ms: int) -> Optional[Message[T_co]]:
        """Returns the newest sample that was not returned yet (conflate=0: the next one), or None.

        Waits for it at most `timeout_ms`; 0 polls, -1 waits for ever. Never returns an older sample after a newer one.
        Ctrl-C ends the wait. Raises Closed, Forked, BadArgument (timeout_ms below -1), OverflowError.
        """
        timeout_ms = options.milliseconds("timeout_ms", timeout_ms)
        self._usable()
        return self._subscription.receive(timeout_ms, self._codec)

    def recv_next(self, timeout_ms: int) -> Optional[Message[T_co]]:
        """Same as recv_msg: over ipc and tcp, with conflate=1, only the newest sample is there."""
        return self.recv_msg(timeout_ms)

    @property
    def connected(self) -> bool:
        """True while a link is up: the publication exists, its identity was checked, and samples flow."""
        return self.link.connected

    @property
    def link(self) -> LinkInfo:
        """The link to the publication, as it is now."""
        return self._subscription.link

    @property
    def publishers(self) -> List[PublisherInfo]:
        """The publishers of a shared topic, as the broker names them. Empty for other topics."""
        return self._subscription.publishers

    def publisher_of(self, message: Message[Any]) -> PublisherInfo:
        """Returns the publisher of a message of this subscription. The last 64 that are gone are remembered.

        All fields are empty for others, and for a message of a topic that is not shared.
        """
        return self._subscription.publisher(message.publisher)

    def wait_connected(self, timeout_ms: int) -> bool:
        """Waits until a link is up, at most `timeout_ms` (-1: for ever). Returns False when none came up.

        Raises TypeMismatch, Closed, Forked, BadArgument (timeout_ms below -1).
        """
        timeout_ms = options.milliseconds("timeout_ms", timeout_ms)
        self._usable()
        return self._subscription.wait_connected(timeout_ms)

    def fileno(self) -> int:
        """Returns a descriptor for poll, epoll or asyncio that is readable when recv_msg(0) may return a sample.

        When it is readable, call recv_msg(0) until it returns None. Do not read, write or close it. It also becomes
        readable when the subscription ends. After that, this call raises Closed.
        """
        self._usable()
        return self._subscription.fileno()

    def __repr__(self) -> str:
        return f"<orc.Subscriber {self.topic!r}, {link_text(self.link)}>"

    def _usable(self) -> None:
        if self._owner.core.forked:
            raise errors.Forked()


def _check_size(size: int) -> None:
    if size > _MAX_SAMPLE_BYTES:
        raise errors.BadArgument(f"a sample of {size} bytes; orc.pure takes at most {_MAX_SAMPLE_BYTES}")
