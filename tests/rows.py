"""A large table of cases as one test, which tries every row and names those that fail."""

from __future__ import annotations

import inspect
import random
from collections.abc import Callable, Iterable
from functools import wraps
from typing import Any

SHOWN = 5  # failures of a table whose tracebacks are shown

only_one = False
"""Whether one row of each table is enough, as for ``--one-row``."""


def each_row(
    names: str | tuple[str, ...], table: Iterable[Any], label: Callable[[Any], object] = repr
) -> Callable[[Callable[..., None]], Callable[..., None]]:
    """Return a decorator that calls a test with each row of ``table`` as its arguments ``names``.

    Cheaper than ``pytest.mark.parametrize``, which makes, orders and reports an item for each row. All rows
    share the fixtures. Raises ExceptionGroup, with a failure for each of the first rows that fail, and the
    labels of all.
    """
    rows, taken = list(table), names if isinstance(names, tuple) else (names,)
    assert rows

    def decorate(test: Callable[..., None]) -> Callable[..., None]:
        @wraps(test)
        def whole(**fixtures: Any) -> None:
            failures: list[tuple[str, Exception]] = []
            for row in [random.choice(rows)] if only_one else rows:
                try:
                    values = row if isinstance(names, tuple) else (row,)
                    test(**fixtures, **dict(zip(taken, values, strict=True)))
                except Exception as error:
                    failures.append((str(label(row))[:200], error))
            _raise(failures)

        signature = inspect.signature(test)
        others = [one for one in signature.parameters.values() if one.name not in taken]
        whole.__signature__ = signature.replace(parameters=others)  # type: ignore[attr-defined]
        return whole

    return decorate


def _raise(failures: list[tuple[str, Exception]]) -> None:
    """Raise what failed, if anything did."""
    if not failures:
        return
    for label, error in failures:
        error.add_note(f"Row: {label}")
    named = "\n".join(label for label, _ in failures)
    raise ExceptionGroup(f"{len(failures)} rows fail:\n{named}", [error for _, error in failures[:SHOWN]])
