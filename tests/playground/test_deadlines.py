"""A step that takes too long, or too much memory, ends with a message wherever it is computed."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any

import pytest

from playground.models import Run, new_run_id
from playground.playback import deadlines
from playground.playback.deadlines import TooMuchWorkError
from playground.playback.playback import Playback
from playground.runs import compute
from playground.storage import bundles, store
from scheduler_core import load
from scheduler_core.interrupts import look
from scheduler_core.run.plane.control_plane import ControlPlaneManager
from scheduler_core.run.simulation import TimedSimulation
from tests.playground.conftest import connected

TEXT = """
{apiVersion: podstep/v1, kind: SimulationSettings, time: virtual, quirks: v1.11}
---
apiVersion: v1
kind: Node
metadata: {name: "n"}
status: {allocatable: {cpu: "4", memory: 8Gi, pods: "110"}}
---
apiVersion: v1
kind: Pod
metadata: {name: a}
spec: {containers: [{name: c, resources: {requests: {cpu: "1"}}}]}
---
apiVersion: v1
kind: Pod
metadata: {name: b}
spec: {containers: [{name: c, resources: {requests: {cpu: "1"}}}]}
"""


class Clock:
    """The processor time of a thread, which only a loop without end lets pass."""

    now = 0.0


def for_ever(*_: Any, **__: Any) -> None:
    """Loop as the engine's loops do: asking whether to go on."""
    while True:
        look()
        Clock.now += 0.01
        time.sleep(0.0001)


@pytest.fixture
def hurried(monkeypatch: pytest.MonkeyPatch, settings: Any) -> None:
    """Steps of no time at all; time passes in a loop without end alone, whatever else the machine does."""
    settings.PLAYGROUND = {**settings.PLAYGROUND, "STEP_SECONDS": 0.2}
    monkeypatch.setattr("playground.playback.deadlines.time.thread_time", lambda: Clock.now)


@pytest.fixture
def endless_second(monkeypatch: pytest.MonkeyPatch) -> None:
    """The cycle of the second pod never ends."""
    attempt = TimedSimulation._attempt

    def stuck(self: TimedSimulation) -> Any:
        head = self.framework.queue.head()
        if head is not None and head.key == "default/b":
            for_ever()
        return attempt(self)

    monkeypatch.setattr(TimedSimulation, "_attempt", stuck)


@pytest.mark.usefixtures("hurried", "endless_second")
def test_a_step_without_end_stops_the_playback() -> None:
    """The cycles before it stay, and the reason names the bound and what to do."""
    playback = Playback(load(TEXT))
    while playback.advance(1):
        pass
    assert len(playback) == 1
    assert playback.complete
    assert playback.stopped is not None
    assert playback.stopped.startswith("One step of this needs more than 0 seconds of computing")
    assert "A run in a worker may take more" in playback.stopped
    assert playback.cycle(1).pod == "default/a"


@pytest.mark.usefixtures("hurried")
def test_every_copy_of_a_playback_is_bounded(monkeypatch: pytest.MonkeyPatch) -> None:
    """The reader, the one before a cycle and the one behind it end as the forward one does, and recover."""
    playback = Playback(load(TEXT))
    while playback.advance(1):
        pass
    looks: tuple[Callable[[], Any], ...] = (
        lambda: playback.cycle(2),
        lambda: playback.before(2).__enter__(),
        lambda: playback.after(2).__enter__(),
    )
    for look_at in looks:
        with monkeypatch.context() as patch:
            patch.setattr(TimedSimulation, "_attempt", for_ever)
            with pytest.raises(TooMuchWorkError):
                look_at()
        look_at()


@pytest.mark.usefixtures("hurried")
def test_each_replayed_cycle_is_a_step_of_its_own(monkeypatch: pytest.MonkeyPatch) -> None:
    """Many of them may take longer than one may."""
    playback = Playback(
        load(TEXT + "".join(TEXT[TEXT.rindex("---") :].replace("b}", f"{n}}}", 1) for n in "de"))
    )
    while playback.advance(1):
        pass
    repeat = TimedSimulation._repeat

    def slow(self: TimedSimulation, decision: Any) -> bool:
        Clock.now += 0.15
        look()
        return repeat(self, decision)

    monkeypatch.setattr(TimedSimulation, "_repeat", slow)
    assert playback.cycle(4).pod == "default/e"


@pytest.mark.usefixtures("hurried")
def test_the_construction_is_bounded(monkeypatch: pytest.MonkeyPatch) -> None:
    """Controllers that never settle hold no thread when a source is opened."""
    monkeypatch.setattr(ControlPlaneManager, "_start", for_ever)
    with pytest.raises(TooMuchWorkError, match="needs more than"):
        Playback(load(TEXT))


def test_memory_is_bounded_as_well(monkeypatch: pytest.MonkeyPatch) -> None:
    """A step that lets the process grow by more than it may ends."""
    grown = iter(range(0, 10**15, 100 * 2**20))
    monkeypatch.setattr(deadlines, "resident_bytes", lambda: next(grown))
    monkeypatch.setattr(deadlines, "LOOK_SECONDS", 0.0)
    with pytest.raises(TooMuchWorkError, match="MiB of memory"), deadlines.one_step():
        for_ever()


@pytest.mark.django_db(transaction=True)
@pytest.mark.usefixtures("endless_second")
def test_a_run_fails_with_the_bound_and_keeps_its_cycles(
    settings: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What the worker computed before the step is stored."""
    settings.PLAYGROUND = {**settings.PLAYGROUND, "RUN_SECONDS": 1}
    monkeypatch.setattr("playground.playback.deadlines.time.thread_time", lambda: Clock.now)
    row = store.keep_scenario(bundles.parse([("", TEXT)], "t"), TEXT)
    run = Run.objects.create(id=new_run_id(), scenario=row, title="t", owner="o")
    assert compute.compute(run.pk) == "failed"
    run.refresh_from_db()
    assert run.error.startswith("The run needs more than 1 seconds of computing, the limit of a run.")
    assert run.cycles == 1


@pytest.mark.django_db(transaction=True)
@pytest.mark.usefixtures("hurried")
async def test_the_socket_answers_what_is_too_much(monkeypatch: pytest.MonkeyPatch) -> None:
    """What cannot be constructed is a draft all the same, and opening it answers why it cannot be played."""
    monkeypatch.setattr(ControlPlaneManager, "_start", for_ever)
    async with connected() as socket:
        made = await socket.success("bundle.open", {"text": TEXT})
        refused = await socket.error("scenario.open", {"source": {"draft": made["draft"]}})
    assert refused["code"] == "source.too-large"
    assert refused["message"].startswith("One step of this needs more than")
