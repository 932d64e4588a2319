"""docs/adding-a-scheduler.md: one module and one row are all that a scheduler needs."""

from __future__ import annotations

from pathlib import Path

from tests.guides.guide import follow

CHECK = """
import django

django.setup()

from playground.panels.cycle import light
from tests.core.timed.parts import VIRTUAL, ended, node, pod
from tests.playground.test_podgroups_panel import words
from tests.playground.test_virtual_time import played

pods = [pod(f"b{n}").replace("spec: {", "spec: {schedulerName: round-robin, ") for n in range(5)]
bundle = (VIRTUAL, node("n1"), node("n2"), *pods, pod("p"))

# Its pods are placed in two batches, beside the default scheduler's pod.
made, cycles = ended(*bundle)
assert [(cycle.scheduler, round(cycle.time)) for cycle in cycles] == [
    ("", 0), ("round-robin", 5), ("round-robin", 10)
]
assert cycles[1].decision.placements == (("default/b0", "n1"), ("default/b1", "n2"), ("default/b2", "n1"))
assert cycles[2].decision.placements == (("default/b3", "n2"), ("default/b4", "n1"))

# The workbench tells its story.
import json

playback = played("---\\n".join(bundle))
story = json.loads(playback.light(2, light))["story"]
assert words(story[0]).startswith("The scheduler round-robin places default/b0 on n1"), story
"""


def test_a_scheduler_is_a_module_and_a_row(tmp_path: Path) -> None:
    """It runs in virtual time beside the default scheduler, and the workbench shows its decisions."""
    followed = follow("adding-a-scheduler.md", tmp_path, "scheduler_core")
    assert followed.new == ["scheduler_core/schedulers/v1_22/round_robin.py"]
    assert followed.changed == ["scheduler_core/schedulers/v1_22/schedulers.py"]
    followed.check(CHECK)
