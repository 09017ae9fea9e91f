"""What the directory says of a service: the type of its own topic (schemas/PROTOCOL.md, "Calls")."""

from __future__ import annotations

import base64
import json
from dataclasses import dataclass
from typing import Any, List, NamedTuple, Optional, Protocol

from .._directory_types import ParticipantState, TopicState, TopicType
from .._errors import UnknownType
from .._type_description import TypeDescription

_TYPE_NAME = "orc.Service"
_MEMBER = "x-orc-service"


class CallTypes(NamedTuple):
    """What a service, or a client, sends and expects."""

    request: TypeDescription
    reply: TypeDescription


@dataclass(frozen=True)
class ServiceDescription:
    """A service, as its program describes it."""

    name: str
    """Of the service, for Participant.call."""
    server: ParticipantState
    """The program that serves it."""
    request: Optional[TopicType]
    """Type of the requests; None: bytes. The message encoding "json" without a name: any JSON value."""
    reply: Optional[TopicType]
    """Type of the replies; the same."""
    interfaces: List[str]
    """As given to Participant.serve."""


class Directory(Protocol):
    """The parts of a directory that find_services needs."""

    def topics(self, pattern: str = "**") -> List[TopicState]: ...
    def find_type(self, which: TopicType) -> TypeDescription: ...


def find_services(directory: Directory, interface: Optional[str] = None) -> List[ServiceDescription]:
    """Returns the services that implement `interface`, or all, in the order of their names.

    Waits and raises as Directory.topics does. Leaves out services whose description cannot be read.
    """
    found = []
    for topic in directory.topics("**"):
        publication = topic.publication
        if publication is None or publication.type is None or publication.type.name != _TYPE_NAME:
            continue
        try:
            service = json.loads(directory.find_type(publication.type).schema)[_MEMBER]
            request, reply = _read_type(service["request"]), _read_type(service["reply"])
            interfaces = [_text(each) for each in service["interfaces"]]
        except (UnknownType, ValueError, LookupError, TypeError, RecursionError):
            continue
        if interface is None or interface in interfaces:
            found.append(ServiceDescription(topic.name, publication.participant, request, reply, interfaces))
    return found


def _read_type(described: Any) -> Optional[TopicType]:
    """Raises ValueError, LookupError, TypeError."""
    if described is None:
        return None
    size = described["schemaSize"]
    if not isinstance(size, int):
        raise TypeError("the size of a schema is a number")
    return TopicType(
        _text(described["name"]),
        _text(described["schemaEncoding"]),
        _text(described["messageEncoding"]),
        int(_text(described["hash"]), 16),
        size,
    )


def _text(value: Any) -> str:
    if not isinstance(value, str):
        raise TypeError("this is no text")
    return value


def types_in(description: TypeDescription) -> CallTypes:
    """Returns the types of request and reply that the type of a service's own topic has in it, with their schemas.

    Those that it leaves out, because they are too large, are untyped. Raises ValueError.
    """
    try:
        service = json.loads(description.schema)[_MEMBER]
        return CallTypes(_type_in(service["request"]), _type_in(service["reply"]))
    except (LookupError, TypeError, RecursionError) as error:
        raise ValueError(f"this describes no service: {error}") from None


def _type_in(described: Any) -> TypeDescription:
    """Raises ValueError, LookupError, TypeError."""
    named = _read_type(described)
    if named is None or "schema" not in described:
        return TypeDescription()
    schema = base64.b64decode(_text(described["schema"]), validate=True)
    made = TypeDescription(named.name, named.schema_encoding, named.message_encoding, schema)
    if made.hash != named.hash:
        raise ValueError(f"the type {named.name} has another hash")
    return made
