"""Why a pod is on its node or on none, and the smallest change that would make it fit.

:func:`explain` returns the answer in one call; :func:`asking` does the same work as a generator with pauses,
for callers that serve others meanwhile.
"""

from __future__ import annotations

from collections.abc import Sequence

from msgspec.structs import replace

from scheduler_core.explain.changes import Remedy
from scheduler_core.explain.cooperative import finished
from scheduler_core.explain.explanation import (
    NODES_SHOWN,
    Asking,
    ExplainError,
    Explanation,
    Group,
    NodeVerdict,
)
from scheduler_core.explain.missing_pod import gone, unknown_node
from scheduler_core.explain.recorded_answer import DumpFacts, SimulatedOutcome, is_before_operations
from scheduler_core.explain.story import Story
from scheduler_core.explain.table import EXPLAINERS
from scheduler_core.record.cycle import Decision
from scheduler_core.run import Stepper, simulate
from scheduler_core.scenario.scenario import Scenario

DECISIONS_AT_ONCE = 500  # replayed between two pauses

__all__ = [
    "Asking",
    "ExplainError",
    "Explanation",
    "Group",
    "NodeVerdict",
    "Remedy",
    "Story",
    "asking",
    "explain",
]


def explain(
    source: Stepper | Scenario, pod: str, node: str | None = None, *, step: str | int | None = None
) -> Explanation:
    """Explain where a pod (``namespace/name``) is, for all nodes or one, and what would make it fit.

    A simulation is explained at its current step, or as it was after ``step``, and is not changed; a scenario
    is run to its end, or to ``step`` (``17`` or ``3.4``; ``0`` is before the first cycle). A placed pod is
    explained by the cycle that placed it; a pod that the cycle of ``step`` failed to place is explained on
    the cluster that this cycle saw.

    Raises:
        ExplainError: There is no such pod, node or step.
        PolicyError: The scenario's policy cannot be used.
    """
    if step is None:
        simulation = source if not isinstance(source, Scenario) else _ended(source)
        answer = finished(_explaining(simulation, pod, node, NODES_SHOWN))
        return with_recorded(answer, simulation.scenario)
    scenario = source.scenario if not isinstance(source, Scenario) else source
    decisions = source.decisions if not isinstance(source, Scenario) else None
    reached = _reach(scenario, decisions, str(step))
    return finished(asking(scenario, reached.decisions, reached.index, pod, node))


def asking(
    scenario: Scenario,
    decisions: Sequence[Decision],
    index: int,
    pod: str,
    node: str | None = None,
    *,
    shown: int = NODES_SHOWN,
) -> Asking:
    """Explain a pod as of cycle ``index`` of a recorded run, as a generator that pauses regularly.

    ``decisions`` are those of the run; ``shown`` is how many nodes' verdicts are included when no node is
    asked about. Raises what :func:`explain` raises.
    """
    last = decisions[index - 1] if index else None
    before = last is not None and last.pod == pod and last.result != "scheduled"
    simulation = simulate(scenario, trace=False)
    end = index - 1 if before else index
    for first in range(0, end, DECISIONS_AT_ONCE):
        yield
        simulation.replay(decisions[first : min(first + DECISIONS_AT_ONCE, end)])
    if not before or last is None:
        return with_recorded((yield from _explaining(simulation, pod, node, shown)), scenario)
    simulation.peek()
    answer = yield from _standing(simulation, pod, node, shown, tried=True)
    summary = answer.summary
    if last.victims:
        count = f"{len(last.victims):,} pod" + ("" if len(last.victims) == 1 else "s")
        summary += f" So preemption deleted {count} on {last.nominated} in this cycle, and it is tried again."
    step = f"{simulation.major}.{simulation.minor + 1}"
    member = simulation.outcome_in_group(pod)
    summary += f" With its PodGroup {member.group} in this cycle: {member.text()}" if member else ""
    answer = replace(answer, index=index, step=step, before=True, summary=summary)
    return with_recorded(answer, scenario)


def with_recorded(answer: Explanation, scenario: Scenario) -> Explanation:
    """Return the answer with the recorded condition of its pod, if it is about the dumped cluster."""
    if not is_before_operations(answer.step) or answer.asked is not None:
        return answer
    outcome = SimulatedOutcome(
        answer.node or "", answer.message, fits=answer.state == "pending" and not answer.message
    )
    return replace(answer, recorded=DumpFacts.of(scenario).compare(answer.pod, outcome))


# The moment


def _ended(scenario: Scenario) -> Stepper:
    simulation = simulate(scenario, trace=False)
    while simulation.step() is not None:
        pass
    return simulation


def _reach(scenario: Scenario, decisions: Sequence[Decision] | None, wanted: str) -> Stepper:
    """Return a run of the scenario after a step, making only the decisions that are not recorded yet."""
    simulation = simulate(scenario, trace=False)
    while not _reached(simulation, wanted):
        if decisions is None:
            if simulation.step() is None:
                break
        elif simulation.index < len(decisions):
            simulation.replay(decisions[simulation.index : simulation.index + 1])
        else:
            break
    if not _reached(simulation, wanted):
        raise ExplainError(
            f"there is no step {wanted}: the run ends after {simulation.index:,} cycles", "step"
        )
    return simulation


def _reached(simulation: Stepper, wanted: str) -> bool:
    return wanted in (str(simulation.index), _step(simulation))


def _step(simulation: Stepper) -> str:
    return f"{simulation.major}.{simulation.minor}"


def _before(simulation: Stepper, index: int) -> Stepper:
    """Return a run of the same scenario just before a cycle, with the operations of its step applied."""
    earlier = simulate(simulation.scenario, reuse=False)
    earlier.replay(simulation.decisions[:index])
    earlier.peek()
    return earlier


def _placing(simulation: Stepper, pod: str, node: str) -> int | None:
    """Return the index of the cycle that placed the pod, ``None`` if none did."""
    for index in range(len(simulation.decisions) - 1, -1, -1):
        decision = simulation.decisions[index]
        if (pod, node) in decision.placements:
            return index
        if decision.pod == pod or pod in dict(decision.further):
            return None
    return None


# The answers


def _explaining(simulation: Stepper, pod: str, node: str | None, shown: int) -> Asking:
    """Explain a pod at the simulation's current step."""
    cluster = simulation.cluster
    state = cluster.pods.get(pod)
    if state is None:
        return gone(simulation, pod)
    if state.node_name:
        placed = _placing(simulation, pod, state.node_name)
        if placed is not None:
            return (yield from _placed(simulation, placed, pod, node))
    return (yield from _standing(simulation, pod, node, shown))


def _placed(simulation: Stepper, index: int, pod: str, asked: str | None) -> Asking:
    if asked is not None and asked not in simulation.cluster.nodes:
        raise unknown_node(simulation, asked)
    yield
    earlier = _before(simulation, index)
    yield
    return (yield from EXPLAINERS[simulation.release].placed(earlier, pod, asked))


def _standing(simulation: Stepper, pod: str, asked: str | None, shown: int, *, tried: bool = False) -> Asking:
    """Explain a pod that is pending, or bound by its manifest, by filtering it on the current cluster.

    ``tried`` is true if the pod is the next one to be scheduled.
    """
    if asked is not None and asked not in simulation.cluster.nodes:
        raise unknown_node(simulation, asked)
    yield
    node = simulation.cluster.pods[pod].node_name or None
    state = "bound" if node else "pending"
    here = Explanation(pod, state, node, asked, simulation.index, _step(simulation), "")
    return (yield from EXPLAINERS[simulation.release].pending(simulation, here, shown, tried))
