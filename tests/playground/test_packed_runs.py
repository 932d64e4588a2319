"""A late cycle of a run opens from a simulation that the worker packed, and shows what a replay shows."""

from __future__ import annotations

import gc
import weakref
from collections.abc import Callable
from typing import Any

import pytest
from django.db.models import F

from playground.celery import app
from playground.models import Run, RunCheckpoint, RunChunk
from playground.playback import checkpoints, packed_runs, replay, sources
from playground.playback.library import Library
from playground.playback.packed_runs import read_checkpoints
from playground.playback.playback import Playback
from playground.runs import compute, packs, service
from playground.storage import backups, bundles
from scheduler_core import load
from scheduler_core.authoring.examples import examples
from scheduler_core.run import Unpacker, simulate
from scheduler_core.run.simulation import TimedSimulation
from scheduler_core.run.trace import trace_line
from scheduler_core.schedulers.columns import alike
from tests.bench.living_clusters import LIVING, Size, text_of
from tests.playground.test_checkpoints import states
from tests.rows import each_row

pytestmark = pytest.mark.django_db(transaction=True)

OWNER = "o" * 32
NODE = """---
apiVersion: v1
kind: Node
metadata: {{name: n{0}, labels: {{zone: z{1}}}}}
status: {{allocatable: {{cpu: "4", memory: 8Gi, pods: "8"}}}}
"""
POD = """---
apiVersion: v1
kind: Pod
metadata: {{name: p{0}, labels: {{app: a{1}}}}}
spec: {{priority: {1}, containers: [{{name: c, image: i, resources: {{requests: {{cpu: {2}m}}}}}}]}}
"""
TEXT = (
    "".join(NODE.format(number, number % 2) for number in range(5))
    + "".join(POD.format(number, number % 3, 300 + 170 * (number % 5)) for number in range(40))
    + """---
kind: Scenario
spec:
  operations:
  - {step: 1, deleteOperation: {typeMeta: {apiVersion: v1, kind: Node}, objectMeta: {name: n1}}}
"""
)


@pytest.fixture(autouse=True)
def often(monkeypatch: pytest.MonkeyPatch) -> None:
    """Pack after every slice of five cycles, and use whatever is packed."""
    monkeypatch.setattr(app, "send_task", lambda *_, **__: None)
    monkeypatch.setattr(compute, "SLICE_CYCLES", 5)
    monkeypatch.setattr(packs, "EVERY_SECONDS", 0.0)
    monkeypatch.setattr(packs, "COMPUTED", 0)
    monkeypatch.setattr(checkpoints.Checkpoints, "_near", lambda _: 0)
    monkeypatch.setattr(alike, "SCORED_ALONE", 1)
    monkeypatch.setattr(alike, "FEWER_ALIKE", 1)


SETTINGS = "---\napiVersion: podstep/v1\nkind: SimulationSettings\n{}\n"
RUNS = {
    "v1.37": "scheduler: v1.37",
    "v1.11": "scheduler: v1.11",
    "v1.11, cached": "scheduler: v1.11\ncache: v1.11",
    "framework": "scheduler: v1.22",
    "living": "scheduler: v1.37\ntime: virtual",
    "several": "schedulers: [{name: default-scheduler, runs: v1.37}, {name: old, runs: v1.11}]",
}


def computed(settings: str = "v1.37") -> Run:
    """Return a run that a worker has computed."""
    text = TEXT + SETTINGS.format(RUNS[settings])
    run, _ = service.start(bundles.parse([("", text)], "packed"), OWNER)
    assert compute.compute(run.pk) == "done"
    run.refresh_from_db()
    return run


def test_a_run_is_packed_while_controllers_write(monkeypatch: pytest.MonkeyPatch) -> None:
    """While a lost zone's pods are made again; that time had passed on shows in no state after a cycle."""
    monkeypatch.setattr(compute, "SLICE_CYCLES", 1)
    text = text_of(Size(12, 3, 30), lost=60) + LIVING
    run, _ = service.start(bundles.parse([("", text)], "lost"), OWNER)
    assert compute.compute(run.pk) == "done"
    straight = simulate(load(text))
    shown = [(trace_line(cycle), states(straight)) for cycle in straight]
    late = [one for one in read_checkpoints(run.pk, 90) if one.cycle < len(shown)]
    beyond = 0
    for one in late:
        playback = opened(run)
        with playback.after(one.cycle) as behind:
            assert states(behind) == shown[one.cycle - 1][1]
        assert trace_line(playback.cycle(one.cycle + 1)) == shown[one.cycle][0]
        packed = one.opened(Unpacker(playback.scenario))
        assert packed is not None
        beyond += states(packed) != shown[one.cycle - 1][1]
    assert beyond


def opened(run: Run) -> Playback:
    """Return the run's playback in a process that did not have it open."""
    return sources.open_playback(sources.find({"run": run.pk}, ""), Library())


@pytest.mark.parametrize("settings", RUNS)
def test_every_cycle_is_that_of_a_replay(monkeypatch: pytest.MonkeyPatch, settings: str) -> None:
    """Cycles, and the states before and after them, last ones first, so that each begins at a packed one."""
    run = computed(settings)
    kept = list(RunCheckpoint.objects.filter(run=run).order_by("cycle").values_list("cycle", flat=True))
    assert len(kept) >= 5
    cycles = range(run.cycles, 0, -4)
    shown = [trace_line(opened(run).cycle(index)) for index in (run.cycles, kept[0] + 1)]
    starts: list[int] = []

    def begun(*args: Any, **options: Any) -> Any:
        starts.append(1)
        return simulate(*args, **options)

    monkeypatch.setattr(replay, "simulate", begun)
    playback = opened(run)
    assert [trace_line(playback.cycle(index)) for index in (run.cycles, kept[0] + 1)] == shown
    assert starts == []
    opened_at = [playback.cycle(index) for index in cycles]
    packed = [trace_line(playback.cycle(index)) for index in cycles]
    assert [trace_line(cycle) for cycle in opened_at] == packed  # though its reader was discarded since
    for index in (kept[0] + 1, run.cycles):
        with playback.before(index) as standing, playback.after(index) as behind:
            placed = standing.placement(), behind.placement()
        with opened(run).before(index) as standing, opened(run).after(index) as behind:
            assert (standing.placement(), behind.placement()) == placed
    RunCheckpoint.objects.all().delete()
    replayed = opened(run)
    assert [trace_line(replayed.cycle(index)) for index in cycles] == packed


@pytest.mark.parametrize("settings", ["framework", "living", "several"])
def test_a_reader_that_is_replaced_is_freed_at_once(settings: str) -> None:
    """A jump leaves nothing of the run that it came from to a collection, though parts know each other."""
    run = computed(settings)
    playback = opened(run)
    gc.disable()
    try:
        for index in (run.cycles, run.cycles // 2, run.cycles - 1):
            replaced = [weakref.ref(one) for one in playback.replays.simulations if one is not None]
            playback.cycle(index)
            with playback.before(index), playback.after(index - 1):
                pass
            assert not [one for one in replaced if one() is not None]
        assert len(replaced) == 3
    finally:
        gc.enable()


def test_the_run_at_the_end_is_freed_by_a_step_back() -> None:
    """From the end, to which time has passed since the last cycle, to that cycle."""
    playback = opened(computed("living"))
    gc.disable()
    try:
        with playback.after(len(playback) + 1) as simulation:
            end = weakref.ref(simulation)
        del simulation
        with playback.after(len(playback)):
            assert end() is None
    finally:
        gc.enable()


@pytest.mark.parametrize("at", ["reader", "standing", "behind"])
def test_memory_is_estimated_while_a_run_is_discarded(at: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Another thread may open a playback then, which asks all others for their bytes."""
    playback = opened(computed("living"))
    sizes: list[int] = []
    discard = TimedSimulation.discard

    def discarded(run: TimedSimulation) -> None:
        discard(run)
        sizes.append(playback.bytes)

    monkeypatch.setattr(TimedSimulation, "discard", discarded)
    for index in (len(playback), len(playback) // 2):
        if at == "reader":
            playback.cycle(index)
        else:
            with playback.before(index) if at == "standing" else playback.after(index):
                pass
    assert sizes


OTHERS = "kube-batch-gangs", "firmament-gang", "coscheduling-room", "fair-shares", "extender", "drain-budget"


@each_row("slug", OTHERS)
def test_cycles_of_other_schedulers_open_as_they_were_decided(
    slug: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """In sessions, rounds and gangs, with an extender's recorded answers, and in lives, from packed runs."""
    monkeypatch.setattr(compute, "SLICE_CYCLES", 1)
    text = next(one for one in examples() if one.slug == slug).read()
    run, _ = service.start(bundles.parse([("", text)], slug), OWNER)
    assert compute.compute(run.pk) == "done"
    decided = [trace_line(cycle) for cycle in simulate(load(text))]
    playback = opened(Run.objects.get(pk=run.pk))
    assert [trace_line(playback.cycle(index)) for index in range(len(decided), 0, -1)] == decided[::-1]
    assert RunCheckpoint.objects.filter(run=run).exists()


@pytest.mark.parametrize("harm", ["bytes", "secret", "code", "cycle", "run"])
def test_what_other_code_installations_or_runs_packed_is_not_read(
    harm: str, settings: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Nothing of it is unpickled; the decisions are replayed."""
    run = computed()
    if harm == "bytes":
        stored = RunCheckpoint.objects.filter(run=run)
        for cycle, data in stored.values_list("cycle", "data"):
            stored.filter(cycle=cycle).update(data=bytes(data)[:-1] + b"!")
    elif harm == "cycle":
        RunCheckpoint.objects.filter(run=run).update(cycle=F("cycle") + 1)
    elif harm == "run":
        other = computed()
        RunCheckpoint.objects.filter(run=run).delete()
        RunCheckpoint.objects.filter(run=other).update(run=run)
    elif harm == "secret":
        settings.SECRET_KEY = "another"
    else:
        monkeypatch.setattr(packed_runs, "_code", lambda: b"another")
    read: list[bytes] = []
    monkeypatch.setattr(Unpacker, "unpack", lambda _, data: read.append(data))
    playback = opened(run)
    assert playback.cycle(run.cycles).decision == playback.trail.decisions[-1]
    assert read == []


def test_a_restore_drops_what_would_be_unpickled() -> None:
    """No checkpoint comes with a backup, whose secret may have signed it; a run's bytes are without them."""
    run, other = computed(), computed()
    backups._drop_checkpoints()
    assert not RunCheckpoint.objects.exists()
    for one in (run, other):
        one.refresh_from_db()
        chunks = RunChunk.objects.filter(run=one)
        assert one.packed == sum(len(chunk.data) + len(chunk.messages or b"") for chunk in chunks)


def test_what_is_stored_is_bounded_and_counted(limits: Callable[..., None]) -> None:
    """Every other one goes where the bound is reached, and the bytes are with the row."""
    size = max(len(one.data) for one in RunCheckpoint.objects.filter(run=computed()))
    limits(RUN_CHECKPOINT_BYTES=3 * size)
    run = computed()
    kept = list(RunCheckpoint.objects.filter(run=run))
    assert 1 <= len(kept) <= 3
    assert sum(len(one.data) for one in kept) <= 3 * size
    chunks = RunChunk.objects.filter(run=run)
    stored = [one.data for one in kept] + [one.data + (one.messages or b"") for one in chunks]
    assert run.packed == sum(map(len, stored))
    limits(RUN_CHECKPOINT_BYTES=0)
    assert not RunCheckpoint.objects.filter(run=computed()).exists()
