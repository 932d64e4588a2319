"""A workload fitted to a trace: how close what is drawn of it comes, and what a fit keeps."""

from __future__ import annotations

import json
import re
from pathlib import Path
from random import Random

import msgspec
import pytest

from scheduler_core.authoring.fit_report import likeness
from scheduler_core.authoring.fitted_workload import WorkloadFitError, drawn, fitted, read_fit
from scheduler_core.authoring.generate import generate
from scheduler_core.authoring.recipes import FittedPods, Recipe
from scheduler_core.authoring.trace_pods import TracePod, pods_of
from scheduler_core.cli.commands import main
from scheduler_core.formats.timed_pods import scenario_of_pods
from scheduler_core.scenario.load import load_documents
from scheduler_core.scenario.scenario import Scenario

NODE = {
    "apiVersion": "v1",
    "kind": "Node",
    "metadata": {"name": "secret-node", "labels": {"team": "secret"}},
    "status": {"allocatable": {"cpu": "16", "memory": "64Gi", "pods": "110"}},
}
PODS = 600


def manifest(number: int, cpu: int) -> dict[str, object]:
    """Return a pod with names that must not be kept."""
    requests = {"cpu": f"{cpu}m", "memory": f"{cpu}Mi"}
    return {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": {"name": f"secret-{number}", "namespace": "secret"},
        "spec": {
            "nodeSelector": {"team": "secret"},
            "containers": [{"name": "c", "resources": {"requests": requests}}],
        },
    }


@pytest.fixture(scope="module")
def trace() -> Scenario:
    """Small pods that live for minutes, large ones for hours; at first few arrive, then many."""
    dice, now, timed = Random("trace"), 0.0, []
    for number in range(PODS):
        large = dice.random() < 0.2
        lifetime = dice.lognormvariate(8 if large else 4, 0.5)
        end = None if number % 50 == 0 else now + lifetime
        timed.append((now, end, manifest(number, 4_000 if large else 250)))
        now += dice.expovariate(0.01 if number < PODS // 4 else 0.5)
    return load_documents([NODE, scenario_of_pods(timed, "secret")])


def test_what_is_drawn_has_the_distributions_of_the_trace(trace: Scenario) -> None:
    """Sizes, lifetimes, gaps and the course of arrivals are as close as samples of one distribution."""
    fit, (pods, _) = fitted(trace), pods_of(trace)
    rows = likeness(pods, drawn(fit, PODS, 1))
    assert [row.name for row in rows] == [
        *("cpu, m", "memory, MiB", "lifetime, s", "gap between arrivals, s", "arrival, s")
    ]
    assert all(row.distance <= row.bound for row in rows), rows
    lives = [_mean(pods, cpu) / _mean(drawn(fit, PODS, 1), cpu) for cpu in (250, 4_000)]
    assert all(0.8 < ratio < 1.25 for ratio in lives)


def _mean(pods: list[TracePod], cpu: int) -> float:
    lives = [pod.lifetime for pod in pods if pod.requests["cpu"] == cpu and pod.lifetime is not None]
    return sum(lives) / len(lives)


def test_a_seed_decides_and_others_differ(trace: Scenario) -> None:
    """The same pods on every machine; fewer of them come at the same rate."""
    fit = fitted(trace)
    assert drawn(fit, 50, 3) == drawn(read_fit(msgspec.json.encode(fit)), 50, 3) != drawn(fit, 50, 4)
    whole, half = (drawn(fit, count, 1)[-1].created for count in (PODS, PODS // 2))
    assert 0.35 < half / whole < 0.65


def test_a_fit_names_nothing_and_says_what_it_leaves_out(trace: Scenario) -> None:
    """Neither names nor labels of the trace are in it."""
    fit = fitted(trace)
    assert b"secret" not in msgspec.json.encode(fit)
    assert fit.left_out == {"nodeSelector": PODS}
    assert fit.pods == PODS


def _fit(**size: object) -> str:
    fit = {"kind": "FittedWorkload", "apiVersion": "podstep/v1", "nodes": [], "lifetime": []}
    return json.dumps(
        {**fit, "sizes": [{"count": 1, **size}], "arrivals": [{"count": 1, "seconds": 1, "gaps": [1]}]}
    )


WRONG = {
    '{"kind": "FittedWorkload"}': "missing required field `nodes`",
    "[]": "is no FittedWorkload",
    _fit(count=0, requests={}): r"Expected `int` >= 1 - at `$.sizes[0].count`",
    _fit(requests={"cpu": "x"}): "cpu: 'x' is not a quantity",
    _fit(requests={}): "lifetime is empty",
}


@pytest.mark.parametrize(("text", "message"), WRONG.items())
def test_what_is_no_fit_says_what_is_wrong(text: str, message: str) -> None:
    """In a recipe it is said at its field, and nothing is made."""
    with pytest.raises(WorkloadFitError, match=re.escape(message)):
        read_fit(text)
    made = generate(Recipe(fit=FittedPods(text, "3")))
    assert [field for field, _ in made.problems][:1] == ["fit.workload"]
    assert not made.documents


def test_too_few_pods_are_an_error(trace: Scenario) -> None:
    """A bundle without a history has nothing to fit to."""
    with pytest.raises(WorkloadFitError, match="0 pods arrive by operations, and 40 are needed"):
        fitted(load_documents([NODE]))


def test_a_recipe_draws_pods_of_a_fit(trace: Scenario) -> None:
    """On the trace's nodes, or on those of its own pools; they come and go by a Scenario."""
    text = msgspec.json.encode(fitted(trace)).decode()
    made = generate(Recipe("2", fit=FittedPods(text, "60")))
    assert (made.problems, made.summary.nodes, made.summary.pods) == ((), 1, 60)
    assert made.documents == generate(Recipe("2", fit=FittedPods(text, "60"))).documents
    scenario = load_documents(made.documents)
    assert {one.action for one in scenario.operations} == {"create", "delete"}
    pools = [{"name": "own", "count": "3"}]
    assert generate(Recipe(pools=pools, fit=FittedPods(text, "60"))).summary.nodes == 3


def test_the_command_fits_saves_and_draws(
    trace: Scenario, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """A saved fit is drawn from without its trace."""
    source, fit, bundle = (tmp_path / name for name in ("trace.yaml", "fit.json", "drawn.yaml"))
    source.write_text(trace.to_yaml())
    assert main(["fit", str(source), "--save", str(fit), "--output", "json"]) == 0
    answer = json.loads(capsys.readouterr().out)
    assert (answer["pods"], len(answer["distributions"])) == (PODS, 5)
    assert main(["fit", str(fit), "--pods", "45", "--bundle", str(bundle)]) == 0
    assert capsys.readouterr().out.startswith("600 pods of 2 sizes; 1 nodes of 1 shapes\n")
    assert bundle.read_text().count("createOperation") == 45
    assert main(["fit", str(source), "--pods", "0"]) == 2
