"""JSON objects as dicts."""

from __future__ import annotations

import json
from typing import Any, Dict

from .._errors import BadSample
from .._type_description import TypeDescription
from .codec import Typed, shown


class Json(Typed[Dict[str, Any]]):
    def __init__(self, name: str) -> None:
        super().__init__(TypeDescription(name, "", "json", b""))

    def encode(self, value: Any) -> Any:
        if not isinstance(value, dict):
            return super().encode(value)
        try:
            return json.dumps(value, ensure_ascii=False, allow_nan=False, separators=(",", ":")).encode()
        except (TypeError, ValueError, RecursionError) as error:
            raise BadSample(f"the dict is no JSON: {error}") from None

    def decode(self, message: Any) -> Dict[str, Any]:
        try:
            found = json.loads(bytes(message))
        except (ValueError, RecursionError) as error:
            raise BadSample(f"the sample is no JSON: {error}") from None
        if not isinstance(found, dict):
            raise BadSample(f"the sample is JSON of the kind {shown(found)}, and no object")
        return found
