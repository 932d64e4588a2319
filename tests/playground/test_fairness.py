"""Whose run is next: the order as a function of rows, a simulation of workers, and claims in the database."""

from __future__ import annotations

from collections import Counter
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from django.utils import timezone

from playground.celery import app
from playground.models import QUEUED, RUNNING, Run
from playground.queues import LONG, SHORT
from playground.runs import compute, fairness, service
from playground.runs.fairness import QueuedRun, Visitor, fair_order
from playground.storage import bundles
from playground.tasks import run_simulation
from tests.playground.conftest import DATA, OWNER, STRANGER

EPOCH = datetime(2026, 1, 1, tzinfo=UTC)
ANN, BOB, EVE, EVE_AGAIN = ("1.1.1.1", "ann"), ("2.2.2.2", "bob"), ("6.6.6.6", "eve"), ("6.6.6.6", "eve2")


def waiting(*rows: tuple[str, Visitor]) -> list[QueuedRun]:
    """Return runs that began to wait one second after the other."""
    return [QueuedRun(run, who, EPOCH + timedelta(seconds=at)) for at, (run, who) in enumerate(rows)]


def test_visitors_take_turns() -> None:
    """However many runs the first one started, the second one's run is the second."""
    rows = waiting(("a1", ANN), ("a2", ANN), ("a3", ANN), ("b1", BOB), ("b2", BOB))
    assert fair_order(rows, [], {}) == ["a1", "b1", "a2", "b2", "a3"]


def test_who_has_a_run_under_way_comes_later() -> None:
    """Whoever has the fewest runs under way is next, whoever began to wait first."""
    rows = waiting(("a1", ANN), ("a2", ANN), ("b1", BOB))
    assert fair_order(rows, [ANN], {}) == ["b1", "a1", "a2"]
    assert fair_order(rows, [ANN, ANN, BOB], {}) == ["b1", "a1", "a2"]


def test_among_equals_the_longest_without_a_turn_is_next() -> None:
    """Of two visitors with nothing under way, the one who was not served lately comes first."""
    rows = waiting(("a1", ANN), ("b1", BOB))
    assert fair_order(rows, [], {ANN: EPOCH}) == ["b1", "a1"]
    assert fair_order(rows, [], {ANN: EPOCH, BOB: EPOCH + timedelta(1)}) == ["a1", "b1"]


def test_a_new_cookie_gains_nothing() -> None:
    """Visitors of one address share its turns, and take turns among themselves."""
    rows = waiting(("e1", EVE), ("e2", EVE), ("x1", EVE_AGAIN), ("a1", ANN), ("a2", ANN))
    assert fair_order(rows, [], {}) == ["e1", "a1", "x1", "a2", "e2"]
    assert fair_order(rows, [EVE], {EVE: EPOCH}) == ["a1", "x1", "a2", "e1", "e2"]


def test_without_an_address_the_owner_counts() -> None:
    """Runs of before addresses were stored belong to their owners."""
    rows = waiting(("a1", ("", "ann")), ("a2", ("", "ann")), ("b1", ("", "bob")))
    assert fair_order(rows, [], {}) == ["a1", "b1", "a2"]


class Machine:
    """Workers that claim by the order alone: which runs wait, which are under way, and until when."""

    def __init__(self, processes: int) -> None:
        self.now = 0
        self.waiting: list[tuple[QueuedRun, int]] = []
        self.under_way: list[tuple[int, Visitor]] = []
        self.last: dict[Visitor, datetime] = {}
        self.started: dict[str, int] = {}
        self.processes = processes

    def start(self, run: str, who: Visitor, seconds: int) -> None:
        self.waiting.append((QueuedRun(run, who, EPOCH + timedelta(seconds=self.now)), seconds))

    def tick(self) -> None:
        self.under_way = [(end, who) for end, who in self.under_way if end > self.now]
        while self.waiting and len(self.under_way) < self.processes:
            running = [who for _, who in self.under_way]
            chosen = fair_order([one for one, _ in self.waiting], running, self.last)[0]
            one, seconds = next(entry for entry in self.waiting if entry[0].run == chosen)
            self.waiting.remove((one, seconds))
            self.under_way.append((self.now + seconds, one.visitor))
            self.last[one.visitor] = EPOCH + timedelta(seconds=self.now)
            self.started[one.run] = self.now
        self.now += 1


def test_nobody_starves_beside_a_visitor_with_endless_runs() -> None:
    """Beside one who always has forty runs waiting, each of three others starts within two runs' time."""
    machine = Machine(processes=2)
    others = [(f"10.0.0.{number}", "guest") for number in range(3)]
    waited: dict[str, int] = {}
    for second in range(2_000):
        while sum(one.visitor[0] == EVE[0] for one, _ in machine.waiting) < 40:
            machine.start(f"e{len(machine.started)}-{len(machine.waiting)}", (EVE[0], f"e{second}"), 10)
        if second % 100 == 50:
            for who in others:
                machine.start(f"{who[0]}@{second}", who, 10)
                waited[f"{who[0]}@{second}"] = second
        machine.tick()
    waits = [machine.started[run] - began for run, began in waited.items()]
    assert max(waits) <= 20


def test_turns_are_equal_among_visitors_who_always_wait() -> None:
    """Three visitors with two, ten and thirty runs waiting get as many turns each."""
    machine = Machine(processes=1)
    depth = {ANN: 2, BOB: 10, EVE: 30}
    for _ in range(900):
        have = Counter(one.visitor for one, _ in machine.waiting)
        for who, most in depth.items():
            for number in range(most - have[who]):
                machine.start(f"{who[1]}.{machine.now}.{number}", who, 5)
        machine.tick()
    turns = Counter(run.split(".")[0] for run in machine.started)
    assert max(turns.values()) - min(turns.values()) <= 1


@pytest.fixture
def sent(monkeypatch: pytest.MonkeyPatch) -> list[tuple[str, str]]:
    """What was handed to the broker: run and queue."""
    messages: list[tuple[str, str]] = []

    def note(_name: str, args: list[str], queue: str, **_: Any) -> None:
        messages.append((args[0], queue))

    monkeypatch.setattr(app, "send_task", note)
    return messages


def queued(owner: str, address: str, queue: str = LONG) -> Run:
    """Return a run that waits in a queue."""
    scenario = bundles.parse([("", (DATA / "preempt.yaml").read_text())], "history")
    run, _ = service.start(scenario, owner, address)
    Run.objects.filter(pk=run.pk).update(queue=queue)
    return run


@pytest.mark.django_db(transaction=True)
def test_a_message_is_for_whoever_is_next(sent: list[tuple[str, str]]) -> None:
    """Three messages compute three runs, in the fair order and not in that of the messages."""
    first, second = queued(OWNER, "1.1.1.1"), queued(OWNER, "1.1.1.1")
    other = queued(STRANGER, "2.2.2.2")
    assert service.run_wire(first)["position"] == 1
    assert [service.run_wire(run)["position"] for run in (other, second)] == [2, 3]
    done = []
    for run_id in [run for run, _ in sent]:
        assert run_simulation(run_id, LONG) == "done"
        done = list(Run.objects.filter(state="done").order_by("finished").values_list("pk", flat=True))
    assert done == [first.pk, other.pk, second.pk]
    assert run_simulation(first.pk, LONG) is None, "a message too many finds nothing"
    first.refresh_from_db()
    assert service.run_wire(first)["position"] is None


@pytest.mark.django_db(transaction=True)
def test_two_workers_that_look_at_once_get_two_runs(
    sent: list[tuple[str, str]], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Who comes second to a run takes the next one of the order."""
    first, second = queued(OWNER, "1.1.1.1"), queued(STRANGER, "2.2.2.2")
    both = fairness.next_runs(LONG)
    monkeypatch.setattr(fairness, "next_runs", lambda _queue: both)
    assert both == [first.pk, second.pk]
    assert compute.claim_run(first.pk)
    assert run_simulation(first.pk, LONG) == "done"
    states = {run.pk: Run.objects.get(pk=run.pk).state for run in (first, second)}
    assert states == {first.pk: RUNNING, second.pk: "done"}


@pytest.mark.django_db(transaction=True)
def test_a_process_for_short_runs_takes_no_long_one(sent: list[tuple[str, str]]) -> None:
    """A message of one queue never computes a run of the other."""
    long, short = queued(OWNER, "1.1.1.1", LONG), queued(OWNER, "1.1.1.1", SHORT)
    assert run_simulation(long.pk, SHORT) == "done"
    assert Run.objects.get(pk=long.pk).state == QUEUED
    assert Run.objects.get(pk=short.pk).state == "done"
    assert run_simulation(long.pk, SHORT) is None


@pytest.mark.django_db(transaction=True)
def test_a_run_whose_worker_died_is_taken_up_first(sent: list[tuple[str, str]]) -> None:
    """Its visitor's turn was not over, and positions count those that never ran."""
    broken, other = queued(OWNER, "1.1.1.1"), queued(STRANGER, "2.2.2.2")
    assert compute.claim_run(broken.pk)
    Run.objects.filter(pk=broken.pk).update(heartbeat=timezone.now() - timedelta(seconds=31))
    assert fairness.next_runs(LONG) == [broken.pk, other.pk]
    assert fairness.positions() == {other.pk: 1}


@pytest.mark.django_db(transaction=True)
def test_a_short_run_that_takes_long_is_handed_over(
    sent: list[tuple[str, str]], limits: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    """After its seconds it waits among the long runs, goes on from its chunks, and ends the same."""
    monkeypatch.setattr(compute, "SLICE_CYCLES", 2)
    run = queued(OWNER, "1.1.1.1", SHORT)
    sent.clear()
    limits(SHORT_SECONDS=0)
    assert run_simulation(run.pk, SHORT) == QUEUED
    run.refresh_from_db()
    assert (run.queue, run.cycles, run.claim, run.attempts) == (LONG, 2, "", 0)
    assert sent == [(run.pk, LONG)]
    assert run_simulation(run.pk, SHORT) is None
    assert run_simulation(run.pk, LONG) == "done"
    run.refresh_from_db()
    assert (run.cycles, run.placed, run.attempts) == (5, 2, 1)
    assert [chunk.first for chunk in run.chunks.order_by("number")] == [1, 3, 5]


@pytest.mark.django_db(transaction=True)
def test_a_long_run_makes_room_for_a_visitor_without_one(
    sent: list[tuple[str, str]], limits: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    """When its turn is over and nobody took the other's run; it resumes after that, and loses nothing."""
    monkeypatch.setattr(compute, "SLICE_CYCLES", 2)
    limits(TURN_SECONDS=0)
    run = queued(OWNER, "1.1.1.1")
    own, other = queued(OWNER, "1.1.1.1"), queued(STRANGER, "2.2.2.2")
    before = timezone.now() - timedelta(minutes=1)
    Run.objects.filter(pk=run.pk).update(queued=before - timedelta(minutes=1))
    Run.objects.filter(pk__in=(own.pk, other.pk)).update(queued=before)
    sent.clear()
    assert run_simulation(run.pk, LONG) == QUEUED
    assert sent == [(run.pk, LONG)]
    limits(TURN_SECONDS=60)
    assert run_simulation(run.pk, LONG) == "done"
    assert Run.objects.get(pk=other.pk).state == "done"
    limits(TURN_SECONDS=0)
    # Now only the visitor's own run waits, which is no reason to make room.
    assert [run_simulation(run.pk, LONG) for _ in range(2)] == ["done", "done"]
    assert Run.objects.get(pk=run.pk).cycles == 5
    assert fairness.next_runs(LONG) == []


@pytest.mark.django_db(transaction=True)
def test_a_run_that_is_cancelled_at_the_end_of_its_turn_ends(
    sent: list[tuple[str, str]], limits: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It is not queued again."""
    monkeypatch.setattr(compute, "SLICE_CYCLES", 1)
    limits(SHORT_SECONDS=0)
    run = queued(OWNER, "1.1.1.1", SHORT)
    over = compute._Attempt._turn_is_over

    def cancel_first(self: Any) -> bool:
        service.cancel(self.run)
        return over(self)

    monkeypatch.setattr(compute._Attempt, "_turn_is_over", cancel_first)
    assert run_simulation(run.pk, SHORT) == "cancelled"
