"""docs/adding-a-controller.md: the kind's type, one module and one row are all that a controller needs."""

from __future__ import annotations

from pathlib import Path

from tests.guides.guide import follow

CHECK = """
from scheduler_core import load
from scheduler_core.kubernetes.problems import BundleError
from scheduler_core.run.instant import Simulation
from tests.core.objects import test_support
from tests.core.timed.parts import VIRTUAL, ended, history, node

SET = '''apiVersion: apps.kruise.io/v1alpha1
kind: CloneSet
metadata: {name: web}
spec:
  replicas: 3
  selector: {matchLabels: {app: web}}
  template:
    metadata: {labels: {app: web}}
    spec: {containers: [{name: c, resources: {requests: {cpu: 100m}}}]}
'''

# Where time stands still it is expanded when the bundle is loaded.
simulation = Simulation(load("---\\n".join((node("n1"), SET))))
assert len(list(simulation)) == 3
pods = simulation.cluster.pods.values()
assert all(state.node_name == "n1" for state in pods)
owners = {(owner.kind, owner.name) for state in pods for owner in state.pod.meta.owner_references}
assert owners == {("CloneSet", "web")}

# In virtual time its controller follows it: a patch scales it down, a deleted pod is replaced.
patch = '{"spec": {"replicas": 1}}'
scale = "{typeMeta: {kind: CloneSet}, objectMeta: {name: web}, patch: '" + patch + "'}"
made, cycles = ended(VIRTUAL, node("n1"), SET, history("time: 20, patchOperation: " + scale))
assert [cycle.result for cycle in cycles] == ["scheduled"] * 3
assert len(made.placement()) == 1, made.placement()

name = cycles[0].pod.partition("/")[2]
gone = "{typeMeta: {kind: Pod}, objectMeta: {name: " + name + "}}"
made, cycles = ended(VIRTUAL, node("n1"), SET, history("time: 20, deleteOperation: " + gone))
assert len(cycles) == 4 and len(made.placement()) == 3

# Wrong fields are reported with their path, and the pods' owner is written with the kind's apiVersion.
try:
    load(SET.replace("replicas: 3", "replicas: -3"))
except BundleError as error:
    assert "spec.replicas" in str(error.problems[0].path), error.problems
else:
    raise AssertionError("a negative number of replicas was read")

from scheduler_core.formats.manifest import to_manifest

written = to_manifest(next(iter(simulation.cluster.pods.values())).pod)
assert written["metadata"]["ownerReferences"][0]["apiVersion"] == "apps.kruise.io/v1alpha1"

# The tables of supported fields stay complete.
for name, test in vars(test_support).items():
    if name.startswith(("test_every", "test_what_the_table_calls")):
        test()
"""


def test_a_controller_is_a_type_a_module_and_a_row(tmp_path: Path) -> None:
    """It makes, replaces and deletes pods of the new kind, with and without virtual time."""
    followed = follow("adding-a-controller.md", tmp_path, "scheduler_core")
    assert followed.new == ["scheduler_core/cluster/v1_37/cloneset.py"]
    assert followed.changed == [
        "scheduler_core/kubernetes/kinds.py",
        "scheduler_core/cluster/v1_37/plane.py",
    ]
    followed.check(CHECK)
