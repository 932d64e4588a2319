"""docs/adding-a-release.md: one module is all that a release of kube-scheduler needs."""

from __future__ import annotations

from pathlib import Path

from tests.guides.guide import follow

MODULE = "scheduler_core/schedulers/v1_37/releases/v1_99.py"

CHECK = """
import json

from scheduler_core import load_documents, simulate
from scheduler_core.cli.conform import conform_records
from scheduler_core.compare.compare import compare
from scheduler_core.settings.release import DEFAULT_RELEASE, RELEASES
from tests.core.engine.builders import node, pod

assert (RELEASES[-1], DEFAULT_RELEASE) == ("v1.99", "v1.37")

# Its weight chooses another node than v1.37's, and that rule is named; its text is in the message.
names = [{"key": "metadata.name", "operator": "In", "values": ["a"]}]
preferred = [{"weight": 1, "preference": {"matchFields": names}}]
affinity = {"nodeAffinity": {"preferredDuringSchedulingIgnoredDuringExecution": preferred}}
nodes = [node("a", taints=["k=v:PreferNoSchedule"]), node("b")]
wanted = pod("p", affinity=affinity)
documents = [*nodes, wanted]
made = compare(*(load_documents(documents, scheduler=one) for one in ("v1.37", "v1.99")))
(rule,) = made.upgrade.rules
assert (rule.subject, rule.release, rule.proven) == ("TaintToleration", "v1.99", True), rule
pending = [node("c", unschedulable=True), pod("q")]
(cycle,) = simulate(load_documents(pending, scheduler="v1.99"))
assert "1 node(s) were cordoned" in cycle.message, cycle.message
(answer,) = conform_records([json.dumps({"id": "r", "objects": pending})], system="v1.99")
assert "cordoned" in json.dumps(answer), answer
"""


def test_a_release_is_a_module(tmp_path: Path) -> None:
    """It is chosen, decides, is compared with the rule in words, and answers records; a page lists it."""
    copy = follow(
        "adding-a-release.md", tmp_path, "scheduler_core", "playground", "tests", "templates", "static"
    )
    assert (copy.new, copy.changed) == ([MODULE], [])
    copy.check(CHECK)
    copy.run_tests(
        "tests/playground/test_reference_releases.py",
        "tests/core/configuration/test_dialects.py",
    )
