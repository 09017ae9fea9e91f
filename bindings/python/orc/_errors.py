"""The errors of both backends. Names and texts are those of `orc::errc` (liborc/include/orc/result.h)."""

from __future__ import annotations

import threading
from typing import Any, Dict, Optional, Type


class Error(Exception):
    """Base of all errors of ORC. `code` is the name of the C++ errc. The text says what was tried and what to do."""

    code: str = "system_error"
    """Name of the C++ errc."""
    text: str = "a system call failed"
    """What the error says when the call that raises it has nothing more to say."""

    def __init__(self, text: Optional[str] = None) -> None:
        super().__init__(text or type(self).text)


class NoBroker(Error):
    """No broker answered in time. The declaration stays and takes effect when a broker answers."""

    code = "no_broker"
    text = "no address broker answers: start one with orc-broker, or set ORC_BROKER"


class BadName(Error, ValueError):
    """Not a topic name."""

    code = "bad_name"
    text = "a topic name has 1 to 255 bytes of A-Z a-z 0-9 _ . / -"


class BadArgument(Error, ValueError):
    """An option or argument is out of range."""

    code = "bad_argument"
    text = "an argument makes no sense"


class BadSample(BadArgument):
    """The bytes of a sample are no value of its type, or the value is none; the text says what was found."""

    text = "the sample is no value of its type"


class NameTaken(Error):
    """A live publication of another participant holds the topic; the text names it."""

    code = "name_taken"
    text = "a live publication of another participant holds the topic"


class NotRegistered(Error, LookupError):
    """This participant did not register the topic."""

    code = "not_registered"
    text = "this participant did not register the topic"


class NotRequested(Error, LookupError):
    """This participant did not request the topic."""

    code = "not_requested"
    text = "this participant did not request the topic"


class Refused(Error):
    """The broker or the peer refused."""

    code = "refused"
    text = "the other side refused"


class NoMemory(Error, MemoryError):
    """Out of memory."""

    code = "no_memory"
    text = "out of memory"


class NoDescriptors(Error):
    """Out of file descriptors."""

    code = "no_descriptors"
    text = "out of file descriptors: raise the limit (ulimit -n)"


class NoPermission(Error, PermissionError):
    """The system forbids it."""

    code = "no_permission"
    text = "no permission"


class SystemFailure(Error):
    """A system call failed."""

    code = "system_error"
    text = "a system call failed"


class Closed(Error):
    """The topic was unregistered, released or closed, also by another thread during the call."""

    code = "closed"
    text = "the topic was unregistered or released, or the participant ended"


class Forked(Error):
    """The object was made before fork(): the child must make its own participant."""

    code = "forked"
    text = "made before fork(): a child process must make its own participant"


class TooManyMessages(Error):
    """The program holds max_messages messages of this subscription, and must release one first."""

    code = "too_many_messages"
    text = "the program holds as many messages of this subscription as it may: drop one, or raise max_messages"


class UnknownTopic(Error, LookupError):
    """Directory: no participant publishes or requested the topic."""

    code = "unknown_topic"
    text = "no participant publishes or requested the topic"


class UnknownType(Error, LookupError):
    """Directory: the broker does not have the schema of this type."""

    code = "unknown_type"
    text = "the broker does not have the schema of this type"


class TypeMismatch(Error, ValueError):
    """The publication's samples have another type than the one that was requested; the text has the difference."""

    code = "type_mismatch"
    text = "the samples have another type than the one that was requested"


class TimedOut(Error, TimeoutError):
    """The time that the caller allowed has passed."""

    code = "timed_out"
    text = "the time allowed has passed"


class PureBackendWarning(UserWarning):
    """Importing orc warns of this, once per process, where the extension is missing and orc.pure takes its place."""


by_code: Dict[str, Type[Error]] = {kind.code: kind for kind in Error.__subclasses__()}

for _each in (Error, BadSample, PureBackendWarning, *by_code.values()):
    _each.__module__ = "orc"  # where programs know them from: tracebacks say orc.NameTaken


def kept(error: Error, what: str) -> Error:
    """Returns the error of a set-up call. NoBroker then ends with `what`: what stays set up, and how to reach it."""
    return NoBroker(f"{error}; {what}") if isinstance(error, NoBroker) else error


def make(code: str, text: str = "") -> Error:
    """Returns the exception of a C++ error code, by the name of the code. Without a text it has the code's sentence."""
    return by_code.get(code, SystemFailure)(text or None)


def expect_the_end() -> None:
    """For what closes because the interpreter ends: a daemon thread that waits there has no error to show."""
    shown = threading.excepthook
    if threading.main_thread().is_alive() or getattr(shown, "is_of_orc", False):
        return

    def hook(args: Any) -> None:
        waits = args.thread is not None and args.thread.daemon
        if not (waits and issubclass(args.exc_type, Closed)):
            shown(args)

    hook.is_of_orc = True  # type: ignore[attr-defined]
    threading.excepthook = hook


def close_in_the_end(what: Any) -> None:
    """For weakref.finalize."""
    expect_the_end()
    what.close()
