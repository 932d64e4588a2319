"""The figures of several schedulers on a run's page."""

from __future__ import annotations

from datetime import timedelta

import pytest
from django.test import Client
from django.utils import timezone

from playground.celery import app
from playground.models import Run
from playground.runs import compute, figures, service
from playground.storage import bundles
from playground.tasks import run_simulation
from scheduler_core.authoring.examples import find
from tests.playground.conftest import DATA, OWNER

pytestmark = pytest.mark.django_db(transaction=True)


def started(monkeypatch: pytest.MonkeyPatch, text: str) -> Run:
    """Queue a run of a bundle."""
    monkeypatch.setattr(app, "send_task", lambda _name, **_: None)
    return service.start(bundles.parse([("", text)], "several"), OWNER)[0]


def views() -> str:
    """Return the example in which the kubelet refuses a pod of the second scheduler."""
    example = find("stale-views")
    assert example is not None
    return example.read()


def schedulers(run: Run) -> list[list[str]]:
    """Return the rows of the table of schedulers."""
    run.refresh_from_db()
    (table,) = (one for one in figures.tables(run) if one["name"] == "schedulers")
    assert table["columns"][:6] == [
        "scheduler", "attempts", "retries", "bound", "conflicts", "refused by the kubelet",
    ]  # fmt: skip
    return [list(row) for row in table["rows"]]


def test_a_run_tells_what_became_of_the_decisions_of_each_scheduler(monkeypatch: pytest.MonkeyPatch) -> None:
    """There is a card for them before the first cycle, and their figures at the end."""
    run = started(monkeypatch, views())
    assert schedulers(run) == []
    assert run_simulation(run.pk) == "done"
    first, second = schedulers(run)
    assert first[:6] == ["default-scheduler", "4", "0", "4", "0", "0"]
    assert second[:6] == ["batch-scheduler", "5", "1", "4", "0", "1"]
    assert second[8].endswith(" s")
    (bars,) = figures.figures(run)["schedulers"]["data"]
    assert (list(bars["x"]), list(bars["y"])) == (["default-scheduler", "batch-scheduler"], [4, 5])
    page = Client().get(f"/runs/{run.pk}/").content.decode()
    assert 'data-figure="schedulers"' in page
    assert "refused by the kubelet" in page


def test_a_worker_that_takes_over_counts_what_was_decided_before_it(monkeypatch: pytest.MonkeyPatch) -> None:
    """The figures are those of the whole run."""
    monkeypatch.setattr(compute, "SLICE_CYCLES", 2)
    run = started(monkeypatch, views())
    claim = compute.claim_run(run.pk)
    assert claim is not None
    compute._Attempt(run.pk, claim)._slice()
    Run.objects.filter(pk=run.pk).update(heartbeat=timezone.now() - timedelta(seconds=31))
    assert run_simulation(run.pk) == "done"
    assert [row[:6] for row in schedulers(run)] == [
        ["default-scheduler", "4", "0", "4", "0", "0"],
        ["batch-scheduler", "5", "1", "4", "0", "1"],
    ]


def test_a_run_of_one_scheduler_has_no_such_figures(monkeypatch: pytest.MonkeyPatch) -> None:
    """Its page is as it was."""
    run = started(monkeypatch, (DATA / "preempt.yaml").read_text())
    assert run_simulation(run.pk) == "done"
    run.refresh_from_db()
    assert "schedulers" not in {table["name"] for table in figures.tables(run)}
    assert "schedulers" not in figures.figures(run)
