"""What pages lead on to: the miniature, a run's first failure, and what each rule does."""

from __future__ import annotations

import pytest
from django.test import Client

from playground.celery import app
from playground.models import Run, Scenario, Share
from playground.storage import store
from playground.tasks import run_simulation
from tests.playground.conftest import DATA

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture(autouse=True)
def no_broker(monkeypatch: pytest.MonkeyPatch) -> None:
    """Runs wait until the test computes them."""
    monkeypatch.setattr(app, "send_task", lambda *_, **__: None)


def test_the_miniature_is_a_shared_scenario(owner: Client, stranger: Client) -> None:
    """Everybody's start page plays the same one, which is stored once and opens for everybody."""
    short = owner.get("/").context["miniature"]
    assert stranger.get("/").context["miniature"] == short
    assert (Scenario.objects.count(), Share.objects.count()) == (1, 1)
    row = store.find_scenario(short)
    assert row is not None
    assert row.nodes == 9
    assert stranger.get(f"/s/{short}/?step=11").status_code == 200


def test_a_run_leads_to_its_first_unschedulable_cycle(owner: Client, stranger: Client) -> None:
    """There is none before it is computed; afterwards page and figures name the cycle that failed first."""
    owner.post("/import/", {"text": (DATA / "preempt.yaml").read_text(), "run": "1"})
    name = Run.objects.get().pk
    assert owner.get(f"/runs/{name}/").context["first_unschedulable"] is None
    run_simulation(name)
    first = stranger.get(f"/runs/{name}/figures.json").json()["firstUnschedulable"]
    assert stranger.get(f"/runs/{name}/").context["first_unschedulable"] == first
    results = [
        stranger.get(f"/api/runs/{name}/cycles/{index}").json()["result"] for index in range(1, first + 1)
    ]
    assert results == ["scheduled"] * (first - 1) + ["unschedulable"]


def test_a_run_where_everything_fits_has_no_such_cycle(owner: Client) -> None:
    """Nothing is offered that is not there."""
    owner.post("/import/", {"example": "spread-over-zones", "run": "1"})
    name = Run.objects.get().pk
    run_simulation(name)
    assert owner.get(f"/runs/{name}/figures.json").json()["firstUnschedulable"] is None


def test_every_rule_is_explained(owner: Client) -> None:
    """The reference says of each predicate and each priority what it does, in one sentence of its own."""
    page = owner.get("/reference/predicates/")
    texts = [row["text"] for row in (*page.context["predicates"], *page.context["priorities"])]
    assert all(text.endswith(".") for text in texts)
    assert len(set(texts)) == len(texts)
