"""The scenarios that pages in Node open, by name: the examples, and what other tests make."""

from __future__ import annotations

from pathlib import Path

from scheduler_core.authoring.examples import examples
from tests.browser.pages import example_text
from tests.browser.test_edit import CLUSTER
from tests.browser.test_events_editor import TIMED
from tests.e2e import bundles
from tests.e2e.bundles import by_v1_11
from tests.playground.test_podgroups_panel import CURRENT


def texts() -> dict[str, str]:
    """Return the text of each; v1.11 answers those that ask for no release."""
    return {name: by_v1_11(text) for name, text in (_examples() | MADE).items()}


def _examples() -> dict[str, str]:
    return {example.slug: example_text(example.slug) for example in examples()}


def two_templates() -> str:
    """Return two ReplicaSets of one template but for the image, and a pod of its own."""
    web, api = bundles.deployment("web", 3), bundles.deployment("api", 2)
    api["spec"]["template"]["spec"]["containers"][0]["image"] = "app:2"
    pod = {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": {"name": "alone", "namespace": "default"},
        "spec": {"containers": [{"name": "main", "image": "app:1"}]},
    }
    settings = {"apiVersion": "podstep/v1", "kind": "SimulationSettings", "cache": "sound"}
    return bundles.bundle(*(bundles.node(f"n{i}") for i in range(3)), web, api, pod, settings)


def batching() -> str:
    """Return pods of one Deployment that fill nodes one after the other."""
    pods = bundles.deployment("fill", 6, cpu="1500m")
    policy = {
        "apiVersion": "v1",
        "kind": "Policy",
        "predicates": [{"name": "GeneralPredicates"}],
        "priorities": [{"name": "LeastRequestedPriority", "weight": 1}],
    }
    settings = {"apiVersion": "podstep/v1", "kind": "SimulationSettings", "cache": "batching"}
    nodes = (bundles.node(f"n{i}", cpu="2") for i in range(6))
    return bundles.bundle(*nodes, pods, policy, settings)


def cached(mode: str) -> str:
    """Return the shop with a cache."""
    return example_text("shop").replace(SETTINGS, f"{SETTINGS}cache: {mode}\n")


SETTINGS = "kind: SimulationSettings\n"
DATA = Path(__file__).parents[1] / "playground" / "data"
MADE: dict[str, str] = {
    "churn": (DATA / "timed" / "churn.yaml").read_text("utf-8"),  # where controllers make pods
    "backed-off": CURRENT,
    "restarts": (DATA / "restart.yaml").read_text("utf-8"),  # of the scheduler, before cycles 3 and 4
    "two-templates": two_templates(),
    "batching": batching(),
    "three-nodes": CLUSTER,
    "timed": TIMED,
    "shop-cached": cached("sound"),
    "shop-audited": cached("v1.11\naudit: true"),
    "quirks-fixed": example_text("quirks").replace("quirks: v1.11\n---", "quirks: fixed\n---"),
}
