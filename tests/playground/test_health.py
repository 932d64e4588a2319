"""Health: what a supervisor and a load balancer ask."""

from __future__ import annotations

import os
import socket
import threading
from datetime import timedelta
from typing import Any

import pytest
from billiard.exceptions import WorkerLostError
from celery.signals import task_failure
from django.core.management import CommandError, call_command
from django.test import Client
from django.utils import timezone

from playground.models import Worker
from playground.queues import LONG, SHORT
from playground.serving import health, heartbeat

pytestmark = pytest.mark.django_db(transaction=True)


def test_the_process_is_up() -> None:
    """No part is asked."""
    assert Client().get("/healthz").content == b"ok\n"


def test_ready_with_a_living_worker() -> None:
    """Every part is named."""
    heartbeat.beat("celery@here")
    answer = Client().get("/readyz")
    assert answer.status_code == 200
    body = answer.json()
    assert body["ready"] is True
    assert {name: part["ok"] for name, part in body["parts"].items()} == dict.fromkeys(
        ("database", "disk", "broker", "worker"), True
    )


def test_not_ready_without_a_worker() -> None:
    """A worker that was silent for a while counts as gone."""
    Worker.objects.create(name="celery@old", seen=timezone.now() - timedelta(seconds=16))
    answer = Client().get("/readyz")
    assert answer.status_code == 503
    assert answer.json()["parts"]["worker"]["ok"] is False
    assert "15 seconds" in answer.json()["parts"]["worker"]["detail"]


def test_not_ready_while_a_queue_has_no_worker() -> None:
    """A worker for short runs alone leaves the long ones waiting, and the answer says so."""
    heartbeat.beat("1-worker-short@here", [SHORT])
    answer = Client().get("/readyz")
    assert answer.status_code == 503
    assert answer.json()["parts"]["worker"]["detail"].startswith("no worker for long runs")
    heartbeat.beat("2-worker@here", [LONG, SHORT])
    assert Client().get("/readyz").status_code == 200


def test_the_health_check_of_a_container_asks_for_its_queue() -> None:
    """On a machine with one worker of two, only that one's queue is served."""
    heartbeat.beat(f"1-worker-short@{socket.gethostname()}", [SHORT])
    call_command("check_worker")
    call_command("check_worker", queue=SHORT)
    with pytest.raises(CommandError, match="no recent heartbeat of a worker"):
        call_command("check_worker", queue=LONG)
    with pytest.raises(CommandError, match="invalid choice"):
        call_command("check_worker", "--queue", "none")


def test_a_process_that_was_killed_makes_the_worker_beat(monkeypatch: pytest.MonkeyPatch) -> None:
    """A run that failed in order is no reason to."""
    wake = threading.Event()
    monkeypatch.setattr(heartbeat, "_wake", wake)
    task_failure.send(sender=None, exception=ValueError("of a run"))
    assert not wake.is_set()
    task_failure.send(sender=None, exception=WorkerLostError("signal 9 (SIGKILL)"))
    assert wake.is_set()


def test_a_failing_part_tells_no_secret(monkeypatch: pytest.MonkeyPatch) -> None:
    """An error's text can hold a connection string."""

    def down() -> str:
        raise ConnectionError("redis://:password@broker")

    monkeypatch.setattr(health, "PARTS", (("broker", down),))
    answer = Client().get("/readyz")
    assert answer.status_code == 503
    assert answer.json()["parts"]["broker"] == {"ok": False, "detail": "ConnectionError"}


def test_a_beat_looks_for_lost_runs(monkeypatch: pytest.MonkeyPatch) -> None:
    """Any worker finds what the broker lost."""
    looked: list[int] = []
    monkeypatch.setattr("playground.runs.rescue.rescue", lambda: looked.append(1))
    heartbeat.beat("celery@here")
    heartbeat.beat("celery@here")
    assert looked == [1, 1]
    assert Worker.objects.count() == 1


def test_a_worker_that_leaves_is_gone_at_once() -> None:
    """Its row goes when it is shut down in order."""

    class Sender:
        hostname = "celery@here"

    sender: Any = Sender()
    heartbeat.beat(heartbeat.name_of(sender))
    Worker.objects.create(name="1-celery@here")
    heartbeat.stop(sender=sender)
    assert list(Worker.objects.values_list("name", flat=True)) == ["1-celery@here"], "another's stays"


def test_a_worker_that_is_reported_to_end_gives_its_attempts_back(monkeypatch: pytest.MonkeyPatch) -> None:
    """Once, before what Celery does; a process that it forked says nothing."""
    said: list[object] = []
    monkeypatch.setattr("playground.runs.rescue.give_back_attempts", said.append)
    monkeypatch.setattr(heartbeat, "_ending", threading.Event())
    heartbeat._before(lambda number, _: said.append(number), os.getpid() + 1)(3, None)
    assert said == [3]
    handler = heartbeat._before(lambda number, _: said.append(number), os.getpid())
    handler(3, None)
    handler(15, None)
    assert said == [3, os.getpid(), 3, 15]
