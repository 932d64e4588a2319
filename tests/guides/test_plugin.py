"""docs/adding-a-plugin.md: one module and one row are all that a framework plugin needs."""

from __future__ import annotations

from pathlib import Path

from tests.guides.guide import ROOT, follow

CONFIGURATION = (ROOT / "docs" / "adding-a-plugin.md").read_text().partition("like any other plugin:\n")[2]

CHECK = """
from textwrap import dedent

from scheduler_core.schedulers.v1_22.configuration.plugins import PLUGINS
from scheduler_core.kubernetes.problems import BundleError
from tests.core.timed.parts import VIRTUAL, ended, history, node, pod

assert PLUGINS["NamespacePods"].points == ("preFilter",)

configuration = dedent({configuration!r})
pods = [pod(name) for name in ("a", "b", "c")]
one = "{{typeMeta: {{apiVersion: v1, kind: Pod}}, objectMeta: {{name: a}}}}"
gone = history("time: 30, deleteOperation: " + one)

# Two pods of the namespace are placed; the third is rejected, and placed after one is deleted.
made, cycles = ended(VIRTUAL, configuration, node("n1"), *pods, gone)
results = [(round(cycle.time), cycle.pod, cycle.result) for cycle in cycles]
assert results[:2] == [(0, "default/a", "scheduled"), (0, "default/b", "scheduled")], results
assert results[2] == (0, "default/c", "unschedulable"), results
assert "namespace default has 2 pods" in cycles[2].message, cycles[2].message
assert results[-1][1:] == ("default/c", "scheduled") and 30 <= results[-1][0] <= 31, results

# Without the plugin nothing is rejected.
_, cycles = ended(VIRTUAL, node("n1"), *pods)
assert [cycle.result for cycle in cycles] == ["scheduled"] * 3

# Its arguments are validated, with their path; without any it has its defaults.
for wrong in ("{{most: 0}}", "{{most: some}}"):
    try:
        ended(VIRTUAL, configuration.replace("{{most: 2}}", wrong), node("n1"))
    except BundleError as error:
        assert "profiles[0].pluginConfig[0].args" in str(error.problems[0].path), error.problems
    else:
        raise AssertionError(wrong)
_, cycles = ended(VIRTUAL, configuration.partition("  pluginConfig")[0], node("n1"), *pods)
assert [cycle.result for cycle in cycles] == ["scheduled"] * 3
"""


def test_a_plugin_is_a_module_and_a_row(tmp_path: Path) -> None:
    """It runs in virtual time, rejects a pod, and has its pod tried again after the event that it names."""
    block = "".join(line for line in CONFIGURATION.splitlines(keepends=True)[1:10] if line.startswith("    "))
    followed = follow("adding-a-plugin.md", tmp_path, "scheduler_core")
    assert followed.new == ["scheduler_core/schedulers/v1_22/plugins/namespace_pods.py"]
    assert followed.changed == ["scheduler_core/schedulers/v1_22/plugins/table.py"]
    followed.check(CHECK.format(configuration=block))
