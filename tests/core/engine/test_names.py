"""Nodes are rows while a pod is decided; naming them all would take longer than deciding."""

from __future__ import annotations

from typing import Any

from scheduler_core import load, simulate

SETTINGS = "kind: SimulationSettings\napiVersion: podstep/v1\nscheduler: v1.11\n"
NODE = """
---
apiVersion: v1
kind: Node
metadata: {{name: n{0}}}
status: {{allocatable: {{cpu: "4", memory: 8Gi, pods: "110"}}, conditions: [{{type: Ready, status: "True"}}]}}
"""
POD = """
---
apiVersion: v1
kind: Pod
metadata: {{name: p{0}}}
spec: {{containers: [{{name: c, image: i}}]}}
"""


class Named(tuple[str, ...]):
    """Names that count how often one is read."""

    __slots__ = ()
    reads = 0

    def __getitem__(self, key: Any) -> Any:
        """Count a read."""
        Named.reads += isinstance(key, int)
        return super().__getitem__(key)


def test_a_decision_names_only_the_chosen_node() -> None:
    """Without a trace and extenders; what is compiled once may name each of the hundred nodes once."""
    text = "".join([*map(NODE.format, range(100)), *map(POD.format, range(5))])
    simulation = simulate(load(SETTINGS + text), trace=False)
    columns = simulation.cluster.columns
    columns.names = Named(columns.names)
    assert sum(1 for cycle in simulation if cycle.node) == 5
    assert Named.reads <= 100 + 5 * 2
