"""docs/adding-a-predicate.md, followed literally: its two files are all that a new rule needs."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from textwrap import dedent

ROOT = Path(__file__).parents[3]
GUIDE = ROOT / "docs" / "adding-a-predicate.md"
FILE = re.compile(r"^`(scheduler_core/\S+\.py)`:\n\n((?:    .*\n|\n)+)", re.MULTILINE)

CHECK = """
from playground.reference import catalogue
from scheduler_core.schedulers.v1_11.policy.declared_fields import declared_fields
from scheduler_core.schedulers.v1_11.policy.order import V1_11_ORDER, keys_of, static_order
from scheduler_core.schedulers.v1_11.equivalence.rules import InvalidationRules
from scheduler_core.explain import explain
from scheduler_core.schedulers.v1_22.configuration.from_policy import from_policy
from scheduler_core.schedulers.v1_22.configuration.from_policy import PLUGIN_OF, SCORER_OF
from scheduler_core.schedulers.v1_22.configuration.plugins import PLUGINS
from scheduler_core.schedulers.v1_11.predicates import PREDICATES
from scheduler_core.schedulers.v1_11.priorities import PRIORITIES
from scheduler_core.schedulers.v1_11.preemption.preempt import UNRESOLVABLE_REASONS
from tests.core.engine.builders import node, pod, scenario, simulate
from tests.core.engine.test_describe import reported

KEY, NAME = "MatchArchitecture", "NewestNodePriority"

# A Policy can name both, by the alias too; the order has the place.
assert KEY in PREDICATES and NAME in PRIORITIES and keys_of("PodMatchArchitecture") == (KEY,)
place = V1_11_ORDER.index(KEY)
assert V1_11_ORDER[place - 1 : place + 2] == ("MatchNodeSelector", KEY, "PodFitsResources")
proposed = static_order("proposal")
assert proposed[proposed.index(KEY) - 1] == "MatchNodeSelector"

# The plugins are there, and a Policy is converted to them.
assert PLUGINS["Architecture"].predicates == (KEY,) and PLUGINS["Architecture"].points == ("filter",)
assert PLUGINS["NewestNode"].priority == NAME and PLUGINS["NewestNode"].points == ("score",)
assert PLUGIN_OF[KEY] == "Architecture" and SCORER_OF[NAME] == "NewestNode"

policy = {
    "kind": "Policy",
    "apiVersion": "v1",
    "predicates": [{"name": "PodMatchArchitecture"}],
    "priorities": [{"name": NAME, "weight": 2}],
}
assert not from_policy(policy).lost

# Classes of pods, the cache and preemption know what it reads, and that no victim helps.
assert "annotations" in declared_fields()
assert InvalidationRules("sound", {KEY: PREDICATES[KEY]})._unlisted
assert "node(s) had another architecture" in UNRESOLVABLE_REASONS

# The reference pages and the editor show both.
shown = {row["key"]: row["text"] for row in catalogue.wire()["predicates"]}
assert shown[KEY] == "The node has the architecture that the pod's annotation arch names."
assert {row["name"]: row["formula"] for row in catalogue.priorities()}[NAME].startswith("The annotation")

# It decides, and Why? explains it.
nodes = [
    node("amd", annotations={"arch": "amd64", "generation": "9"}),
    node("arm1", annotations={"arch": "arm64", "generation": "1"}),
    node("arm2", annotations={"arch": "arm64", "generation": "2"}),
]


def asking(arch):
    made = pod("p", {"cpu": "100m"})
    made["metadata"]["annotations"] = {"arch": arch}
    return made


ran = simulate(*nodes, asking("arm64"), policy=policy)
described = list(reported(ran))
assert ran.cluster.pods["default/p"].node_name == "arm2"
assert [found.value[-1].value for *_, found in described] == ["1", "2"]
answer = explain(scenario(*nodes, asking("riscv"), policy=policy), "default/p")
assert answer.state == "pending"
text = str(answer.as_dict())
assert "node amd has the architecture amd64" in text
assert "ask for the architecture a" in text
"""


def files() -> Iterator[tuple[str, str]]:
    """Yield the path and the text of each file in the guide."""
    for path, block in FILE.findall(GUIDE.read_text()):
        yield path, dedent(block).strip() + "\n"


def test_a_rule_is_one_file(tmp_path: Path) -> None:
    """The files are written into a copy of the engine, where nothing else is changed."""
    ignored = shutil.ignore_patterns("__pycache__")
    shutil.copytree(ROOT / "scheduler_core", tmp_path / "scheduler_core", ignore=ignored)
    written = dict(files())
    assert len(written) == 2
    for path, text in written.items():
        (tmp_path / path).write_text(text)
    environment = {
        **os.environ,
        "PYTHONPATH": f"{tmp_path}{os.pathsep}{ROOT}",
        "PYTHONDONTWRITEBYTECODE": "1",
        "DJANGO_SETTINGS_MODULE": "tests.settings",
    }
    done = subprocess.run(
        [sys.executable, "-c", CHECK],
        cwd=tmp_path,
        env=environment,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
