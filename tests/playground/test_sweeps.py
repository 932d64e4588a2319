"""Sweeps: a run for each cell, whatever becomes of workers; the store answers what was computed before."""

from __future__ import annotations

import json
from datetime import timedelta
from io import BytesIO
from pathlib import Path
from typing import Any
from zipfile import ZipFile

import pytest
from django.test import Client
from django.utils import timezone

from playground.celery import app
from playground.models import Run, Sweep, SweepCell
from playground.queues import SHORT
from playground.runs import cells, rescue, service, sweeps
from playground.runs.compute import claim_run, compute_next
from playground.storage import bundles, store
from playground.tasks import run_simulation
from scheduler_core import load
from scheduler_core.kubernetes.model import Pod
from scheduler_core.kubernetes.problems import BundleError
from scheduler_core.record.query.tables import TABLES
from scheduler_core.studies.sweep import cell_run
from tests.playground.conftest import DATA, OWNER

pytestmark = pytest.mark.django_db(transaction=True)

GRID = {"weights.LeastRequestedPriority": [0, 1, 2], "cache": ["off", "sound"], "seed": [1, 2]}


@pytest.fixture
def sent(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """What was handed to the broker."""
    ids: list[str] = []
    monkeypatch.setattr(app, "send_task", lambda _name, args, **_: ids.extend(args))
    return ids


def start(grid: Any, owner: str = OWNER, file: str = "preempt.yaml", **fields: Any) -> Sweep:
    """Start a sweep of a shared scenario; ``fields`` are those beside its grid."""
    text = (DATA / file).read_text()
    scenario = bundles.parse([("", text)], "history")
    row = store.keep_scenario(scenario, text, owner)
    return sweeps.start(row, scenario, {"grid": grid, **fields}, owner, "10.0.0.1")[0]


def compute(sweep: Sweep) -> dict[str, Any]:
    """Compute every run of a sweep that waits; return its state."""
    for run_id in list(sweep.runs.filter(state="queued").values_list("pk", flat=True)):
        run_simulation(run_id)
    sweep.refresh_from_db()
    return sweeps.wire(sweep)


def test_each_cell_is_a_run_with_its_own_scenario(sent: list[str]) -> None:
    """They end with the figures that the command line prints."""
    sweep = start(GRID)
    wire = compute(sweep)
    assert (wire["state"], wire["done"], wire["total"]) == ("done", 12, 12)
    assert [cell["values"]["seed"] for cell in wire["cells"]] == [1, 2] * 6
    for cell in SweepCell.objects.select_related("run__scenario", "sweep__scenario"):
        assert cell.run is not None
        own = store.load_scenario(cell.run.scenario)
        text = store.scenario_text(cell.run.scenario)
        assert own.release == "v1.11"
        assert bundles.read_documents(text) == own.documents
        assert cell.metrics == json.loads(json.dumps(cell_run(cells.scenario_of(cell))))


def test_one_process_computes_cells_until_somebody_else_is_next(sent: list[str]) -> None:
    """Few are announced: a task announces another one, and goes on with cells as long as one is next."""
    first, second = (start({"seed": [1, 2, 3]}, owner) for owner in (OWNER, "somebody else"))
    assert sent == [
        *first.runs.values_list("pk", flat=True)[:2],
        *second.runs.values_list("pk", flat=True)[:2],
    ]
    alone, _ = service.start(bundles.parse([("", (DATA / "preempt.yaml").read_text())]), "a third")
    assert compute_next(SHORT) == "done"
    assert (len(sent), Run.objects.filter(state="done", sweep=None).count()) == (6, 0)
    assert [sweep.runs.filter(state="done").count() for sweep in (first, second)] == [1, 0]
    assert compute_next(SHORT) == "done"
    alone.refresh_from_db()
    assert alone.state == "done"
    assert compute_next(SHORT) == "done"
    assert not Run.objects.filter(state="queued").exists()
    assert compute_next(SHORT) is None


def test_text_of_a_cell_is_that_of_the_sweep_with_its_values(sent: list[str]) -> None:
    """A document that the values leave alone keeps its comments."""
    sweep = start({"scheduler": ["v1.36"]}, file="web.yaml")
    compute(sweep)
    given, text = (store.stored_text(row) for row in (sweep.scenario, sweep.runs.get().scenario))
    assert text.startswith(given)
    assert "scheduler: v1.36" in text[len(given) :]


def test_the_same_cell_again_is_answered_from_the_store(sent: list[str]) -> None:
    """Nothing is computed twice for one owner; another owner's cells are their own."""
    first = compute(start(GRID))
    repeated = start(GRID)
    assert not repeated.runs.exists()
    again = sweeps.wire(repeated)
    assert [cell["run"] for cell in again["cells"]] == [cell["run"] for cell in first["cells"]]
    assert [cell["metrics"] for cell in again["cells"]] == [cell["metrics"] for cell in first["cells"]]
    assert again["state"] == "done"
    other = compute(start(GRID, "somebody else"))
    assert not {cell["run"] for cell in other["cells"]} & {cell["run"] for cell in first["cells"]}


def test_halving_runs_the_survivors_with_more(sent: list[str]) -> None:
    """Who ends the last cell of a rung begins the next, once; its cells are known the next time too."""
    halving = {"arrivals": [0.5, 1], "keep": 0.3, "by": "placed"}
    sweep = start(GRID, halving=halving)
    assert compute(sweep)["state"] == "running"
    assert rescue.rescue() == []  # a recount begins no rung again
    wire = compute(sweep)
    assert wire["state"] == "done"
    assert [cell["rung"] for cell in wire["cells"]] == [1] * 12 + [2] * 4
    assert [cell["number"] for cell in wire["cells"]] == list(range(1, 17))
    best = sorted((cell["metrics"]["placed"] for cell in wire["cells"][:12]), reverse=True)[:4]
    survivors = [cell["values"] for cell in wire["cells"][12:]]
    placed = [cell["metrics"]["placed"] for cell in wire["cells"][:12] if cell["values"] in survivors]
    assert sorted(placed, reverse=True) == best
    again = start(GRID, halving=halving)
    assert (again.state, again.runs.count(), again.cells.count()) == ("done", 0, 16)
    whole = start(GRID)
    assert whole.runs.count() == 8  # the last rung is the cell as it is


def test_cells_with_other_prices_are_other_cells(sent: list[str]) -> None:
    """The figures that the store has are of the prices of their sweep."""
    zone = "failure-domain.beta.kubernetes.io/zone"
    found = [
        compute(start({"seed": [0]}, file="web.yaml", prices={zone: {"a": price}}))["cells"][0]["metrics"]
        for price in (1, 2)
    ]
    assert [one["pricePerHour"] for one in found] == [1, 2]


def test_cells_of_another_shape_by_the_same_name_are_other_cells(sent: list[str]) -> None:
    """What a name stands for is part of a cell."""
    shapes = [{"one": {"count": count}} for count in (1, 2, 2)]
    found = [compute(start({"shape": shape}, file="web.yaml"))["cells"][0] for shape in shapes]
    assert [cell["metrics"]["nodes"] for cell in found] == [1, 2, 2]
    assert found[0]["run"] != found[1]["run"] == found[2]["run"]


def test_other_code_computes_again(sent: list[str]) -> None:
    """A run of another engine answers nothing."""
    first = compute(start({"seed": [1]}))
    Run.objects.update(code="another")
    assert compute(start({"seed": [1]}))["cells"][0]["run"] != first["cells"][0]["run"]


def test_a_cell_that_cannot_be_run_says_why(sent: list[str], limits: Any) -> None:
    """The others go on, and the sweep ends."""
    sweep = start({"nodes": [1, 5], "seed": [1]})
    limits(RUN_CYCLES=1)
    wire = compute(sweep)
    assert wire["state"] == "done"
    assert all("limit of 1 cycles" in cell["error"] for cell in wire["cells"])
    assert [cell["state"] for cell in wire["cells"]] == ["failed", "failed"]


def test_cancelling_ends_the_runs_that_wait(sent: list[str]) -> None:
    """Those that were computed keep their figures."""
    sweep = start({"seed": [1, 2, 3]})
    run_simulation(sent[0])
    wire = sweeps.wire(sweeps.cancel(sweep))
    assert [cell["state"] for cell in wire["cells"]] == ["done", "cancelled", "cancelled"]
    assert wire["state"] == "cancelled"
    assert compute(sweep)["state"] == "cancelled"


def test_a_cell_cancelled_by_itself_counts_as_ended(sent: list[str]) -> None:
    """The sweep does not wait for it."""
    sweep = start({"seed": [1, 2]})
    run = sweep.runs.get(pk=sent[0])
    service.cancel(run)
    assert compute(sweep)["state"] == "done"


def test_repair_recounts(sent: list[str]) -> None:
    """A sweep whose count is wrong, or whose run is gone, ends all the same."""
    sweep = start({"seed": [1, 2]})
    Run.objects.filter(pk=sent[1]).delete()
    run_simulation(sent[0])
    Sweep.objects.update(left=7)
    rescue.rescue()
    sweep.refresh_from_db()
    assert (sweep.state, sweep.left) == ("done", 0)
    assert sweeps.wire(sweep)["cells"][1]["error"] == cells.REMOVED


def test_state_is_of_the_same_moment_as_the_cells(sent: list[str]) -> None:
    """Cells that end after the sweep's row was read have not left it running."""
    read_before = start({"seed": [1]})
    run_simulation(sent[0])
    wire = sweeps.wire(read_before)
    assert (wire["state"], wire["done"], wire["finished"] is None) == ("done", 1, False)


def test_a_worker_that_dies_leaves_its_cell_to_the_next(sent: list[str]) -> None:
    """The run is taken over once its claim is stale; it counts once."""
    sweep = start({"seed": [1]})
    assert claim_run(sent[0])
    Run.objects.update(heartbeat=timezone.now() - timedelta(minutes=5))
    assert run_simulation(sent[0]) == "done"
    assert run_simulation(sent[0]) is None
    sweep.refresh_from_db()
    assert (sweep.state, sweep.left) == ("done", 0)


def test_limits_name_what_to_do(sent: list[str], limits: Any) -> None:
    """On cells of one sweep, on sweeps of a visitor, and on what waits in all; single runs do not count."""
    limits(SWEEP_CELLS=4)
    with pytest.raises(BundleError, match="has 5 cells, and 4 is the limit here"):
        start({"seed": [1, 2, 3, 4, 5]})
    limits(SWEEP_CELLS=4, SWEEPS_PER_OWNER=1, RUNS_PER_OWNER=1)
    start({"seed": [1]})
    with pytest.raises(service.TooManyRunsError, match="You have 1 unfinished sweeps"):
        start({"seed": [2]})
    limits(SWEEP_CELLS_QUEUED=2)
    with pytest.raises(service.TooManyRunsError, match="1 cells of sweeps wait"):
        start({"seed": [1, 2]}, "somebody else")
    assert Sweep.objects.count() == 1
    service.start(bundles.parse([("", (DATA / "preempt.yaml").read_text())]), OWNER)


def test_the_api(sent: list[str]) -> None:
    """As the contract has it: created, read, cancelled by its token."""
    api = Client(enforce_csrf_checks=True)
    text = (DATA / "preempt.yaml").read_text()
    made = api.post("/api/scenarios", {"bundle": text}, "application/json").json()

    def post(address: str, body: Any, **headers: str) -> Any:
        return api.post(address, json.dumps(body), "application/json", headers=headers)

    created = post("/api/sweeps", {"scenario": made["id"], "grid": GRID})
    assert created.status_code == 201, created.content
    body = created.json()
    assert body["cells"] == 12
    found = api.get(f"/api/sweeps/{body['id']}").json()
    assert (found["state"], found["done"], len(found["cells"])) == ("running", 0, 12)
    assert found["cells"][0]["values"] == {"cache": "off", "weights.LeastRequestedPriority": 0, "seed": 1}
    assert not found["mine"]
    assert post(f"/api/sweeps/{body['id']}/cancel", {}).status_code == 403
    token = {"Authorization": f"Bearer {body['cancel_token']}"}
    assert post(f"/api/sweeps/{body['id']}/cancel", {}, **token).json()["state"] == "cancelled"
    unfinished = api.get(f"/api/sweeps/{body['id']}/cells/1/optimum")
    assert (unfinished.status_code, api.get(f"/api/sweeps/{body['id']}/cells/99/optimum").status_code) == (
        409,
        404,
    )
    assert api.delete(f"/api/sweeps/{body['id']}").status_code == 403
    assert api.delete(f"/api/sweeps/{body['id']}", headers=token).status_code == 204
    assert not Sweep.objects.exists()
    assert api.get("/api/sweeps/unknown").status_code == 404
    wrong = post("/api/sweeps", {"scenario": made["id"], "grid": {"nodes": [0]}})
    assert wrong.status_code == 422
    assert wrong.json()["errors"][0]["path"] == "grid.nodes[0]"
    assert post("/api/sweeps", {"scenario": made["id"]}).status_code == 400
    assert post("/api/sweeps", {"scenario": "none", "grid": GRID}).status_code == 404


def test_distance_from_the_optimum_is_searched_once(sent: list[str]) -> None:
    """It is kept with the cell, and says what the best placement has."""
    sweep = start({"seed": [0]}, file="web.yaml")
    compute(sweep)
    address = f"/api/sweeps/{sweep.pk}/cells/1/optimum"
    found = Client().get(address).json()
    metrics = sweep.cells.get().metrics or {}
    assert (found["placed"], found["nodes"]) == (metrics["placed"], metrics["nodesUsed"])
    assert found["verdict"] == "optimal"
    assert (found["bestPlaced"], found["bestNodes"]) == (found["placed"], found["nodes"])
    SweepCell.objects.update(run=None)
    assert Client().get(address).json() == found == sweeps.wire(sweep)["cells"][0]["optimum"]


def test_a_run_is_asked_in_sql(sent: list[str], settings: Any, tmp_path: Path, limits: Any) -> None:
    """Of what it has decided so far; its tables are kept within a bound, and can be downloaded."""
    settings.DATA_DIR = tmp_path
    sweep = start({"seed": [0]})
    run_simulation(sent[0])
    run = sweep.runs.get()
    api = Client(enforce_csrf_checks=True)

    def query(sql: str, **more: str) -> Any:
        return api.post(f"/api/runs/{run.pk}/query", {"sql": sql, **more}, "application/json")

    rows = query("SELECT result, count(*) FROM cycles GROUP BY ALL ORDER BY ALL").json()["rows"]
    failed = run.outcomes["unschedulable"] + run.outcomes["preempting"]
    assert dict(rows) == {"scheduled": run.outcomes["scheduled"], "unschedulable": failed}
    placed = query("SELECT count(*) FROM pods WHERE state = 'running'").json()["rows"]
    assert placed == [[run.placed]]
    assert query("SELECT 1 AS one", format="csv").content == b"one\n1\n"
    assert query("SELECT 1 AS one", format="parquet").content[:4] == b"PAR1"
    assert query("SELECT 1", format="xls").status_code == 400
    wrong = query("DROP TABLE cycles")
    assert wrong.status_code == 400
    assert wrong.json()["errors"][0]["message"] == "Write exactly one statement, a SELECT."
    archive = ZipFile(BytesIO(api.get(f"/api/runs/{run.pk}/tables.zip").content))
    assert {name.removesuffix(".parquet") for name in archive.namelist()} == set(TABLES)
    table = ZipFile(BytesIO(api.get(f"/api/runs/{run.pk}/tables.zip?format=csv").content)).read("pods.csv")
    assert table.count(b",running") == run.placed
    assert api.get(f"/api/runs/{run.pk}/tables.zip?format=xls").status_code == 400
    ended = load(api.get(f"/api/runs/{run.pk}/manifests.yaml").content)
    assert sum(isinstance(one, Pod) and bool(one.node_name) for one in ended.objects) == run.placed
    (kept,) = (tmp_path / "queries").iterdir()
    limits(QUERY_MIB=0)
    Run.objects.update(cycles=run.cycles + 1)
    assert query("SELECT 1").status_code == 200
    assert not kept.exists()
