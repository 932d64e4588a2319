"""Long runs: the row is the truth, whatever becomes of workers and the broker."""

from __future__ import annotations

import json
import os
from datetime import timedelta
from typing import Any

import pytest
from django.utils import timezone

from playground.celery import app
from playground.models import Run, RunChunk
from playground.panels import steps
from playground.playback import sources
from playground.playback.playback import Playback
from playground.playback.tables import Tables
from playground.runs import compute, figures, rescue, service
from playground.runs.metrics import Meter, Samples
from playground.serving import heartbeat
from playground.storage import bundles, store
from playground.tasks import run_simulation
from scheduler_core import BundleError, load
from tests.playground.conftest import DATA, OWNER

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture
def sent(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """What was handed to the broker."""
    ids: list[str] = []
    monkeypatch.setattr(app, "send_task", lambda _name, args, **_: ids.extend(args))
    return ids


@pytest.fixture
def run(sent: list[str]) -> Run:
    """A queued run with preemption and a history."""
    scenario = bundles.parse([("", (DATA / "preempt.yaml").read_text())], "history")
    started, _ = service.start(scenario, OWNER)
    return started


def finished(run: Run) -> Run:
    run.refresh_from_db()
    return run


def test_a_run_is_stored_before_it_is_announced(run: Run, sent: list[str]) -> None:
    """The broker is reported an id of a row that is there."""
    assert sent == [run.pk]
    assert finished(run).state == "queued"
    assert run.expected == 3


def test_a_run_to_its_end(run: Run) -> None:
    """The row tells how it ended, and its chunks rebuild every cycle."""
    assert run_simulation(run.pk) == "done"
    row = finished(run)
    assert (row.state, row.cycles, row.placed, row.pending, row.unschedulable) == ("done", 5, 2, 0, 0)
    assert row.outcomes == {"preempting": 1, "scheduled": 3, "unschedulable": 1}
    assert row.started and row.finished and row.peak_mib > 10 and row.error == ""
    assert row.samples["rows"][0][:5] == [0, 0.0, 2, 1, 0]
    assert row.samples["rows"][-1][0] == 5
    alone = Playback(store.load_scenario(row.scenario))
    while alone.advance(1):
        pass
    played = sources.open_playback(sources.find({"run": row.pk}, ""))
    assert played.complete
    assert played.trail.decisions == alone.trail.decisions
    assert steps.window(played, 1, 100) == steps.window(alone, 1, 100)


def test_a_second_message_for_the_same_run_does_nothing(run: Run) -> None:
    """Messages may come twice; a run is computed once."""
    run_simulation(run.pk)
    before = list(RunChunk.objects.values_list("pk", flat=True))
    assert run_simulation(run.pk) is None
    assert run_simulation("no-such-run") is None
    assert list(RunChunk.objects.values_list("pk", flat=True)) == before


def test_a_run_that_another_worker_has_is_left_alone(run: Run) -> None:
    """A claim holds while its worker beats."""
    assert compute.claim_run(run.pk)
    assert compute.claim_run(run.pk) is None
    Run.objects.filter(pk=run.pk).update(heartbeat=timezone.now() - timedelta(seconds=31))
    assert compute.claim_run(run.pk)


def test_a_run_resumes_from_its_chunks(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    """What a dead worker stored is not computed again, and the end is the same."""
    monkeypatch.setattr(compute, "SLICE_CYCLES", 1)
    claim = compute.claim_run(run.pk)
    assert claim
    first = compute._Attempt(run.pk, claim)
    first._slice()
    first._slice()
    assert finished(run).cycles == 2
    Run.objects.filter(pk=run.pk).update(heartbeat=timezone.now() - timedelta(seconds=31))
    assert run_simulation(run.pk) == "done"
    row = finished(run)
    assert (row.cycles, row.placed) == (5, 2)
    assert row.attempts == 1, "what went on does not count against the run"
    chunks = list(RunChunk.objects.filter(run=row).order_by("number").values_list("first", "count"))
    assert [first for first, _ in chunks] == [1, 2, 3, 4, 5]
    assert [sample[0] for sample in row.samples["rows"]] == [0, 1, 2, 3, 4, 5]
    # The first worker was only slow: what it says now is not heard.
    with pytest.raises(compute.LostClaimError):
        first._slice()
    assert RunChunk.objects.filter(run=row).count() == 5


def full() -> str:
    """Return one node that one of three pods fills, and a pod that selects another."""
    amounts = {"cpu": "1", "memory": "1Gi", "pods": "10"}
    status = {"allocatable": amounts, "nodeInfo": {"kubeletVersion": "v1.11.10"}}
    node = {"apiVersion": "v1", "kind": "Node", "metadata": {"name": "n"}, "status": status}
    pods = [
        {
            "apiVersion": "v1",
            "kind": "Pod",
            "metadata": {"name": name},
            "spec": {"containers": [{"name": "c", "resources": {"requests": {"cpu": "600m"}}}]},
        }
        for name in ("first", "second", "third", "picky")
    ]
    pods[-1]["spec"] = {"nodeSelector": {"disk": "ssd"}, "containers": [{"name": "c"}]}
    return json.dumps([node, *pods])


def test_a_run_names_its_unschedulable_pods(sent: list[str], monkeypatch: pytest.MonkeyPatch) -> None:
    """Each reason has its pods with the cycle of their last try, also after a takeover."""
    monkeypatch.setattr(compute, "SLICE_CYCLES", 2)
    started, _ = service.start(bundles.parse([("", full())], "full"), OWNER)
    claim = compute.claim_run(started.pk)
    assert claim
    compute._Attempt(started.pk, claim)._slice()
    Run.objects.filter(pk=started.pk).update(heartbeat=timezone.now() - timedelta(seconds=31))
    assert run_simulation(started.pk) == "done"
    cpu, selector = "Insufficient cpu", "node(s) didn't match node selector"
    assert finished(started).unplaced == [
        {
            "message": f"0/1 nodes are available: 1 {cpu}.",
            "count": 2,
            "pods": [["default/second", 2], ["default/third", 3]],
        },
        {"message": f"0/1 nodes are available: 1 {selector}.", "count": 1, "pods": [["default/picky", 4]]},
    ]


def test_a_pod_that_is_placed_later_is_not_named(run: Run) -> None:
    """A reason counts as long as the pod waits."""
    assert run_simulation(run.pk) == "done"
    row = finished(run)
    assert (row.outcomes["unschedulable"], row.unplaced) == (1, [])


def test_a_queued_run_is_cancelled_at_once(run: Run) -> None:
    """Nobody computes it any more."""
    assert service.cancel(run).state == "cancelled"
    assert run_simulation(run.pk) is None
    assert finished(run).finished


def test_a_running_run_is_cancelled_after_its_slice(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    """What was computed stays and can be opened."""
    monkeypatch.setattr(compute, "SLICE_CYCLES", 1)
    original = compute._Attempt._slice

    def slice_then_cancel(self: Any) -> bool:
        more = original(self)
        service.cancel(self.run)
        return more

    monkeypatch.setattr(compute._Attempt, "_slice", slice_then_cancel)
    assert run_simulation(run.pk) == "cancelled"
    row = finished(run)
    assert (row.state, row.cycles) == ("cancelled", 1)
    assert len(sources.open_playback(sources.find({"run": row.pk}, ""))) == 1


def test_a_run_whose_worker_died_while_cancelling_ends_cancelled(run: Run) -> None:
    """The next worker ends it without computing."""
    compute.claim_run(run.pk)
    service.cancel(run)
    assert finished(run).state == "cancelling"
    Run.objects.filter(pk=run.pk).update(heartbeat=timezone.now() - timedelta(seconds=31))
    assert run_simulation(run.pk) == "cancelled"


@pytest.mark.parametrize(
    ("name", "value", "text"), [("RUN_CYCLES", 2, "limit of 2 cycles"), ("RUN_MIB", 1, "more than 1 MiB")]
)
def test_a_run_beyond_its_limits_fails_with_advice(
    run: Run, limits: Any, monkeypatch: pytest.MonkeyPatch, name: str, value: int, text: str
) -> None:
    """The row says which limit it was; the cycles so far are kept."""
    monkeypatch.setattr(compute, "SLICE_CYCLES", 1)
    limits(**{name: value})
    assert run_simulation(run.pk) == "failed"
    row = finished(run)
    assert text in row.error
    assert row.finished
    assert (row.cycles >= 1) == (name != "RUN_MIB"), "what goes beyond its memory does so while it is loaded"


def test_a_run_of_as_many_cycles_as_are_allowed_is_done(run: Run, limits: Any) -> None:
    """Only one more would be beyond the limit."""
    limits(RUN_CYCLES=5)
    assert run_simulation(run.pk) == "done"
    assert (finished(run).cycles, finished(run).error) == (5, "")


def test_a_run_that_kills_its_workers_fails(run: Run) -> None:
    """It is not tried for ever."""
    Run.objects.filter(pk=run.pk).update(attempts=compute.ATTEMPTS)
    assert run_simulation(run.pk) == "failed"
    assert "memory" in finished(run).error


def test_an_error_of_the_engine_is_reported(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    """A defect fails the run and not the worker."""

    def broken(_self: Any) -> None:
        raise ZeroDivisionError("of nothing")

    monkeypatch.setattr("scheduler_core.run.instant.Simulation.step", broken)
    assert run_simulation(run.pk) == "failed"
    assert "ZeroDivisionError: of nothing" in finished(run).error


def test_a_broker_that_is_away_loses_no_run(
    run: Run, monkeypatch: pytest.MonkeyPatch, sent: list[str]
) -> None:
    """Workers look for rows that nobody reported them of."""

    def away(*_: Any, **__: Any) -> None:
        raise ConnectionError("no broker")

    monkeypatch.setattr(app, "send_task", away)
    second, _ = service.start(load((DATA / "web.yaml").read_text()), OWNER)
    assert finished(second).state == "queued"
    assert rescue.rescue() == []
    monkeypatch.setattr(app, "send_task", lambda _name, args, **_: sent.extend(args))
    Run.objects.update(enqueued=timezone.now() - timedelta(minutes=1))
    assert set(rescue.rescue()) == {run.pk, second.pk}
    assert set(sent) == {run.pk, second.pk}
    assert rescue.rescue() == []


def test_a_restart_does_not_wait_for_claims_to_grow_stale(run: Run, sent: list[str]) -> None:
    """Claims of processes of this machine that are gone are released when a worker starts."""
    claim = compute.claim_run(run.pk)
    assert claim
    assert rescue.release_dead_claims() == []
    host = claim.split("/")[0]
    Run.objects.filter(pk=run.pk).update(claim=f"{host}/4194999/abc")
    assert rescue.release_dead_claims() == [run.pk]
    assert run_simulation(run.pk) == "done"


def test_a_beat_announces_the_run_of_a_dead_process_once(run: Run, sent: list[str]) -> None:
    """Every beat looks; a run that is announced and not yet taken up is left to the rescue."""
    claim = compute.claim_run(run.pk)
    assert claim
    Run.objects.filter(pk=run.pk).update(claim=f"{claim.split('/', maxsplit=1)[0]}/{os.getpid()}.4194999/abc")
    sent.clear()
    heartbeat.beat("1-worker@here")
    heartbeat.beat("1-worker@here")
    assert sent == [run.pk]
    assert run_simulation(run.pk, run.queue) == "done"
    assert finished(run).attempts == 1


def test_unfinished_runs_of_a_visitor_are_bounded(run: Run, limits: Any) -> None:
    """Another one is refused until one has ended; other visitors do not count."""
    limits(RUNS_PER_OWNER=1)
    scenario = store.load_scenario(run.scenario)
    with pytest.raises(service.TooManyRunsError):
        service.start(scenario, OWNER)
    service.start(scenario, "somebody else")
    service.cancel(run)
    service.start(scenario, OWNER)


def test_the_same_run_asked_for_again_is_answered_from_the_store(run: Run) -> None:
    """Not before it has ended, by its own owner alone, and only while the same code would compute it."""
    scenario = store.load_scenario(run.scenario)

    def asked(owner: str = run.owner) -> bool:
        text = store.scenario_text(run.scenario)
        found, _ = service.known_or_started(scenario, owner, text=text)
        return found.pk == run.pk

    assert not asked()
    assert run_simulation(run.pk) == "done"
    assert asked()
    assert not asked("a" * 32)
    Run.objects.filter(pk=run.pk).update(code="of-an-older-engine")
    assert not asked()


def test_a_policy_in_the_configuration_replaces_the_scenarios(run: Run) -> None:
    """A run can try another policy; anything else is refused."""
    scenario = store.load_scenario(run.scenario)
    policy = {"priorities": [{"name": "EqualPriority", "weight": 1}]}
    changed = service.configured(scenario, {"policy": policy})
    assert changed.policy and changed.policy["priorities"] == policy["priorities"]
    assert changed.id != scenario.id
    assert service.configured(scenario, {}) is scenario
    fixed = service.configured(scenario, {"settings": {"quirks": "fixed"}})
    assert fixed.settings.quirks == "fixed" and fixed.policy == scenario.policy
    with pytest.raises(BundleError):
        service.configured(scenario, {"policy": {"predicates": [{"name": "Nonsense"}]}})
    for config in ({"cache": "on"}, {"policy": 3}, [1], "x"):
        with pytest.raises(service.ConfigError):
            service.configured(scenario, config)


def test_a_run_takes_a_scheduler_configuration_in_the_policys_place(run: Run) -> None:
    """Either kind of configuration replaces the other; a bundle never has both."""
    scenario = store.load_scenario(run.scenario)
    given = {
        "apiVersion": "kubescheduler.config.k8s.io/v1beta3",
        "kind": "KubeSchedulerConfiguration",
        "profiles": [{"schedulerName": "default-scheduler"}],
    }
    under = service.configured(scenario, {"policy": given})
    assert under.configuration.framework is not None
    assert "Policy" not in {document.get("kind") for document in under.documents}
    again = service.configured(under, {"policy": {"priorities": []}})
    assert again.configuration.framework is None
    assert again.policy and again.policy["kind"] == "Policy"


def test_the_meter_agrees_with_a_count_from_scratch() -> None:
    """After every cycle, what is used is the sum over the pods that are placed."""
    playback = Playback(load((DATA / "preempt.yaml").read_text()))
    while playback.advance(1):
        pass
    meter = Meter(playback.scenario, Tables(playback.scenario))
    for index in range(1, len(playback) + 1):
        decision = playback.trail.decisions[index - 1]
        mark = playback.trail.marks(index, index)["result"]
        meter.apply(
            decision.pod, mark, playback.trail.changes[index - 1], playback.trail.operations_of(index)
        )
        placed = playback.trail.placement_before(index + 1)
        on_nodes = [pod for pod, node in enumerate(placed.tolist()) if node >= 0]
        assert meter.placed == len(on_nodes)
        assert meter.used["cpu"] == sum(playback.tables.usage[pod].get("cpu", 0) for pod in on_nodes)
        assert meter.pending + meter.unschedulable == int((placed == -1).sum())
    assert meter.capacity["cpu"] == 5_000


LIVING = """\
{kind: SimulationSettings, scheduler: v1.37}
---
{kind: Node, apiVersion: v1, metadata: {name: a, annotations: {podstep/fails-at: "60"}},
 status: {allocatable: {cpu: "4", pods: "110"}}}
---
{kind: Node, apiVersion: v1, metadata: {name: b}, status: {allocatable: {cpu: "4", pods: "110"}}}
---
{kind: Deployment, apiVersion: apps/v1, metadata: {name: web}, spec: {
 replicas: 4, selector: {matchLabels: {app: web}}, template: {metadata: {labels: {app: web}},
 spec: {containers: [{name: c, resources: {requests: {cpu: 500m}}}]}}}}
---
{kind: Job, apiVersion: batch/v1, metadata: {name: short}, spec: {template: {
 metadata: {annotations: {podstep/run-seconds: "5"}}, spec: {restartPolicy: Never, containers: [{name: c}]}}}}
"""


def test_the_end_counts_what_came_after_the_last_cycle(sent: list[str]) -> None:
    """Pods of a silent node stay there, being deleted: they do not run. A Job's pod has ended."""
    started, _ = service.start(bundles.parse([("", LIVING)], "a node fails"), OWNER)
    assert run_simulation(started.pk) == "done"
    row = finished(started)
    silent = row.samples["rows"][-1][6]
    assert (row.placed, row.pending, row.unschedulable) == (4, 0, 0)
    assert silent == 2
    named = figures.figures(row)["pods"]
    assert [line["name"] for line in named["data"]] == ["pending", "placed", "unschedulable", "terminating"]
    assert named["layout"]["meta"]["terminating"] == silent
    table = next(one for one in figures.tables(row) if one["name"] == "pods")
    assert table["columns"] == ["cycle", "pending", "running", "unschedulable", "terminating"]
    assert table["rows"][-1][1:] == ["0", "4", "0", "2"]


def test_samples_that_count_no_terminating_pods_are_charted(run: Run) -> None:
    """Rows that were stored before they were counted have six values."""
    run_simulation(run.pk)
    row = finished(run)
    row.samples["rows"] = [one[:6] for one in row.samples["rows"]]
    named = figures.figures(row)["pods"]
    assert [line["name"] for line in named["data"]] == ["pending", "placed", "unschedulable"]
    assert named["layout"]["meta"]["terminating"] == 0


def test_samples_are_thinned_evenly(limits: Any) -> None:
    """However long a run is, its samples are bounded, in order and evenly spaced."""
    limits(RUN_SAMPLES=10)
    samples = Samples({}, ["cpu"])
    for index in range(200):
        if samples.wanted(index):
            samples.add([index])
    again = Samples(samples.stored(), [])
    kept = [row[0] for row in again.rows]
    assert len(kept) <= 10
    assert kept == list(range(0, 200, again.stride))[: len(kept)]


def test_orderly_restarts_never_fail_a_run(run: Run) -> None:
    """However often its worker is reported to end before a cycle was stored, the run is done in the end."""
    for _ in range(compute.ATTEMPTS + 2):
        assert compute.claim_run(run.pk)
        assert rescue.give_back_attempts(os.getppid()) == 1
        Run.objects.filter(pk=run.pk).update(heartbeat=timezone.now() - timedelta(seconds=31))
    assert finished(run).attempts == 0
    assert run_simulation(run.pk) == "done"


def test_only_the_ending_workers_attempts_are_given_back(run: Run) -> None:
    """What another worker of the same machine computes still counts."""
    assert compute.claim_run(run.pk)
    assert rescue.give_back_attempts(os.getppid() + 1) == 0
    assert finished(run).attempts == 1


def test_a_long_queue_is_announced_ever_more_seldom(run: Run, sent: list[str]) -> None:
    """After its first announcement each wait is twice the last, ten minutes at most."""

    def waits(reported: int, now: int) -> bool:
        queued = timezone.now() - timedelta(seconds=now)
        # Of a run that was handed over, the time before does not count.
        created = queued - timedelta(hours=1)
        times = {"created": created, "queued": queued, "enqueued": queued + timedelta(seconds=reported)}
        Run.objects.filter(pk=run.pk).update(**times)
        return rescue.rescue() == []

    assert [waits(*at) for at in ((0, 19), (0, 21))] == [True, False]
    assert [waits(*at) for at in ((100, 190), (100, 201))] == [True, False]
    assert [waits(*at) for at in ((9_000, 9_590), (9_000, 9_601))] == [True, False]
