"""docs/adding-a-v1.37-plugin.md: one module is all that a plugin of kube-scheduler v1.37 needs."""

from __future__ import annotations

from pathlib import Path

from tests.guides.guide import ROOT, Followed, follow

GUIDE = "adding-a-v1.37-plugin.md"
MODULE = "scheduler_core/schedulers/v1_37/plugins/reserved_nodes.py"
CONFIGURATION = (ROOT / "docs" / GUIDE).read_text().partition("like any other plugin:\n")[2]

CHECK = """
from textwrap import dedent

import yaml

from scheduler_core import load_documents, simulate
from scheduler_core.explain import explain
from scheduler_core.kubernetes.problems import BundleError
from scheduler_core.schedulers.v1_37.config import read_configuration
from scheduler_core.schedulers.v1_37.pods import CompiledPod
from scheduler_core.schedulers.v1_37.signatures import signature
from tests.core.engine.builders import node, pod
from tests.core.v1_37 import parts

configuration = yaml.safe_load(dedent({configuration!r}))

# The filter matrix has a row of it, and Why? says what it said and what the pod waits for.
reserved = node("a", labels={{"reserved-for": "b"}})
reserved.setdefault("status", {{}})["nodeInfo"] = {{"kubeletVersion": "v1.37.0"}}
scenario = load_documents([reserved, pod("p"), configuration])
(cycle,) = simulate(scenario)
assert (cycle.order[-1], cycle.result) == ("ReservedNodes", "unschedulable"), cycle
answer = explain(scenario, "default/p").as_dict()
(failure,) = answer["nodes"][0]["failures"]
assert failure["predicate"] == "ReservedNodes"
assert failure["reasons"] == ["node(s) were reserved for another namespace"]
assert "ReservedNodes: a node is added that is not reserved for another namespace" in answer["summary"]

# Its hint moves the pod once the label names the pod's namespace, and not for another one.
run = parts.started(parts.node("a", labels={{"reserved-for": "b"}}), parts.pod("p"), config=configuration)
for namespace in ("c", "default"):
    labels = {{"metadata": {{"labels": {{"reserved-for": namespace}}}}}}
    assert not run.cluster.pods["default/p"].node
    run.take({{"do": "patch", "kind": "Node", "name": "a", "patch": labels}})
    run.take({{"do": "advance", "seconds": 20}})
    assert len(run.cycles) == (2 if namespace == "default" else 1), run.cycles
assert run.cluster.pods["default/p"].node == "a"

# Its arguments are validated; the namespaces that they exempt are not refused.
exempt = {{"exempt": ["default"]}}
configuration["profiles"][0]["pluginConfig"][0]["args"] = exempt
(cycle,) = simulate(load_documents([reserved, pod("p"), configuration]))
assert cycle.result == "scheduled"
exempt["exempt"] = 1
try:
    load_documents([reserved, pod("p"), configuration])
except BundleError as error:
    assert "exempt" in str(error.problems[0].path), error.problems
else:
    raise AssertionError("exempt: 1")

# What it signs tells pods apart, in profiles that enable it.
manifests = [parts.pod("p"), parts.pod("p")]
manifests[1]["metadata"]["namespace"] = "other"
pods = [CompiledPod(manifest) for manifest in manifests]
spread = {{"pluginConfig": [{{"name": "PodTopologySpread", "args": {{"defaultingType": "List"}}}}]}}
for plugins, number in (({{}}, 1), ({{"multiPoint": {{"enabled": [{{"name": "ReservedNodes"}}]}}}}, 2)):
    document = {{"profiles": [{{"plugins": plugins, **spread}}]}}
    profile = read_configuration(document).profiles["default-scheduler"]
    signed = {{signature(pod, profile) for pod in pods}}
    assert None not in signed and len(signed) == number, signed
"""

DEFAULT = """
from scheduler_core.schedulers.v1_37.config import multi_point
from scheduler_core.schedulers.v1_37.releases.v1_37 import DIALECT

names = [name for name, *_ in multi_point(DIALECT)]
own = names.index("ReservedNodes")
assert names.index("TaintToleration") < own < names.index("NodeAffinity"), names
"""

COUNTING = (
    *("tests/playground/test_reference_plugins.py", "tests/core/configuration/test_rule_history.py"),
    "tests/core/configuration/test_v1_37_edits.py",
    *("tests/core/v1_37/test_hints.py", "tests/core/v1_37/test_batches.py"),
    "tests/playground/test_v1_37_form.py::test_the_catalogue_has_every_declared_plugin",
)
"""Tests that name or count the plugins."""


def followed(tmp_path: Path) -> Followed:
    """Follow the guide in a copy of everything that the tests need."""
    return follow(GUIDE, tmp_path, "scheduler_core", "playground", "tests", "templates", "static", "docs")


def test_a_plugin_is_a_module(tmp_path: Path) -> None:
    """It refuses, explains, waits, has arguments and signs; the tests that count plugins stay true."""
    copy = followed(tmp_path)
    assert (copy.new, copy.changed) == ([MODULE], [])
    block = "".join(line for line in CONFIGURATION.splitlines(keepends=True)[1:10] if line.startswith("    "))
    copy.check(CHECK.format(configuration=block))
    copy.run_tests(*COUNTING)


def test_a_rank_puts_it_into_the_default_profile(tmp_path: Path) -> None:
    """Between two that are there; nothing else is touched."""
    copy = followed(tmp_path)
    module = copy.root / MODULE
    module.write_text(module.read_text().replace('    "filter",\n', '    "filter",\n    rank=55,\n'))
    copy.check(DEFAULT)
    copy.run_tests(*COUNTING, "tests/core/v1_37/test_reuse.py")  # which runs the default profile
