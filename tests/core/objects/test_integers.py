"""Integers in texts are read as Go reads them, however long the text."""

from __future__ import annotations

import pytest

from scheduler_core.kubernetes.integers import parse_int
from scheduler_core.kubernetes.model import Requirement
from scheduler_core.kubernetes.selectors import holds


@pytest.mark.parametrize(
    ("text", "number"),
    [
        ("0", 0),
        ("-0", 0),
        ("+7", 7),
        ("-12", -12),
        ("0" * 5_000 + "5", 5),
        (str(2**63 - 1), 2**63 - 1),
        (str(-(2**63)), -(2**63)),
        (str(2**63), None),
        ("9" * 5_000, None),
        ("", None),
        ("-", None),
        ("+-5", None),
        ("1_000", None),
        (" 1", None),
        ("1\n", None),
        ("\u0663", None),
        ("1.0", None),
        ("0x10", None),
    ],
)
def test_a_text_is_read_as_strconv_does(text: str, number: int | None) -> None:
    """Only 64 bits, ASCII digits and one sign; leading zeros do not count."""
    assert parse_int(text) == number


@pytest.mark.parametrize("operator", ["Gt", "Lt"])
@pytest.mark.parametrize(("label", "bound"), [("9" * 5_000, "1"), ("1", "9" * 5_000)])
def test_gt_and_lt_match_nothing_beyond_64_bits(operator: str, label: str, bound: str) -> None:
    """Neither a label's value nor a bound of thousands of digits raises."""
    assert not holds(Requirement("size", operator, (bound,)), label)
