"""Copies of Kueue's state, and forks of runs that it takes part in."""

from __future__ import annotations

from scheduler_core.authoring.examples import examples
from scheduler_core.cluster.kueue.counters import counters_of
from scheduler_core.explain.kueue.trials import stopped_at_once
from scheduler_core.run.table import simulate
from scheduler_core.scenario.load import load_documents
from tests.core.contracts.clusters import EVEN, settings
from tests.core.kueue.clusters import control_of

QUEUES = {"a": {"quota": {"default": 4}, "cohortName": "team"}, "b": {"quota": {"default": 4}}}


def test_what_a_copy_releases_first_is_released_once() -> None:
    """Its quota tree is built when something changes for the first time."""
    control = control_of({"queues": QUEUES, "workloads": {"one": "a 3", "two": "a 1", "three": "b 2"}})
    copy = control.copy(stopped_at_once)
    for one in (copy, control):
        one.forget("default/one")
    found = [counters_of(one.cache, "a", 0, is_fair=False) for one in (copy, control)]
    assert found[0] == found[1]
    assert copy.cache.tree.queues["a"].usage == {("default", "cpu"): 1_000}
    assert copy.digest == control.digest


def test_a_fork_beside_a_descheduler_is_a_copy_that_goes_on_alike() -> None:
    """Under the framework, before the cycle at which Jobs are admitted whose quota others gave back."""
    example = next(one for one in examples() if one.slug == "kueue-reclaim")
    kept = [one for one in example.load().documents if one.get("kind") != "SimulationSettings"]
    beside = settings(scheduler="v1.22", descheduler={"interval": "1m", "passes": 3})
    run = simulate(load_documents([*kept, dict(beside), dict(EVEN)]), trace=False)
    for _ in range(14):
        run.step()
    assert run.is_copyable and run.kueue is not None
    there, here = ([(one.pod, one.node, one.time) for one in each] for each in (run.fork(trace=False), run))
    assert there == here and there
