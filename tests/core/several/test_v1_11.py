"""kube-scheduler v1.11 beside others: alone and reported at once it decides as in a run of its own."""

from __future__ import annotations

from typing import Any

from hypothesis import given
from hypothesis import settings as tried

from scheduler_core import load
from scheduler_core.compare.outcome import outcome
from scheduler_core.record.cycle import Decision
from scheduler_core.run.instant import Simulation
from scheduler_core.run.several.simulation import SeveralSimulation
from tests.core.several.test_v1_37 import BESIDE, SETTINGS, bundle, histories
from tests.core.trials import trials

ALONE = {**SETTINGS, "scheduler": "v1.11"}
OLD = {**BESIDE, "schedulers": [{"name": "default-scheduler", "runs": "v1.11"}]}


def plain(decision: Decision) -> tuple[Any, ...]:
    """Return what a decision does to the cluster, and whether nodes were scored for it."""
    return *outcome(decision), decision.ranked


@tried(max_examples=trials(40), deadline=None)
@given(documents=histories())
def test_alone_and_reported_at_once_it_decides_as_in_a_run_of_its_own(
    documents: list[dict[str, Any]],
) -> None:
    """Its queue, its ties in turn and its preemption are v1.11's in virtual time, too."""
    alone = Simulation(load(bundle(ALONE, documents)), trace=False)
    beside = SeveralSimulation(load(bundle(OLD, documents)), trace=False)
    assert [plain(one.decision) for one in beside] == [plain(one.decision) for one in alone]
    assert beside.placement() == alone.placement()
