"""The reference pages of the descheduler and of Firmament: every row of the engine's tables."""

from __future__ import annotations

import re
from html import unescape
from random import Random
from typing import get_args

import numpy as np
import pytest
from django.test import Client

from playground.reference import descheduler, firmament_texts
from playground.views.reference_firmament import example
from scheduler_core.cluster.descheduler.protections import DEFAULT_PROTECTIONS, EXTRA_PROTECTIONS
from scheduler_core.cluster.descheduler.table import CLASSIC_STRATEGIES, PLUGINS
from scheduler_core.kubernetes.readers import outline_of
from scheduler_core.schedulers.firmament.classes import arcs_of, classes_of
from scheduler_core.schedulers.firmament.rounds import PhaseKind
from tests.core.firmament.networks import random_cluster
from tests.playground.test_reference_kube_batch import reported


@pytest.fixture
def text(client: Client) -> str:
    """The descheduler's page."""
    return client.get("/reference/descheduler/").content.decode()


def test_every_plugin_has_its_words_and_all_its_arguments(text: str) -> None:
    """As its row declares them."""
    for name, one in PLUGINS.items():
        row = reported(text, f"plugin-{name}")
        outline = outline_of(one.args)
        assert row.startswith(name) and one.words in row and row.endswith(one.point)
        assert outline is not None and outline.fields
        assert all(argument in row for argument in outline.fields)
    assert "numberOfNodes integer, 0" in reported(text, "plugin-LowNodeUtilization")


def test_the_strategies_of_v0_9_0_are_in_their_order(text: str) -> None:
    """RemoveDuplicates first."""
    part = text[text.index('id="classic"') : text.index('id="protections"')]
    assert re.findall(r"<dt>(\w+)</dt>", part) == list(CLASSIC_STRATEGIES)


def test_every_protection_is_reported_with_its_switch(text: str) -> None:
    """And no other."""
    assert set(descheduler.PROTECTIONS) == {*DEFAULT_PROTECTIONS, *EXTRA_PROTECTIONS}
    assert all(f"<code>{name}</code>" in text for name in descheduler.PROTECTIONS)
    assert "<code>evictLocalStoragePods</code>" in text


def test_the_settings_have_their_defaults(text: str) -> None:
    """As the simulation starts with them."""
    assert {name: default for name, _, default in descheduler.settings()}["interval"] == "300s"
    assert "maxPodsToEvictPerNode" in text


def test_firmament_s_costs_are_the_engine_s(client: Client) -> None:
    """They grow with the index and with what is used, and an uneven machine costs more."""
    page = unescape(client.get("/reference/firmament/").content.decode())
    rows = example()
    costs = np.array([row["costs"] for row in rows])
    assert (np.diff(costs, axis=1) > 0).all() and (np.diff(costs[:4, 0]) > 0).all()
    assert costs[4][0] > costs[2][0]  # the mean of both is used alike
    assert all(f">{cost}<" in page for cost in costs.ravel())
    assert "2,560,000" in page


def test_firmament_s_terms_and_refusals_are_those_of_its_arcs() -> None:
    """Of random clusters, in which machines are refused for each reason."""
    random, refused = Random(1), set()
    for _ in range(60):
        state, tasks = random_cluster(random)
        for of in classes_of(tasks, state):
            arcs = arcs_of(of, state)
            assert {*arcs.parts, "load", "balance"} == set(firmament_texts.TERMS)
            refused |= set(arcs.refused)
    assert refused and refused <= set(firmament_texts.REFUSALS)
    assert set(firmament_texts.PHASES) == set(get_args(PhaseKind))
