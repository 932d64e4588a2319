"""Tables of cases that are one test."""

from __future__ import annotations

import pytest

from tests.rows import each_row


def test_every_row_is_tried_and_those_that_fail_are_named(tmp_path: object) -> None:
    """A failure says nothing of the rows after it; fixtures reach each row."""
    tried = []

    @each_row(("number", "even"), [(1, False), (2, False), (3, True), (4, True)])
    def table(number: int, folder: object, *, even: bool) -> None:
        tried.append((number, folder))
        assert (number % 2 == 0) == even

    with pytest.raises(ExceptionGroup, match=r"^2 rows fail:\n\(2, False\)\n\(3, True\)$") as failed:
        table(folder=tmp_path)
    assert tried == [(number, tmp_path) for number in (1, 2, 3, 4)]
    assert len(failed.value.exceptions) == 2
