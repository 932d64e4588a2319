"""The shipped example: what its text claims is what comes of it."""

from __future__ import annotations

import pytest

from scheduler_core.__main__ import main
from scheduler_core.authoring.examples import find
from scheduler_core.explain import explain
from scheduler_core.record.cycle import Cycle
from scheduler_core.run.instant import Simulation
from scheduler_core.run.v1_37.simulation import V1_37Simulation
from scheduler_core.scenario.load import load
from tests.core.extenders.parts import calls

NAME = "extender http://gpu-boards.example:8888/scheduler"


def test_the_busy_node_is_taken_for_idle_unless_the_extender_answers_with_names():
    """As the text of the second example says."""
    text = find("extender-idle").read()
    chosen = []
    for more in ("", "\n  nodeCacheCapable: true"):
        loaded = load(text.replace("filterVerb: filter", f"filterVerb: filter{more}", 1))
        assert (loaded.release, loaded.warnings) == ("v1.37", ())
        (cycle,) = V1_37Simulation(loaded)
        chosen.append(cycle.node)
    assert chosen == ["busy", "idle-1"]


@pytest.fixture(scope="module")
def cycles() -> dict[str, Cycle]:
    """Return the example's cycles by pod."""
    example = find("extender")
    assert example is not None
    scenario = example.load()
    assert (scenario.release, scenario.warnings) == ("v1.11", ())
    return {cycle.pod.partition("/")[2]: cycle for cycle in Simulation(scenario)}


def test_only_one_node_has_a_board_for_the_pair(cycles):
    """One node left is taken without scores."""
    assert cycles["train-pair"].node == "gpu-c"
    assert [call.verb for call in calls(cycles["train-pair"])] == ["filter"]


def test_the_message_counts_the_extenders_reasons_beside_the_predicates(cycles):
    """The tainted node never came to the extender."""
    assert cycles["train-four"].message == (
        "0/4 nodes are available: 1 node(s) had taints that the pod didn't tolerate, "
        "3 no board with 4 free GPUs."
    )
    assert "taints" not in calls(cycles["train-four"])[0].response


def test_the_notebook_goes_where_the_extender_wants_it(cycles):
    """Without its scores another node would have the best total."""
    cycle = cycles["notebook"]
    totals = dict(zip((cycle.nodes[node] for node in cycle.feasible), cycle.totals.tolist()))
    (row,) = (row for row in cycle.priorities if row.name == NAME)
    without = {name: totals[name] - points for name, points in zip(totals, row.weighted.tolist())}
    assert cycle.node == "gpu-b"
    assert max(without, key=without.__getitem__) == "gpu-a"


def test_the_extender_is_not_asked_about_a_pod_without_a_gpu(cycles):
    """ManagedResources say whose pods are its own."""
    assert calls(cycles["web"]) == ()
    assert cycles["web"].result == "scheduled"


def test_another_answer_places_the_pod_that_waits():
    """As the text proposes."""
    text = find("extender").read()
    row = "  - verb: filter\n    pod: default/train-four\n"
    assert row in text
    passing = "  - {verb: filter, pod: default/train-four, nodeNames: [gpu-c]}\n"
    placed = Simulation(load(text.replace(row, passing + row, 1)))
    list(placed)
    assert placed.placement()["default/train-four"] == "gpu-c"


def test_an_explanation_names_the_extender(capsys, tmp_path):
    """A node that the extender refused is not said to have fitted; a pending pod's answer names it."""
    scenario = find("extender").load()
    reported = explain(scenario, "default/train-pair", "gpu-a").summary
    assert f"gpu-a passed the predicates, but {NAME} refused it: no board with 2 free GPUs" in reported
    bundle = tmp_path / "bundle.yaml"
    bundle.write_text(find("extender").read())
    assert main(["explain", str(bundle), "--pod", "default/train-four"]) == 0
    assert "Extenders decide too, which is not explained here but in the trace" in capsys.readouterr().out
