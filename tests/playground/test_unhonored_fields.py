"""Warnings of fields that other clusters honor, as the API and the socket send them."""

from __future__ import annotations

import json

import pytest
from django.test import Client

from playground.storage import bundles
from scheduler_core.kubernetes.problems import Problem
from tests.core.objects.unhonored_cases import cases, together


@pytest.mark.django_db
def test_the_api_answers_every_reported_field_by_name() -> None:
    """Storing a bundle that uses all of them answers a warning for each, with the field as ``unhonored``."""
    body = json.dumps({"bundle": together(cases())})
    answer = Client().post("/api/scenarios", body, content_type="application/json")
    assert answer.status_code == 201
    warnings = json.loads(answer.content)["warnings"]
    for case in cases():
        (reported,) = [
            one
            for one in warnings
            if one.get("unhonored", "").endswith(case.name) and one["message"].endswith(f": {case.effect}")
            if f"-{cases().index(case)}" in one["message"]
        ]
        assert reported["message"].startswith(
            f"this result may differ on a cluster that honors {reported['unhonored']} ("
        )
        assert reported["line"]


def test_other_warnings_do_not_crowd_them_out() -> None:
    """However many there are, those of fields that are not honored are sent, in the order of the text."""
    plain = [Problem(f"w{number}", line=number) for number in range(bundles.SHOWN_PROBLEMS + 20)]
    last = Problem("this answer may differ", line=999, unhonored="spec.overhead")
    wire = bundles.problems_wire([*plain, last])
    assert wire[-2]["unhonored"] == "spec.overhead"
    assert wire[-1]["message"] == "and 21 more like these"
    assert [one["line"] for one in wire[:-2]] == list(range(bundles.SHOWN_PROBLEMS - 1))
