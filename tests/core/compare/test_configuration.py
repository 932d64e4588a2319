"""Every change of a configuration has a name: arguments, plugins, weights, gates, quirks and settings."""

from __future__ import annotations

from typing import Any

import pytest

from scheduler_core.compare.compare import compare
from scheduler_core.compare.configuration import differences
from scheduler_core.scenario.load import load_documents
from scheduler_core.scenario.scenario import Scenario
from tests.core.engine.builders import Manifest, node, pod

V1, V1BETA2 = (f"kubescheduler.config.k8s.io/{version}" for version in ("v1", "v1beta2"))


def profile(version: str = V1, **fields: Any) -> Manifest:
    """Make a KubeSchedulerConfiguration of one profile."""
    return {"apiVersion": version, "kind": "KubeSchedulerConfiguration", "profiles": [fields]}


def arguments(plugin: str, version: str = V1, **given: Any) -> Manifest:
    """Make a configuration with arguments of one plugin."""
    return profile(version, pluginConfig=[{"name": plugin, "args": given}])


def settings(**fields: Any) -> Manifest:
    """Make SimulationSettings."""
    return {"apiVersion": "podstep/v1", "kind": "SimulationSettings", **fields}


def policy(**fields: Any) -> Manifest:
    """Make a Policy."""
    return {"apiVersion": "v1", "kind": "Policy", **fields}


def fit(strategy: str | None = None, version: str = V1, weights: dict[str, int] | None = None) -> Manifest:
    """Make arguments of NodeResourcesFit."""
    scoring: Manifest = {"type": strategy} if strategy else {}
    if weights:
        scoring["resources"] = [{"name": name, "weight": weight} for name, weight in weights.items()]
    return arguments("NodeResourcesFit", version, scoringStrategy=scoring)


def multi(**plugins: Any) -> Manifest:
    """Make a configuration with plugins at multiPoint."""
    return profile(plugins={"multiPoint": plugins})


OLD, TODAY = settings(scheduler="v1.11"), settings(scheduler="v1.37")
MOST = "NodeResourcesFit scoringStrategy LeastAllocated → MostAllocated"
CASES: dict[str, tuple[list[Manifest], list[Manifest], tuple[str, ...]]] = {
    "a strategy": ([fit("LeastAllocated")], [fit("MostAllocated")], (MOST,)),
    "a strategy against the default": ([profile()], [fit("MostAllocated")], (MOST,)),
    "the default, written": ([TODAY], [fit("LeastAllocated", weights={"cpu": 1, "memory": 1})], ()),
    "a strategy of v1.22": (
        [fit("LeastAllocated", V1BETA2)],
        [fit("MostAllocated", V1BETA2)],
        (MOST,),
    ),
    "weights of resources": (
        [fit("LeastAllocated", weights={"cpu": 1, "memory": 1})],
        [fit("LeastAllocated", weights={"cpu": 1, "nvidia.com/gpu": 5})],
        ("NodeResourcesFit scoringStrategy.resources cpu 1, memory 1 → cpu 1, nvidia.com/gpu 5",),
    ),
    "a number": (
        [profile()],
        [arguments("InterPodAffinity", hardPodAffinityWeight=7)],
        ("InterPodAffinity hardPodAffinityWeight 1 → 7",),
    ),
    "a disabled plugin": (
        [profile()],
        [multi(disabled=[{"name": "ImageLocality"}])],
        ("plugin ImageLocality: enabled under A, disabled under B",),
    ),
    "a plugin disabled at one point": (
        [profile()],
        [profile(plugins={"score": {"disabled": [{"name": "NodeAffinity"}]}})],
        ("plugin NodeAffinity: score under A alone",),
    ),
    "a weight": (
        [profile()],
        [profile(plugins={"score": {"enabled": [{"name": "ImageLocality", "weight": 9}]}})],
        ("plugin ImageLocality: weight 1 under A, 9 under B",),
    ),
    "percentageOfNodesToScore": (
        [profile()],
        [{**profile(), "percentageOfNodesToScore": 40}],
        ("percentageOfNodesToScore: adaptive under A, 40 under B",),
    ),
    "a feature gate": (
        [TODAY],
        [settings(scheduler="v1.37", featureGates={"TaintTolerationComparisonOperators": True})],
        ("feature gate TaintTolerationComparisonOperators: off under A, on under B",),
    ),
    "a priority": (
        [policy(priorities=[{"name": "LeastRequestedPriority", "weight": 1}])],
        [policy(priorities=[{"name": "MostRequestedPriority", "weight": 2}])],
        (
            "priority LeastRequestedPriority: weight 1 under A, none under B",
            "priority MostRequestedPriority: weight none under A, 2 under B",
        ),
    ),
    "the weight of symmetric affinity": (
        [policy(hardPodAffinitySymmetricWeight=1)],
        [policy(hardPodAffinitySymmetricWeight=50)],
        ("hardPodAffinitySymmetricWeight: 1 under A, 50 under B",),
    ),
    "the cache": (
        [OLD],
        [settings(scheduler="v1.11", cache="sound", equivalenceClass="attributes")],
        ("cache: off under A, sound under B", "equivalenceClass: controller under A, attributes under B"),
    ),
    "a release": ([OLD], [TODAY], ("kube-scheduler v1.11 under A, v1.37 under B",)),
    "nothing": ([fit("MostAllocated")], [fit("MostAllocated")], ()),
}


def read(*documents: Manifest) -> Scenario:
    """Read a small cluster with a configuration."""
    return load_documents([node("a"), pod("web"), *documents])


@pytest.mark.parametrize(("left", "right", "said"), CASES.values(), ids=CASES)
def test_a_change_is_named(left: list[Manifest], right: list[Manifest], said: tuple[str, ...]) -> None:
    """A change is one line that names what was changed, from what, and to what."""
    assert differences(read(*left), read(*right)) == said


def test_profiles_are_reported_apart() -> None:
    """With several profiles each line says whose it is."""
    two = [{"schedulerName": "default-scheduler"}, {"schedulerName": "batch"}]
    packed = [two[0], {**two[1], **fit("MostAllocated")["profiles"][0]}]
    sides = (read({**profile(), "profiles": profiles}) for profiles in (two, packed))
    assert differences(*sides) == (f"profile batch: {MOST}",)


def test_quirks_are_named_one_by_one() -> None:
    """Fixing the quirks of v1.11 is as many lines as there are quirks."""
    found = differences(read(OLD), read(settings(scheduler="v1.11", quirks="fixed")))
    assert len(found) > 1
    assert all(line.startswith("quirk ") and line.endswith("under B") for line in found)


def test_a_comparison_says_what_was_configured() -> None:
    """The lines are part of a comparison."""
    assert compare(read(fit("LeastAllocated")), read(fit("MostAllocated"))).configuration == (MOST,)
