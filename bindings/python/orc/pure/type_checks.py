"""The outcomes of comparing types, so that a participant compares a pair of types once."""

from __future__ import annotations

from collections import OrderedDict
from typing import Optional, Tuple

from .._type_description import TypeDescription
from .schema import SchemaError, check_types

_MAX_KEPT = 256  # it forgets the pair that was looked up longest ago
_Pair = Tuple[int, int, str]


class TypeChecks:
    """Lives on the I/O thread. An outcome is the sentence that says why the types do not match; "": they do.

    Types that do not match have one outcome per publisher, because the sentence names it.
    """

    def __init__(self) -> None:
        self._kept: OrderedDict[_Pair, str] = OrderedDict()

    def find(self, published: int, expected: int, publisher: str) -> Optional[str]:
        """Returns the outcome for the types with these hashes. None: they have not been compared."""
        for key in ((published, expected, ""), (published, expected, publisher)):
            if key in self._kept:
                self._kept.move_to_end(key)
                return self._kept[key]
        return None

    def compare(self, published: TypeDescription, expected: TypeDescription, publisher: str) -> str:
        """Compares them, unless the outcome is known."""
        known = self.find(published.hash, expected.hash, publisher)
        if known is not None:
            return known
        try:
            outcome = check_types(published, expected, publisher) or ""
        except SchemaError as error:  # nothing shows that the samples are what the subscriber expects
            outcome = str(error)
        self._kept[published.hash, expected.hash, publisher if outcome else ""] = outcome
        if len(self._kept) > _MAX_KEPT:
            self._kept.popitem(last=False)
        return outcome
