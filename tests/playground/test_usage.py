"""The usage of nodes on the page is what the release counts for pods."""

from __future__ import annotations

import pytest

from playground.playback.tables import Tables
from scheduler_core import load_documents
from tests.core.v1_37.parts import node, pod
from tests.core.v1_37.test_usage import PODS


@pytest.mark.parametrize("case", PODS)
def test_tables_have_what_the_release_counts(case: str) -> None:
    """For pods of the start, of a template, and those that an operation creates."""
    fields, newest, oldest = PODS[case]
    template = {key: value for key, value in fields.items() if key != "status"}
    deployment = {
        "apiVersion": "apps/v1",
        "kind": "Deployment",
        "metadata": {"name": "d"},
        "spec": {
            "replicas": 1,
            "selector": {"matchLabels": {"app": "d"}},
            "template": {"metadata": {"labels": {"app": "d"}}, "spec": template},
        },
    }
    late = {"id": "c", "step": 1, "createOperation": {"object": pod("late", **fields)}}
    history = {"kind": "Scenario", "spec": {"operations": [late]}}
    custom = {"apiVersion": "x.io/v1", "kind": "Pod", "metadata": {"name": "x"}}
    custom |= {"spec": {"containers": [1]}, "status": {"containerStatuses": [{"name": "c"}]}}
    for release, wanted in (("v1.37", newest), ("v1.11", oldest)):
        settings = {"kind": "SimulationSettings", "scheduler": release}
        given = [settings, node("n", cpu="8"), pod("p", **fields), deployment, history, custom]
        tables = Tables(load_documents(given))
        used = {one.meta.name[:2]: usage for one, usage in zip(tables.pods, tables.usage, strict=True)}
        templated = 1000 if case == "a resize" else wanted
        cpu = {name: usage["cpu"] for name, usage in used.items()}
        assert cpu == {"p": wanted, "d-": templated, "la": wanted}
        assert all(usage["pods"] == 1 for usage in used.values())
