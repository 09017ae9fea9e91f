"""The last samples of a subscription: which one was the newest at a time, values between samples, averages.

For both backends. Needs numpy for fields only.
"""

from __future__ import annotations

import json
import re
from bisect import bisect_left, bisect_right
from typing import TYPE_CHECKING, Any, Callable, Dict, Generic, Iterator, List, Optional, Protocol, Tuple, Union

from ._errors import BadArgument
from ._typed import Typed
from ._typed.variables import T_co

if TYPE_CHECKING:
    import numpy
    from numpy.typing import ArrayLike, NDArray

Field = Union[str, Callable[[Any], "ArrayLike"]]

_NAME = re.compile(r"\.?([^.\[\]]+)|\[(\d+)\]")


class _Message(Protocol[T_co]):
    @property
    def sequence(self) -> int: ...
    @property
    def stamp_ns(self) -> int: ...
    @property
    def missed(self) -> int: ...
    @property
    def publisher(self) -> int: ...
    def __bytes__(self) -> bytes: ...
    def release(self) -> None: ...


class _Subscriber(Protocol[T_co]):
    @property
    def _codec(self) -> Optional[Typed[Any]]: ...
    def recv_msg(self, timeout_ms: int) -> Optional[_Message[T_co]]: ...


class PastSample(Generic[T_co]):
    """A sample that a History keeps: a copy of its bytes."""

    __slots__ = {
        "_codec": None,
        "data": "The bytes.",
        "missed": "Samples of the same publication that were skipped before this one.",
        "publisher": "Message.publisher: of a shared topic, whose it is.",
        "sequence": "Counts the samples of one publication, from 1.",
        "stamp_ns": "When the sample was sent: ns since the Unix epoch, on the sending host's CLOCK_REALTIME.",
    }

    def __init__(self, data: bytes, sequence: int, stamp_ns: int, missed: int, publisher: int, codec: Any) -> None:
        self.data = data
        self.sequence = sequence
        self.stamp_ns = stamp_ns
        self.missed = missed
        self.publisher = publisher
        self._codec = codec

    def __bytes__(self) -> bytes:
        return self.data

    def __len__(self) -> int:
        return len(self.data)

    def __bool__(self) -> bool:
        return True

    def value(self) -> T_co:
        """The sample as a value of the type that request_topic was given; without a type: as bytes.

        Raises BadSample if the bytes are no sample of that type.
        """
        decoded: Any = self.data if self._codec is None else self._codec.decode(self.data)
        value: T_co = decoded
        return value

    def __repr__(self) -> str:
        return f"<orc.PastSample sequence={self.sequence}, {len(self.data)} bytes, stamp_ns={self.stamp_ns}>"


class History(Generic[T_co]):
    """Receives the samples of a subscription and keeps the last ones (liborc/include/orc/history.h).

        state = participant.request_topic("arm/state", type=State, conflate=0, depth=1000)
        arm = orc.History(state, samples=10_000, seconds=10)
        while (sample := arm.recv(100)) is not None:
            q = arm.interpolate("q", image.stamp_ns, "cubic")

    samples: at most so many; the oldest go first.
    seconds: and none that was sent more than this before the newest one; 0: any age.
    max_bytes: of all their bytes together; a larger sample is not kept.

    It keeps what it receives. So request the topic with conflate=0, and with a depth that holds the samples between two
    calls of recv. A sample that was sent before the newest kept one of its publisher begins a new history. One thread
    at a time.

    Times are stamps: ns since the Unix epoch, on the publisher's clock. A `field` is a path such as "q", "q[3]" or
    "arm.pose.x", or a function that takes a value and returns a number or an array.
    """

    def __init__(
        self, subscriber: _Subscriber[T_co], *, samples: int = 1000, seconds: float = 0.0, max_bytes: int = 64 << 20
    ) -> None:
        if samples < 1 or seconds < 0 or max_bytes < 0:
            raise BadArgument("History: samples is at least 1, seconds and max_bytes are not negative")
        self.subscriber = subscriber
        self._limit = samples
        self._age_ns = round(seconds * 1e9)
        self._max_bytes = max_bytes
        # The kept samples begin at _first: a list drops its front slowly, so that happens for many at once.
        self._samples: List[PastSample[T_co]] = []
        self._stamps: List[int] = []
        self._first = 0
        self._bytes = 0
        self._rotations: Dict[str, bool] = {}

    # ---- receiving ----

    def recv(self, timeout_ms: int) -> Optional[PastSample[T_co]]:
        """Receives all samples that have arrived, keeps them, and returns the newest. None: nothing came in time.

        Raises what recv_msg raises.
        """
        newest = self.recv_next(timeout_ms)
        for _ in range(self._limit - 1):
            if newest is None:
                break
            following = self.recv_next(0)
            if following is None:
                break
            newest = following
        return newest

    def recv_next(self, timeout_ms: int) -> Optional[PastSample[T_co]]:
        """Receives one sample, the next one in order, keeps it and returns it. Otherwise as recv."""
        message = self.subscriber.recv_msg(timeout_ms)
        if message is None:
            return None
        sample: PastSample[T_co] = PastSample(
            bytes(message),
            message.sequence,
            message.stamp_ns,
            message.missed,
            message.publisher,
            self.subscriber._codec,
        )
        message.release()
        self._keep(sample)
        return sample

    def _keep(self, sample: PastSample[T_co]) -> None:
        if len(sample.data) > self._max_bytes:
            return
        later = len(self._stamps)
        if len(self) and sample.stamp_ns < self._stamps[-1]:
            later = bisect_right(self._stamps, sample.stamp_ns, self._first)
            # Samples of several publishers arrive out of order, but those of one do not.
            if sample.publisher == 0 or any(s.publisher == sample.publisher for s in self._samples[later:]):
                self.clear()
                later = 0
        self._samples.insert(later, sample)
        self._stamps.insert(later, sample.stamp_ns)
        self._bytes += len(sample.data)
        oldest = self._stamps[-1] - self._age_ns if self._age_ns else self._stamps[self._first]
        while len(self) > self._limit or self._bytes > self._max_bytes or self._stamps[self._first] < oldest:
            self._bytes -= len(self._samples[self._first].data)
            self._first += 1
        if self._first > 64 and self._first * 2 > len(self._stamps):
            del self._samples[: self._first], self._stamps[: self._first]
            self._first = 0

    def clear(self) -> None:
        """Forgets all samples."""
        self._samples.clear()
        self._stamps.clear()
        self._first = self._bytes = 0

    # ---- samples ----

    def __len__(self) -> int:
        return len(self._stamps) - self._first

    def __iter__(self) -> Iterator[PastSample[T_co]]:
        return iter(self._samples[self._first :])

    @property
    def newest(self) -> Optional[PastSample[T_co]]:
        """The newest kept sample."""
        return self._samples[-1] if len(self) else None

    @property
    def oldest(self) -> Optional[PastSample[T_co]]:
        """The oldest kept sample."""
        return self._samples[self._first] if len(self) else None

    def at(self, stamp_ns: int) -> Optional[PastSample[T_co]]:
        """Returns the sample that was the newest one at this time. None: all kept samples were sent later."""
        later = bisect_right(self._stamps, stamp_ns, self._first)
        return self._samples[later - 1] if later > self._first else None

    def between(self, from_ns: int, to_ns: int) -> List[PastSample[T_co]]:
        """Returns the samples that were sent from `from_ns` to `to_ns`, both included."""
        first, end = self._range(from_ns, to_ns)
        return self._samples[first:end]

    def _range(self, from_ns: int, to_ns: int) -> Tuple[int, int]:
        return bisect_left(self._stamps, from_ns, self._first), bisect_right(self._stamps, to_ns, self._first)

    # ---- fields ----

    def stamps_ns(self) -> NDArray[numpy.int64]:
        """Returns the stamps of all kept samples."""
        import numpy

        return numpy.array(self._stamps[self._first :], numpy.int64)

    def values(self, field: Field) -> NDArray[numpy.float64]:
        """Returns the field of all kept samples: one row for each."""
        return self._read(range(self._first, len(self._stamps)), field)

    def interpolate(self, field: Field, stamp_ns: int, kind: str = "linear") -> Any:
        """Returns the field between two samples: a number, or an array of the field's shape.

        kind: how the value is found.

        - "nearest": that of the sample that is nearest in time; of two equally near, the earlier one.
        - "linear": on the straight line between the two samples.
        - "cubic": on a cubic Hermite spline, with the slopes of numpy.gradient.
        - "slerp": a rotation of four numbers, on the shorter arc, with length 1. A field of a struct with the unit
          "quaternion" is one, and "linear" and "cubic" then mean "slerp".

        Returns None for times before the oldest sample and after the newest one. Raises BadSample for a sample of
        another type, and BadArgument for a field that the samples do not have.
        """
        if kind not in ("nearest", "linear", "cubic", "slerp"):
            raise BadArgument(f"kind is nearest, linear, cubic or slerp, not {kind!r}")
        later = bisect_right(self._stamps, stamp_ns, self._first)
        if later == self._first or (later == len(self._stamps) and self._stamps[-1] != stamp_ns):
            return None
        if kind in ("linear", "cubic") and isinstance(field, str) and self._is_rotation(field):
            kind = "slerp"
        before = later - 1
        exact = self._stamps[before] == stamp_ns
        if kind == "nearest" or (exact and kind != "slerp"):
            if not exact and self._stamps[later] - stamp_ns < stamp_ns - self._stamps[before]:
                before = later
            return _plain(self._read([before], field)[0])
        if exact:
            later = before
        if kind == "cubic":
            return _plain(self._on_spline(field, stamp_ns, before, later))
        one, other = self._read([before, later], field)
        step = self._stamps[later] - self._stamps[before]
        part = (stamp_ns - self._stamps[before]) / step if step else 0.0
        return _on_arc(one, other, part) if kind == "slerp" else _plain(one + part * (other - one))

    def mean(self, field: Field, from_ns: int, to_ns: int) -> Any:
        """Returns the mean over the samples sent from `from_ns` to `to_ns`, both included. None: there are none."""
        first, end = self._range(from_ns, to_ns)
        return _plain(self._read(range(first, end), field).mean(axis=0)) if first < end else None

    def moving_average(self, field: Field, seconds: float) -> Any:
        """Returns the mean over the last seconds before the newest sample, which counts too. None: there are none."""
        if not len(self):
            return None
        return self.mean(field, self._stamps[-1] - round(seconds * 1e9), self._stamps[-1])

    def _on_spline(self, field: Field, stamp_ns: int, before: int, later: int) -> Any:
        import numpy

        # Samples with the same stamp are no step.
        first = bisect_left(self._stamps, self._stamps[before], self._first) - 1
        last = bisect_right(self._stamps, self._stamps[later], self._first)
        around = [each for each in (first, before, later, last) if self._first <= each < len(self._stamps)]
        values = self._read(around, field)
        x = numpy.array([self._stamps[each] - self._stamps[before] for each in around], float)
        slopes = numpy.gradient(values, x, axis=0)
        i = around.index(before)
        step = x[i + 1]
        s = (stamp_ns - self._stamps[before]) / step
        left = 1 - s
        return (
            (1 + 2 * s) * left * left * values[i]
            + s * left * left * step * slopes[i]
            + s * s * (3 - 2 * s) * values[i + 1]
            - s * s * left * step * slopes[i + 1]
        )

    def _read(self, indexes: Any, field: Field) -> NDArray[numpy.float64]:
        import numpy

        read = _path(field) if isinstance(field, str) else field
        return numpy.array([read(self._samples[each].value()) for each in indexes], numpy.float64)

    def _is_rotation(self, field: str) -> bool:
        known = self._rotations.get(field)
        if known is None:
            codec = self.subscriber._codec
            known = codec is not None and _unit_of(field, codec) == "quaternion"
            self._rotations[field] = known
        return known


def _parts(field: str) -> List[Union[str, int]]:
    parts: List[Union[str, int]] = []
    end = 0
    for found in _NAME.finditer(field):
        if found.start() != end:
            break
        parts.append(found[1] if found[2] is None else int(found[2]))
        end = found.end()
    if end != len(field) or not parts:
        raise BadArgument(f"{field!r} is no path of a field, such as arm.q[3]")
    return parts


def _path(field: str) -> Callable[[Any], Any]:
    parts = _parts(field)

    def read(value: Any) -> Any:
        for part in parts:
            try:
                if isinstance(part, int) or isinstance(value, dict) or _has_names(value):
                    value = value[part]
                else:
                    value = getattr(value, part)
                    value = value() if callable(value) else value
            except (AttributeError, LookupError, TypeError, ValueError):
                raise BadArgument(f"the sample has no field {field!r}") from None
        return value

    return read


def _has_names(value: Any) -> bool:
    return bool(getattr(getattr(value, "dtype", None), "names", None))


def _unit_of(field: str, codec: Typed[Any]) -> str:
    if codec.description.schema_encoding != "struct":
        return ""
    found: Any = json.loads(codec.description.schema)
    for part in _parts(field):
        if isinstance(part, int):
            return ""
        fields = found.get("fields", found.get("type", {}).get("fields", [])) if isinstance(found, dict) else []
        found = next((each for each in fields if each["name"] == part), {})
    return str(found.get("unit", "")) if found.get("shape") == [4] else ""


def _on_arc(one: Any, other: Any, part: float) -> Any:
    import numpy

    if one.shape != (4,):
        raise BadArgument("a rotation has four numbers")
    lengths = numpy.linalg.norm(one), numpy.linalg.norm(other)
    if not all(length > 0 and numpy.isfinite(length) for length in lengths):
        return None
    one, other = one / lengths[0], other / lengths[1]
    if one @ other < 0:
        other = -other
    angle = 2 * numpy.arctan2(numpy.linalg.norm(other - one), numpy.linalg.norm(other + one))
    sine = numpy.sin(angle)
    if sine <= 1e-12:
        return (1 - part) * one + part * other
    return (numpy.sin((1 - part) * angle) * one + numpy.sin(part * angle) * other) / sine


def _plain(found: Any) -> Any:
    return float(found) if found.ndim == 0 else found
