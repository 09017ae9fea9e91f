"""Schemas: reads and compares them (liborc/include/orc/schema.h, in Python).

Schemas come from other programs: each function bounds its time, memory and depth, and raises SchemaError, a ValueError,
for a schema that violates its format or a limit (schemas/PROTOCOL.md, "Types"). Sentences are those of C++.
"""

from __future__ import annotations

from .model import SchemaError
from .type_check import check_schema, check_types, lcm_fingerprint

__all__ = ["SchemaError", "check_schema", "check_types", "lcm_fingerprint"]
