"""Processor seconds are a budget: what they buy, who is refused what, and when to come back."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator

import pytest
from django.test import Client

from playground.playback import executor
from playground.pool import cpu_budget, pool
from playground.pool.cpu_budget import SpentError
from playground.pool.shares import Bounds
from playground.visitors import caller
from scheduler_core.interrupts import look
from tests.playground import pool_jobs
from tests.playground.conftest import OWNER, PATIENCE, connected

pytestmark = pytest.mark.django_db(transaction=True)

Limits = Callable[..., None]
ADDRESS = "127.0.0.1"


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch, limits: Limits) -> Iterator[list[float]]:
    """A clock that stands still, and budgets of ten seconds a minute, of an address twenty."""
    now = [1_000.0]
    monkeypatch.setattr(cpu_budget, "_now", lambda: now[0])
    limits(CPU_SECONDS_PER_VISITOR=10, CPU_SECONDS_PER_ADDRESS=20, CPU_BUDGET_SECONDS=60)
    cpu_budget.spending.clear()
    yield now
    cpu_budget.spending.clear()


@pytest.mark.parametrize(
    ("spent", "beyond", "wait"),
    [
        ({"a": 10.0}, 1.0, 0),
        ({"a": 11.0}, 1.0, 7),
        ({"a grows": 6.0, "a": 5.0, "a computes": 1.0}, 1.0, 13),  # all shares of a visitor are theirs
        ({"a": 12.4}, 1.25, 0),
        ({"a": 13.0}, 1.25, 19),
        ({"b": 9.0, "c": 9.0, "a": 4.0}, 1.0, 7),  # of one address
        ({"b": 30.0}, 1.25, 31),
    ],
)
def test_a_budget(clock: list[float], spent: dict[str, float], beyond: float, wait: int) -> None:
    """What was spent by a visitor and from an address decays; the message says when it suffices again."""
    caller.called_from(ADDRESS)
    for share, seconds in spent.items():
        cpu_budget.spending.charge(share, seconds)
    if not wait:
        cpu_budget.spending.check("a", beyond)
        return
    with pytest.raises(SpentError, match=f"come back in {wait} seconds") as refused:
        cpu_budget.spending.check("a", beyond)
    assert refused.value.retry_after == wait
    clock[0] += wait
    cpu_budget.spending.check("a", beyond)


def test_long_work_is_charged_and_ended(clock: list[float]) -> None:
    """A moment is not refused; what goes on is, as soon as it is long."""
    cpu_budget.spending.charge("a", 11.0)
    with executor.places().stay("a", PATIENCE):
        look()
    with executor.places().stay("a", PATIENCE) as stay:
        stay._due = 0.0
        with pytest.raises(SpentError):
            look()
    assert executor.places()._free == 2
    with executor.places().stay("b", PATIENCE):
        until = time.thread_time() + 0.05
        while time.thread_time() < until:
            look()
    assert 0.05 <= cpu_budget.spending._accounts["CPU_SECONDS_PER_VISITOR", "b"].seconds < 1


def test_jobs_of_the_pool_are_charged(clock: list[float]) -> None:
    """To the visitor and the address that submitted them, however they end; then no more is accepted."""
    caller.called_from(ADDRESS)
    made = pool.Pool(1, Bounds(1, 10, 10))
    try:
        made.submit("a", pool_jobs.process_id).future.result(PATIENCE)
        job = made.submit("a", pool_jobs.spent, 0.3, long=True)
        assert job.future.result(PATIENCE) >= 0.3
        for name, who in (("CPU_SECONDS_PER_VISITOR", "a"), ("CPU_SECONDS_PER_ADDRESS", ADDRESS)):
            assert cpu_budget.spending._accounts[name, who].seconds >= 0.25
        cpu_budget.spending.charge("a", 11.0)
        with pytest.raises(SpentError):
            made.submit("a", pool_jobs.process_id)
    finally:
        made.close()


async def test_who_has_spent_their_budget_still_steps(clock: list[float], web: str) -> None:
    """Steps that are computed go on; what takes long is refused, with when to come back."""
    async with connected() as socket:
        opened = await socket.success("bundle.open", {"text": web})
        source = {"draft": opened["draft"]}
        await socket.success("scenario.open", {"source": source})
        cpu_budget.spending.charge(OWNER, 11.0)
        await socket.success("cycle.get", {"source": source, "step": "2", "parts": ["predicates"]})
        error = await socket.error("bundle.check", {"text": web})
        assert error["code"] == "budget.spent"
        assert 7 <= error["retryAfter"] <= 13  # the steps before cost something, too
        assert f"come back in {error['retryAfter']} seconds" in error["message"]
        known = {"source": source, "step": "2", "parts": ["predicates"]}
        cpu_budget.spending.charge(OWNER, 3.0)
        assert (await socket.error("why.ask", {"source": source, "step": "2", "pod": "default/web-0"}))[
            "code"
        ] == "budget.spent"
        await socket.success("cycle.get", known)  # from memory
        clock[0] += 60
        await socket.success("bundle.check", {"text": web})


def test_the_api_says_when_to_come_back(clock: list[float], web: str) -> None:
    """429 with Retry-After."""
    made = Client().post("/api/scenarios", {"bundle": web}, content_type="application/json").json()
    caller.called_from(ADDRESS)
    cpu_budget.spending.charge("", 26.0)
    answer = Client().get(f"/api/scenarios/{made['id']}/cycles")
    wait = int(answer.headers["Retry-After"])
    assert answer.status_code == 429 and 7 <= wait <= 45
    assert f"come back in {wait} seconds" in answer.json()["errors"][0]["message"]
