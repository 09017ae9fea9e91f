"""Every sentence of orc.pure about two types is that of C++: schemas/golden/type_checks.json."""

from __future__ import annotations

import base64
import json
from typing import Any, Dict, List

import pytest

from orc import TypeDescription
from orc.pure import schema
from support import REPOSITORY

_TABLE = REPOSITORY / "schemas/golden/type_checks.json"
_CASES: List[Dict[str, Any]] = json.loads(_TABLE.read_text(encoding="utf-8")) if _TABLE.exists() else []


def described(one: Dict[str, str]) -> TypeDescription:
    data = base64.b64decode(one["schema_base64"])
    return TypeDescription(one["name"], one["schema_encoding"], one["message_encoding"], data)


def test_the_table_is_there() -> None:
    if not _TABLE.exists():
        pytest.skip(f"{_TABLE} is not there")
    assert len(_CASES) > 50


@pytest.mark.parametrize("case", _CASES, ids=[case["case"] for case in _CASES])
def test_the_sentence_is_that_of_cpp(case: Dict[str, Any]) -> None:
    result, message = "ok", ""
    try:
        found = schema.check_types(described(case["published"]), described(case["expected"]), case["publisher"])
        if found is not None:
            result, message = "type_mismatch", found
    except schema.SchemaError as error:
        result, message = "bad_argument", str(error)
    assert (result, message) == (case["result"], case["message"])
