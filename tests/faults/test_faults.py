"""Faults of a few seconds in the midst of a run: it ends as an undisturbed one does."""

from __future__ import annotations

import sys
import threading
from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import Any

import pytest

from tests.faults.faults import FAULTS, Scene
from tests.faults.runs import Undisturbed, struck, undisturbed
from tests.services.processes import free_port, wait_until
from tests.services.servers import Server
from tests.services.stack import Stack, embedded_parts, running

pytestmark = [pytest.mark.services, pytest.mark.timeout(420)]

BY_NAME = {fault.name: fault for fault in FAULTS}


@pytest.fixture(scope="module")
def embedded(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Scene]:
    """One machine whose queries wait for SQLite's lock for no more than a second."""
    home, port = tmp_path_factory.mktemp("faults"), free_port()
    short = {"PLAYGROUND_DATABASE_WAIT_SECONDS": "1"}
    parts = {
        name: replace(part, env={**part.env, **short}) for name, part in embedded_parts(home, port).items()
    }
    with running("embedded", parts, home, port) as stack:
        yield Scene(stack)


@pytest.fixture(scope="module")
def expected() -> Callable[[Stack], Undisturbed]:
    """Return an undisturbed run of a stack."""
    known: dict[str, Undisturbed] = {}
    return lambda stack: known.get(stack.name) or known.setdefault(stack.name, undisturbed(stack))


@pytest.mark.xdist_group("faults")
@pytest.mark.parametrize("name", ["sqlite locked", "kill -9 worker", "kill -9 web"])
def test_a_run_on_one_machine_outlives(
    embedded: Scene, expected: Callable[[Stack], Undisturbed], name: str
) -> None:
    """Its trace and its figures are those of an undisturbed run."""
    outcome = struck(embedded, BY_NAME[name], 1 / 3, 4, expected(embedded.stack))
    assert (outcome.state, outcome.problem) == ("done", ""), outcome


@pytest.mark.xdist_group("compose")
@pytest.mark.parametrize("name", ["restart postgres", "kill -9 redis"])
def test_a_team_s_run_outlives(
    stacks: Callable[[str], Stack],
    postgres: Server,
    redis: Server,
    expected: Callable[[Stack], Undisturbed],
    name: str,
) -> None:
    """Meanwhile the web server answers what needs no database, says what is away, and when to come back."""
    scene = Scene(stacks("compose"), postgres, redis)
    seen: dict[str, object] = {}

    def watched(scene: Scene, seconds: float) -> None:
        striking = threading.Thread(target=BY_NAME[name].strike, args=(scene, seconds))
        striking.start()
        refused: list[Any] = []

        def away() -> bool:
            refused.append(scene.stack.get("/readyz"))
            return bool(refused[-1].status != 200)

        wait_until(away, seconds, "it is not ready")
        seen["away"] = [part for part, found in refused[-1].json["parts"].items() if not found["ok"]]
        seen["alive"] = scene.stack.answers("/healthz") and scene.stack.answers("/reference/predicates/")
        seen["runs"] = scene.stack.get("/runs/").status
        striking.join()

    fault = replace(BY_NAME[name], strike=watched)
    outcome = struck(scene, fault, 1 / 3, 4, expected(scene.stack))
    assert (outcome.state, outcome.problem) == ("done", ""), outcome
    assert seen["alive"]
    if name == "restart postgres":
        assert "database" in seen["away"] and seen["runs"] == 503
    else:
        assert (seen["away"], seen["runs"]) == (["broker"], 200)


#: What PostgreSQL bounds the statements of this connection by, as usual and for migrations.
BOUNDS = """
from django.db import connection
from playground.runtime import outage
with connection.cursor() as cursor:
    print(cursor.execute("SHOW statement_timeout").fetchone()[0])
    outage.lift_statement_timeout()
    print(cursor.execute("SHOW statement_timeout").fetchone()[0])
    print({name: connection.connection.info.get_parameters()[name] for name in ("connect_timeout",)})
"""


@pytest.mark.xdist_group("compose")
def test_statements_and_connecting_are_bounded(stacks: Callable[[str], Stack]) -> None:
    """A PostgreSQL that does not answer holds nobody for long; migrations take as long as they need."""
    printed = stacks("compose").run(sys.executable, "manage.py", "shell", "-v", "0", "-c", BOUNDS)
    assert printed.split("\n")[:3] == ["30s", "0", "{'connect_timeout': '10'}"]
