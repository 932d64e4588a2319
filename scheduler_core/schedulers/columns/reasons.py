"""Reason texts as small integers, so that a predicate's outcome is an array of codes."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

Codes = npt.NDArray[np.int16]
Reasons = tuple[str, ...]

PASSED = 0
FAILED_BY_ERROR = 1
CODE_LIMIT = 2**15 - 1


class ReasonTable:
    """An append-only table: code 0 is "passed", code 1 "raised an error"; any other is a tuple of texts."""

    def __init__(self) -> None:
        self.texts: list[Reasons] = [(), ()]
        self._codes: dict[Reasons, int] = {}
        self._merged: dict[tuple[int, int], int] = {}

    def code(self, *reasons: str) -> int:
        """Return the code of a tuple of reasons, assigning one on first use."""
        known = self._codes.get(reasons)
        if known is None:
            if len(self.texts) > CODE_LIMIT:
                raise OverflowError("more than 32,767 different combinations of failure reasons")
            known = self._codes[reasons] = len(self.texts)
            self.texts.append(reasons)
        return known

    def merge(self, first: Codes | None, second: Codes | None) -> Codes | None:
        """Append ``second``'s reasons to ``first``'s, row by row; ``None`` means "all passed"."""
        if first is None or second is None:
            return second if first is None else first
        both = (first > 0) & (second > 0)
        result = np.maximum(first, second)
        if both.any():
            pairs = first[both].astype(np.int64) << 16 | second[both]
            distinct, inverse = np.unique(pairs, return_inverse=True)
            codes = [self._merge_pair(int(pair) >> 16, int(pair) & 0xFFFF) for pair in distinct]
            result[both] = np.array(codes, np.int16)[inverse.reshape(-1)]
        return result

    def _merge_pair(self, first: int, second: int) -> int:
        pair = (first, second)
        known = self._merged.get(pair)
        if known is None:
            known = self._merged[pair] = self.code(*self.texts[first], *self.texts[second])
        return known
