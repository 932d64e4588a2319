"""Why a pod is where it is, or why it is nowhere, and the smallest change that would make it fit."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

from scheduler_core.cycle import Decision
from scheduler_core.explain.changes import Change, changes
from scheduler_core.explain.finding import Place
from scheduler_core.explain.findings import findings
from scheduler_core.explain.story import Story, tell
from scheduler_core.explain.world import Failure, Standing, snapshot
from scheduler_core.filtering import error_message, fit_error_message
from scheduler_core.objects.names import did_you_mean
from scheduler_core.scenario import Scenario
from scheduler_core.simulation import SCHEDULER_NAMES, Simulation

NODES_SHOWN = 100
NEAREST_OF = 5000  # names that a misspelt one is compared with

__all__ = ["Change", "ExplainError", "Explanation", "Story", "explain"]


class ExplainError(ValueError):
    """What is asked about does not exist; the text says what may have been meant."""


@dataclass(frozen=True, slots=True)
class Verdict:
    """One node's verdict: everything that fails there, with the facts behind it."""

    node: str
    fits: bool
    failures: tuple[Failure, ...]
    details: tuple[str, ...]
    numbers: tuple[dict[str, Any], ...]

    def as_dict(self) -> dict[str, Any]:
        """Return it as JSON."""
        return {
            "node": self.node,
            "fits": self.fits,
            "failures": [
                {"predicate": f.predicate, "reasons": list(f.reasons), "error": f.error}
                for f in self.failures
            ],
            "details": list(self.details),
            "numbers": list(self.numbers),
        }


@dataclass(frozen=True, slots=True)
class Explanation:
    """The answer. ``state`` is placed, bound, pending, finished, preempted, deleted or other.

    ``index`` and ``step`` are the cycle that placed the pod, told in ``story``, else the last one before the
    moment that is described. ``nodes`` are the verdicts on the node asked about or on all, at most
    :data:`NODES_SHOWN` of ``nodes_count``; ``changes`` make the pod fit, the smallest first.
    """

    pod: str
    state: str
    node: str | None
    asked: str | None
    index: int
    step: str
    summary: str
    story: Story | None = None
    nodes: tuple[Verdict, ...] = ()
    nodes_count: int = 0
    changes: tuple[Change, ...] = ()

    def as_dict(self) -> dict[str, Any]:
        """Return it as JSON, of bounded size."""
        return {
            "pod": self.pod,
            "state": self.state,
            "node": self.node,
            "asked": self.asked,
            "index": self.index,
            "step": self.step,
            "summary": self.summary,
            "story": self.story.as_dict() if self.story else None,
            "nodes": [verdict.as_dict() for verdict in self.nodes],
            "nodesCount": self.nodes_count,
            "changes": [change.as_dict() for change in self.changes],
        }


def explain(
    source: Simulation | Scenario, pod: str, node: str | None = None, *, step: str | int | None = None
) -> Explanation:
    """Explain where a pod (``namespace/name``) is, for all nodes or one, and what would make it fit.

    A simulation is taken as it stands, or as it was after ``step``, and is left alone; a scenario is run to
    its end, or to ``step`` (``17`` or ``3.4``). A placed pod is explained by the cycle that placed it.

    Raises:
        ExplainError: There is no such pod, node or step.
        PolicyError: The scenario's policy cannot be used.
    """
    simulation = _at(source, step)
    known = _gone(simulation, pod)
    if known is not None:
        return known
    if pod not in simulation.cluster.pods:
        raise ExplainError(f"there is no pod {pod!r}{_meant(pod, simulation.cluster.pods)}")
    _check_node(simulation, node)
    state = simulation.cluster.pods[pod]
    if state.node_name:
        placed = _placing(simulation, pod, state.node_name)
        if placed is not None:
            return _placed(simulation, placed, pod, node)
    return _standing(simulation, pod, node)


# The moment


def _at(source: Simulation | Scenario, step: str | int | None) -> Simulation:
    """Return the simulation at the moment asked about; never the caller's own, once it has to move."""
    if isinstance(source, Simulation) and step is None:
        return source
    scenario = source.scenario if isinstance(source, Simulation) else source
    simulation = Simulation(scenario, trace=False)
    wanted = None if step is None else str(step)
    decisions = source.decisions if isinstance(source, Simulation) else None
    while not _reached(simulation, wanted):
        if decisions is None:
            if simulation.step() is None:
                break
        elif simulation.index < len(decisions):
            simulation.replay(decisions[simulation.index : simulation.index + 1])
        else:
            break
    if wanted is not None and not _reached(simulation, wanted):
        raise ExplainError(f"there is no step {wanted}: the run ends after {simulation.index:,} cycles")
    return simulation


def _reached(simulation: Simulation, wanted: str | None) -> bool:
    return simulation.index > 0 and wanted in (str(simulation.index), _step(simulation))


def _step(simulation: Simulation) -> str:
    return f"{simulation.major}.{simulation.minor}"


def _before(simulation: Simulation, index: int) -> Simulation:
    """Return a run of the same scenario just before a cycle, operations of its step applied."""
    earlier = Simulation(simulation.scenario, unabridged=True, reuse=False)
    earlier.replay(simulation.decisions[:index])
    earlier.peek()
    return earlier


def _placing(simulation: Simulation, pod: str, node: str) -> int | None:
    """Return how many cycles came before the one that placed the pod, ``None`` if none did."""
    for index in range(len(simulation.decisions) - 1, -1, -1):
        decision = simulation.decisions[index]
        if decision.pod == pod:
            return index if decision.result == "scheduled" and decision.node == node else None
    return None


def _check_node(simulation: Simulation, node: str | None) -> None:
    names = simulation.cluster.nodes
    if node is not None and node not in names:
        raise ExplainError(f"there is no node {node!r}{_meant(node, names)}")


def _meant(word: str, known: dict[str, Any]) -> str:
    return did_you_mean(word, list(known)[:NEAREST_OF])


# The answers


def _gone(simulation: Simulation, pod: str) -> Explanation | None:
    """Explain a pod that is no longer in the cluster."""
    cluster = simulation.cluster
    if pod in cluster.pods:
        return None

    def gone(state: str, summary: str, node: str | None = None) -> Explanation:
        return Explanation(pod, state, node, None, simulation.index, _step(simulation), summary)

    finished = cluster.finished.get(pod)
    if finished is not None:
        return gone("finished", f"{pod} has finished: phase {finished.phase}.", finished.node_name or None)
    by: Decision | None = next((d for d in reversed(simulation.decisions) if pod in d.victims), None)
    if by is not None:
        where = f"on {by.nominated} " if by.nominated else ""
        return gone("preempted", f"{pod} was preempted {where}to make room for {by.pod}.")
    if any(decision.pod == pod for decision in simulation.decisions):
        return gone("deleted", f"{pod} was deleted by an operation of the scenario.")
    return None


def _placed(simulation: Simulation, index: int, pod: str, asked: str | None) -> Explanation:
    earlier = _before(simulation, index)
    standing = Standing(snapshot(earlier, pod)) if asked is not None else None
    cycle = earlier.step()
    assert cycle is not None
    story = tell(cycle, asked)
    summary = f"{pod} was placed on {cycle.node} in cycle {cycle.index:,}. {' '.join(story.sentences)}"
    answer = Explanation(
        pod, "placed", cycle.node, asked, cycle.index, cycle.step, summary, story, (), len(cycle.nodes)
    )
    if standing is None or asked is None or asked == cycle.node:
        return answer
    if asked not in cycle.nodes:
        return replace(answer, summary=f"{summary} Node {asked} did not exist yet.")
    row = cycle.nodes.index(asked)
    verdict = _verdict(standing, row)
    told = "fitted too" if verdict.fits else f"did not fit: {_because(verdict)}"
    return replace(
        answer,
        summary=f"{summary} {asked} {told}.",
        nodes=(verdict,),
        changes=tuple(changes(standing, [row])),
    )


def _standing(simulation: Simulation, pod: str, asked: str | None) -> Explanation:
    """Explain a pod that waits, or that was bound from the start, by trying it on the cluster as it is."""
    state = simulation.cluster.pods[pod]
    node = state.node_name or None
    standing = Standing(snapshot(simulation, pod))
    names = standing.names
    here = Explanation(
        pod, "bound" if node else "pending", node, asked, simulation.index, _step(simulation), ""
    )
    if node and asked in (None, node):
        return replace(here, summary=f"{pod} is bound to {node} by its manifest: no cycle placed it.")
    rows = [names.index(asked)] if asked is not None else list(range(len(names)))
    verdicts = tuple(_verdict(standing, row) for row in rows[:NODES_SHOWN])
    found = tuple(changes(standing, rows))
    summary = _pending_summary(standing, pod, verdicts, asked)
    if node:
        summary = f"{pod} is bound to {node} by its manifest. {summary}"
    elif state.pod.scheduler_name not in SCHEDULER_NAMES:
        here = replace(here, state="other")
        summary = f"{pod} is left to the scheduler {state.pod.scheduler_name}. {summary}"
    elif all(decision.pod != pod for decision in simulation.decisions):
        summary = f"{pod} has not been tried yet. {summary}"
    if state.nominated:
        summary = f"{summary} It is nominated to {state.nominated}."
    return replace(here, summary=summary, nodes=verdicts, nodes_count=len(names), changes=found)


def _pending_summary(standing: Standing, pod: str, verdicts: tuple[Verdict, ...], asked: str | None) -> str:
    if asked is not None:
        verdict = verdicts[0]
        return f"{pod} {'fits' if verdict.fits else 'does not fit'} on {asked}" + (
            "." if verdict.fits else f": {_because(verdict)}."
        )
    filtered = standing.filtered
    if standing.early is not None:
        return f"{pod} is pending: {standing.early}."
    if not standing.names:
        return f"{pod} is pending: there are no nodes."
    if filtered.errors:
        return f"{pod} is pending: {error_message(filtered.errors.values())}."
    fitting = len(standing.fitting())
    if fitting or filtered.failed is None:
        return f"{pod} fits on {fitting:,} of {len(standing.names):,} nodes."
    return f"{pod} is pending: {fit_error_message(filtered.failed, standing.cluster.reasons)}"


def _because(verdict: Verdict) -> str:
    told = [text for f in verdict.failures for text in ((f.error,) if f.error else f.reasons)]
    return ", ".join(dict.fromkeys(told)) or "an error on another node ends the attempt"


def _verdict(standing: Standing, row: int) -> Verdict:
    failures = standing.failures(row)
    place = Place(standing, row)
    found = [finding for failure in failures for finding in findings(place, failure)]
    return Verdict(
        standing.names[row],
        standing.fits(row),
        failures,
        tuple(dict.fromkeys(text for finding in found for text in finding.details)),
        tuple(number for finding in found for number in finding.numbers),
    )
