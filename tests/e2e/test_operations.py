"""What operators rely on, with the real programs: the scheduled task, metrics, and names in logs."""

from __future__ import annotations

import json
import sys
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from tests.e2e.bundles import small
from tests.services.processes import free_port, wait_until
from tests.services.stack import Stack, compose_parts, embedded_parts, running

pytestmark = [pytest.mark.services, pytest.mark.timeout(300)]

SOON = {"PLAYGROUND_EXPIRY_SECONDS": "1"}
EXPIRE = """
from datetime import timedelta
from django.utils import timezone
from playground.models import Scenario
Scenario.objects.filter(short={id!r}).update(expires=timezone.now() - timedelta(days=1))
"""

IS_KEPT = """
from playground.models import Scenario
print(Scenario.objects.filter(short={id!r}).exists())
"""


def shell(stack: Stack, code: str) -> str:
    return stack.run(sys.executable, "manage.py", "shell", "--no-imports", "--command", code)


def share(stack: Stack) -> dict[str, Any]:
    answer = stack.post("/api/scenarios", {"bundle": small("kept"), "title": "kept"})
    assert answer.status == 201, answer.body
    found: dict[str, Any] = answer.json
    return found


def has_removed(stack: Stack) -> bool:
    return "expired rows were removed" in stack.workers_output()


@pytest.mark.xdist_group("embedded")
def test_one_machine_removes_counts_and_names(tmp_path: Path) -> None:
    """The worker of `manage.py serve` removes what expired; its log names the request that started a run."""
    port = free_port()
    parts = {
        name: replace(part, env={**part.env, **SOON}) for name, part in embedded_parts(tmp_path, port).items()
    }
    with running("operations", parts, tmp_path, port) as stack:
        shared = share(stack)
        run = stack.post("/api/runs", {"scenario": shared["id"]}, **{"X-Request-ID": "asked-by-me"})
        assert run.status == 201 and run.headers["x-request-id"] == "asked-by-me"
        stack.wait_for_run(run.json["id"], ["done"])

        def lines() -> list[str]:
            printed = stack.workers_output().splitlines()
            return [line for line in printed if "asked-by-me" in line and "run computed" in line]

        wait_until(lambda: bool(lines()), 20, "the worker's line")
        assert json.loads(lines()[0])["run"] == run.json["id"]
        counted = stack.get("/metrics")
        assert counted.status == 200
        assert 'podstep_runs{state="done"} 1.0' in counted.body.decode()
        assert stack.get("/metrics", **{"X-Forwarded-For": "127.0.0.1"}).status == 403
        shell(stack, EXPIRE.format(id=shared["id"]))
        gone = f"/api/scenarios/{shared['id']}"
        wait_until(lambda: has_removed(stack), 60, "a removal")
        assert stack.get(gone).status == 404


@pytest.mark.xdist_group("compose")
def test_composed_web_processes_are_scraped_as_one(tmp_path: Path, postgres: Any, redis: Any) -> None:
    """Whichever process answers, it tells of both; the service `beat` makes a worker remove what expired."""
    port = free_port()
    parts = {
        name: replace(part, env={**part.env, **SOON})
        for name, part in compose_parts(tmp_path, port, postgres, redis).items()
    }
    pid = tmp_path / "beat.pid"
    beat = parts["beat"]
    parts["beat"] = replace(
        beat, command=tuple(str(pid) if w == "/tmp/beat.pid" else w for w in beat.command)
    )
    token = {"Authorization": "Bearer a-token-for-metrics"}
    with running("composed", parts, tmp_path, port) as stack:
        stack.start("beat")
        try:
            assert stack.get("/metrics").status == 403  # one proxy is in front: every peer may be a visitor

            def processes() -> set[str]:
                lines = stack.get("/metrics", **token).body.decode().splitlines()
                return {line.split('"')[1] for line in lines if line.startswith("podstep_sockets{")}

            wait_until(lambda: len(processes()) == 2, 60, "both processes")
            assert all(len(processes()) == 2 for _ in range(10))
            shared = share(stack)
            shell(stack, EXPIRE.format(id=shared["id"]))
            # Workers of other stacks share the broker and the database, and any may remove what has expired.
            # The database is asked, since opening the link would extend it.
            kept = IS_KEPT.format(id=shared["id"])
            wait_until(lambda: shell(stack, kept).strip() == "False", 60, "a removal")
            assert stack.get(f"/api/scenarios/{shared['id']}").status == 404
            assert pid.is_file()
        finally:
            stack.stop("beat")
