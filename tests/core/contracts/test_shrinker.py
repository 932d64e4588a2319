"""Counterexamples stay cases of their contract while they are shrunk."""

from __future__ import annotations

import pytest

from scheduler_core import load
from scheduler_core.studies.contracts.check import check
from scheduler_core.studies.contracts.document import read_contracts
from scheduler_core.studies.contracts.search import CheckBounds
from scheduler_core.studies.contracts.verdict import UNCOUNTERED, VIOLATED, Verdict
from tests.core.contracts.clusters import bundle, nodes, workload

HEAD = "apiVersion: podstep/v1\nkind: Contract\nmetadata: {name: one}\nspec:\n"
CLUSTER = bundle(nodes("ab", "16"), workload("Deployment", "web", 9), workload("Deployment", "api", 9))


def verdict_on(spec: str, budget: CheckBounds) -> Verdict:
    """Return the verdict on a contract in the cluster."""
    (found,) = check(load(CLUSTER), read_contracts([("one.yaml", HEAD + spec)]), budget)
    return found


def test_counts_stay_in_their_range() -> None:
    """A workload that may be scaled to three is not scaled to fewer, and one that is not asked about goes."""
    found = verdict_on(
        "  for: {kind: Deployment, name: web}\n  when:\n  - scale: {web: 3..20}\n  always: ready >= 5",
        CheckBounds(cases=50, shrinking=120),
    )
    shown = found.counterexample
    assert shown is not None and shown.history == ("scale Deployment default/web to 3",)
    assert (shown.extent.replicas, shown.extent.nodes) == (5, 1)


@pytest.mark.parametrize("limit", [12, 100])
def test_many_histories_are_drawn_by_the_seed(limit: int) -> None:
    """Beyond the cases that may be played Hypothesis draws: the same ones again, towards the least margin."""
    spec = (
        "  for: {selector: {matchLabels: {app: web}}}\n  when:\n  - scale: {web: 1..30}\n"
        f"  - drain: {{each: Node, order: any}}\n  apart: 5s..1m\n  never: ready > {limit}"
    )
    one, again = (verdict_on(spec, CheckBounds(cases=6, seconds=200, seed=7, shrinking=1)) for _ in range(2))
    assert one.cases == 30 * 2 * 2 * 6 and one.played <= 6 and one.seed == 7
    assert one.verdict in (VIOLATED, UNCOUNTERED) and one.verdict == again.verdict
    assert one.played == again.played
