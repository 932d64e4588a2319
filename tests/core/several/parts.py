"""Clusters with several schedulers, built in a few words."""

from __future__ import annotations

from scheduler_core import load
from scheduler_core.cluster.controllers.kubelet import REFUSED, is_admitted
from scheduler_core.record.cycle import Cycle
from scheduler_core.record.timeline import TimelineEvent
from scheduler_core.run.several.simulation import SeveralSimulation

NAMES = ("default-scheduler", "second", "third")


def settings(*schedulers: str, design: str = "side-by-side", until: float = 30) -> str:
    """Return the settings; each scheduler is written in YAML's flow style, without the braces."""
    listed = "".join(f"- {{{one}}}\n" for one in schedulers)
    return (
        "apiVersion: podstep/v1\nkind: SimulationSettings\ntime: virtual\nscheduler: v1.22\n"
        f"until: {until}\ndesign: {design}\nschedulers:\n{listed}"
    )


def pod(name: str, cpu: str | int = 1, *, of: str = "", spec: str = "", meta: str = "") -> str:
    """Return a pod's manifest, of the scheduler ``of``."""
    named = f"schedulerName: {of}, " if of else ""
    return (
        f"{{apiVersion: v1, kind: Pod, metadata: {{name: {name}{meta}}}, spec: {{{named}{spec}containers: "
        f'[{{name: c, resources: {{requests: {{cpu: "{cpu}"}}}}}}]}}}}\n'
    )


def several(*documents: str, trace: bool = False) -> SeveralSimulation:
    """Return a simulation of documents, with views even where nothing is late."""
    return SeveralSimulation(load("---\n".join(documents)), trace=trace)


def run(*documents: str) -> tuple[SeveralSimulation, list[Cycle]]:
    """Return a simulation that has run to its end with a trace, and its cycles."""
    made = several(*documents, trace=True)
    return made, list(made)


def reported(made: SeveralSimulation, cycles: list[Cycle]) -> list[TimelineEvent]:
    """Return all events of a run."""
    assert made.rest is not None
    return [
        *(one for cycle in cycles for one in (*cycle.happenings, *cycle.consequences)),
        *made.rest.happenings,
    ]


def refused(made: SeveralSimulation, cycles: list[Cycle]) -> list[str]:
    """Return the pods that the kubelet refused."""
    return [one.about for one in reported(made, cycles) if one.what.startswith(REFUSED)]


def noticed(made: SeveralSimulation) -> list[tuple[str, str]]:
    """Return who noticed what about which pod, without what nobody noticed."""
    return [(one.pod, one.noticed) for one in made.ledger.outcomes if one.noticed != "nobody"]


def fits(made: SeveralSimulation) -> bool:
    """Return whether the admitted pods fit their nodes."""
    for name, there in made.framework.cluster.nodes.items():
        on = [one for one in made.framework.pods.values() if one.node_name == name and is_admitted(one)]
        for resource, most in there.allocatable.items():
            used = sum(c.requests.get(resource, 0) for one in on for c in one.containers)
            if resource != "pods" and used > most:
                return False
    return True
