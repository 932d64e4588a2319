"""The scenarios that pages in Node open, by name: the examples, and what other tests make."""

from __future__ import annotations

import json
from itertools import islice
from pathlib import Path
from typing import Any

from scheduler_core import load
from scheduler_core.authoring.examples import examples
from scheduler_core.run import simulate
from tests.browser.pages import cycles_of, example_text
from tests.browser.test_edit import CLUSTER
from tests.browser.test_events_editor import TIMED
from tests.browser.test_may_differ import CLUSTER as UNHONORED
from tests.browser.test_plugin_form import CLUSTER as TWO_NODES
from tests.browser.test_triage import PENDING
from tests.core.explain.test_recorded_answer import insufficient, node, pod
from tests.core.objects.unhonored_cases import cases, together
from tests.e2e import bundles
from tests.e2e.bundles import by_v1_11
from tests.javascript.recorded import TEXT, newest
from tests.playground.test_podgroups_panel import CURRENT
from tests.playground.test_verbs import BUNDLE as VERBS


def texts() -> dict[str, Any]:
    """Return the text of each, what honoring each field of `every-unhonored` does, and what cycles decide."""
    by_release = {name: by_v1_11(text) for name, text in (_examples() | MADE).items()} | TODAY
    unhonored = [(case.name, case.effect) for case in cases()]
    return by_release | {
        "unhonored-cases": unhonored,
        "cycles": [_cycle(*one) for one in CYCLES],
        "shop-cycles": _shop(),
    }


def _cycle(slug: str, index: int) -> dict[str, Any]:
    """Return what the phases of a cycle of an example decide, as the engine has it."""
    cycle = next(islice(simulate(load(by_v1_11(example_text(slug))), trace=True), index - 1, None))
    return {
        "slug": slug,
        "index": index,
        "pod": cycle.pod.removeprefix("default/"),
        "phases": cycle.phases,
        "moves": cycle.moves,
        "best": None if cycle.totals is None else f"{int(cycle.totals.max()):,}",
    }


def _shop() -> list[dict[str, Any]]:
    """Return of each cycle of the shop whether it fails, and sentences of the quirks that changed it."""
    return [
        {"failed": cycle.node is None, "quirks": {one.id: one.text.rstrip(".") for one in cycle.quirks}}
        for cycle in cycles_of(example_text("shop"))
    ]


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


LABELLED = """apiVersion: v1
kind: Node
metadata: {{name: n{n}, labels: {{disk: {disk}}}}}
status: {{allocatable: {{cpu: "4", memory: 8Gi, pods: "90"}}}}
"""
CHOOSY = """apiVersion: v1
kind: Pod
metadata: {{name: p{n}}}
spec: {{nodeSelector: {{{selector}}}, containers: [{{name: c, image: c}}]}}
"""


def picky() -> str:
    """Return three nodes and eighty pods; the seventieth alone wants an SSD, which n2 alone has."""
    nodes = [LABELLED.format(n=n, disk="ssd" if n == 2 else "hdd") for n in (1, 2, 3)]
    pods = [CHOOSY.format(n=n, selector="disk: ssd" if n == 70 else "") for n in range(1, 81)]
    return "---\n".join([*nodes, *pods])


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


DUMP = json.dumps(
    {
        "apiVersion": "v1",
        "kind": "List",
        "items": [
            node(),
            node("n2"),
            pod("default", "other", "100m", nodeName="n1"),
            pod("default", "same", "1900m", insufficient(2, 2)),
            pod("default", "web", "2", insufficient(2, 2)),
        ],
    }
)


def cached(mode: str) -> str:
    """Return the shop with a cache."""
    return example_text("shop").replace(SETTINGS, f"{SETTINGS}cache: {mode}\n")


SETTINGS = "kind: SimulationSettings\n"
#: Cycles that preempt, rank or fail, whose phases are walked through.
CYCLES = (("making-room", 1), ("coscheduling-no-room", 4), ("shop", 9), ("shop", 17))
DATA = Path(__file__).parents[1] / "playground" / "data"
#: Texts that v1.11 answers where they ask for no release.
MADE: dict[str, str] = {
    "churn": (DATA / "timed" / "churn.yaml").read_text("utf-8"),  # where controllers make pods
    "backed-off": CURRENT,
    "restarts": (DATA / "restart.yaml").read_text("utf-8"),  # of the scheduler, before cycles 3 and 4
    "two-templates": two_templates(),
    "batching": batching(),
    "three-nodes": CLUSTER,
    "three-nodes-cached": f"{CLUSTER}---\napiVersion: podstep/v1\n{SETTINGS}cache: v1.11\n",
    "picky": picky(),
    "weighed": TEXT,
    "dump": DUMP,
    "unhonored": UNHONORED,
    "honored": "\n".join(
        line for line in UNHONORED.splitlines() if "overhead" not in line and "Spread" not in line
    ),
    "every-unhonored": together(cases()),
    "timed": TIMED,
    "verbs-by-v1.11": VERBS,
    "shop-cached": cached("sound"),
    "shop-audited": cached("v1.11\naudit: true"),
    "quirks-fixed": example_text("quirks").replace("quirks: v1.11\n---", "quirks: fixed\n---"),
}
#: Texts as they are, which v1.37 answers where they ask for no release.
TODAY = {
    "weighed-today": bundles.bundle(*newest()),
    "descheduler-low-utilization": example_text("descheduler-low-utilization"),
    "drain-budget": example_text("drain-budget"),
    "pending": PENDING,
    "ten-percent-today": example_text("ten-percent"),
    "three-nodes-today": CLUSTER,
    "two-nodes": TWO_NODES,
    "two-schedulers": example_text("two-schedulers"),
    "verbs": VERBS,
}
