"""Quantities: read exactly, rounded up, printed as Kubernetes prints them."""

from __future__ import annotations

from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from scheduler_core.kubernetes.quantity import QuantityError, format_resource, parse_quantity, parse_resource

SUFFIXES = {
    "n": Fraction(1, 10**9), "u": Fraction(1, 10**6), "m": Fraction(1, 1000), "": Fraction(1),
    "k": Fraction(10**3), "M": Fraction(10**6), "G": Fraction(10**9), "T": Fraction(10**12),
    "Ki": Fraction(2**10), "Mi": Fraction(2**20), "Gi": Fraction(2**30), "Ti": Fraction(2**40),
}  # fmt: skip


@pytest.mark.parametrize(
    ("resource", "text", "amount"),
    [
        ("cpu", "250m", 250),
        ("cpu", "2", 2000),
        ("cpu", "0.1", 100),
        ("cpu", "1u", 1),  # a millionth of a core rounds up to a millicore
        ("cpu", "1e-1", 100),
        ("memory", "1.5Gi", 1_610_612_736),
        ("memory", "7.9G", 7_900_000_000),
        ("memory", "128974848", 128_974_848),
        ("memory", "129e6", 129_000_000),
        ("memory", "1E", 10**18),  # exa, not an exponent
        ("memory", "100m", 1),
        ("memory", ".5Ki", 512),
        ("memory", "+1Ki", 1024),
        ("pods", "110", 110),
    ],
)
def test_a_quantity_is_read_in_the_scheduler_s_unit(resource: str, text: str, amount: int) -> None:
    """Cpu is in millicores and everything else in base units, both rounded up."""
    assert parse_resource(resource, text) == amount


@pytest.mark.parametrize(
    ("text", "reported"),
    [
        ("1GB", "did you mean '1G'"),
        ("100mb", "did you mean '100M'"),
        ("512 Mi", "did you mean '512Mi'"),
        ("1,5Gi", "did you mean '1.5Gi'"),
        ("2 cores", "did you mean '2'"),
        ("lots", "write a number"),
        ("", "write a number"),
        ("1.2.3", "write a number"),
        ("1e999999999", "exponent"),
        ("16E", "larger than 2^63-1"),
        ("9" * 100, "not a quantity"),
        ("١", "not a quantity"),  # digits of another script
        ("1Mi\n", "not a quantity"),
    ],
)
def test_what_is_no_quantity_is_refused_with_what_would_be_right(text: str, reported: str) -> None:
    """The message proposes the nearest quantity, or says what one looks like."""
    with pytest.raises(QuantityError, match=None) as caught:
        parse_quantity(text)
    assert reported in str(caught.value)


@given(
    st.integers(0, 8000),
    st.integers(0, 9999),
    st.sampled_from(sorted(SUFFIXES)),
    st.sampled_from([1, 1000]),
)
def test_amounts_are_exact_and_round_up(whole: int, decimals: int, suffix: str, scale: int) -> None:
    """The integer is the smallest that is not below the written amount."""
    text = f"{whole}.{decimals:04d}{suffix}"
    exact = Fraction(f"{whole}.{decimals:04d}") * SUFFIXES[suffix] * scale
    amount = parse_quantity(text, scale)
    assert amount >= exact > amount - 1


@given(
    st.sampled_from(["cpu", "memory", "pods", "hugepages-2Mi", "example.com/gpu"]), st.integers(0, 2**60 - 1)
)
def test_a_printed_amount_reads_back(resource: str, amount: int) -> None:
    """Printing loses nothing."""
    assert parse_resource(resource, format_resource(resource, amount)) == amount


@given(st.text(max_size=30))
def test_any_text_is_a_quantity_or_refused(text: str) -> None:
    """No text makes the parser fail in another way."""
    try:
        amount = parse_quantity(text)
    except QuantityError as refused:
        amount = 0
        reported = str(refused)
    else:
        reported = "read"
    assert reported
    assert abs(amount) < 2**63
