"""The bounds of ``python -m tests.load`` and ``tests.faults`` hold what they say, and can fail."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import pytest

from tests.faults.faults import FAULTS, Fault
from tests.faults.runs import Outcome, Signs, is_felt
from tests.load import abuse, server_subjects, steps
from tests.load.bounds import AtLeast, AtMost, Bound, Ratio, judged, problems

SUBJECTS: dict[str, Sequence[Bound]] = {
    **{name: subject.bounds for name, subject in server_subjects.SUBJECTS.items()},
    "steps": steps.bounds_of([50, 200]),
}
ALL = [(name, bound) for name, bounds in SUBJECTS.items() for bound in bounds]


def holding(bounds: Sequence[Bound]) -> dict[str, float]:
    """Return figures for which all bounds hold."""
    found: dict[str, float] = {}
    for bound in bounds:
        if isinstance(bound, Ratio):
            found.setdefault(bound.name, 1.0)
            found.setdefault(bound.beside, 1.0)
        else:
            found[bound.name] = bound.least if isinstance(bound, AtLeast) else bound.most
    return found


@pytest.mark.parametrize("name", SUBJECTS)
def test_a_subject_demands_ratios_and_a_load(name: str) -> None:
    """Without a ratio nothing is compared, without a load there is nothing to compare."""
    kinds = {type(bound) for bound in SUBJECTS[name]}
    assert {Ratio, AtLeast} <= kinds
    assert problems(holding(SUBJECTS[name]), SUBJECTS[name]) == []


@pytest.mark.parametrize(("name", "bound"), ALL, ids=lambda value: getattr(value, "name", value))
def test_each_bound_can_fail(name: str, bound: Bound, capsys: pytest.CaptureFixture[str]) -> None:
    """One figure beyond its bound, or one that was not measured, and the exit status is 1."""
    good = holding(SUBJECTS[name])
    beyond = {AtLeast: -1.0, AtMost: 1e9, Ratio: 1e9}[type(bound)]
    assert judged({**good, bound.name: beyond}, SUBJECTS[name]) == 1
    assert f"BEYOND {bound.name} is" in capsys.readouterr().out
    assert judged({key: value for key, value in good.items() if key != bound.name}, SUBJECTS[name]) == 1
    assert f"BEYOND {bound.name} was not measured" in capsys.readouterr().out
    assert judged(good, SUBJECTS[name]) == 0


@pytest.mark.parametrize(
    ("figures", "reported"),
    [
        ({"a": 10, "b": 5}, ""),
        ({"a": 11, "b": 5}, "a is 11.000, more than 2 times b (5.000)"),
        ({"a": 2, "b": 0}, ""),  # b counts as 1: less is no measure
        ({"a": 2.1, "b": 0}, "a is 2.100, more than 2 times b (1.000)"),
        ({"a": float("nan"), "b": 1}, "a is nan, more than 2 times b (1.000)"),
        ({"a": 1}, "b was not measured"),
    ],
)
def test_a_ratio(figures: dict[str, float], reported: str) -> None:
    """Of two figures of one run, the second of which is not less than what can be measured."""
    assert Ratio("a", "b", 2, 1.0).problem(figures) == reported


OUTCOME = Outcome("kill -9 worker", "embedded", 0.5, 0, 0, 9.0, "done", same=True, felt=True)


@pytest.mark.parametrize(
    ("changes", "problem"),
    [
        ({}, ""),
        ({"felt": False}, "NOT FELT"),
        ({"same": False}, "DIFFERS"),
        ({"felt": False, "same": False}, "NOT FELT"),
    ],
)
def test_a_run_that_felt_no_fault_shows_nothing(changes: dict[str, Any], problem: str) -> None:
    """However equal its digest is."""
    assert replace(OUTCOME, **changes).problem == problem


@pytest.mark.parametrize("fault", FAULTS, ids=lambda fault: fault.name)
def test_every_fault_says_how_it_is_felt(fault: Fault) -> None:
    """By one sign; without it, it is not felt, whatever else happened."""
    name = {"tries": "tries", "claims": "claims", "readiness": "unready"}[fault.felt_by]
    others = {"tries", "claims", "unready"} - {name}
    assert not is_felt(fault, Signs())
    assert is_felt(fault, Signs(**{name: 1}))
    assert not is_felt(fault, Signs(**dict.fromkeys(others, 1)))


def test_abuse_fails_for_defects_and_for_what_takes_too_long() -> None:
    """Once each; a traceback is one defect wherever it came from."""
    report = abuse.Report()
    report.took(2.0, 1, "GET")
    assert not abuse.failed(report, 2.0)
    assert abuse.failed(report, 1.9)
    trace = 'Traceback (most recent call last):\n  File "/x/y.py", line 3, in f\nValueError: {}'
    for seed in range(3):
        report.found("GET: 500", trace.format(seed), seed, "text")
    assert [defect.count for defect in report.defects.values()] == [3]
    assert abuse.failed(report, 2.0)


def test_the_smallest_input_is_found() -> None:
    """Documents and fields go as long as the defect stays."""
    documents = [{"kind": "Node"}, {"kind": "Pod", "spec": 9, "metadata": {}}, {"kind": "Job"}]
    found = abuse.smallest(documents, lambda some: any(one.get("spec") == 9 for one in some))
    assert found == [{"spec": 9}]
