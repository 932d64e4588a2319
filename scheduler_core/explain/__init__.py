"""Why a pod is on its node or on none, and the smallest change that would make it fit.

:func:`explain` returns the answer in one call; :func:`asking` does the same work as a generator with pauses,
for callers that serve others meanwhile.
"""

from __future__ import annotations

from collections.abc import Generator, Sequence

from msgspec.structs import replace

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
from scheduler_core.explain.preemption import TITLE, preempting, preemption_section
from scheduler_core.explain.recorded_answer import DumpFacts, SimulatedOutcome, is_before_operations
from scheduler_core.explain.remedy import Remedy
from scheduler_core.explain.story import Story
from scheduler_core.explain.table import EXPLAINERS
from scheduler_core.explain.v1_37.gang import gang_section
from scheduler_core.explain.warnings import warnings_about
from scheduler_core.record.cycle import Decision
from scheduler_core.run import Stepper, simulate
from scheduler_core.scenario.scenario import Scenario

DECISIONS_AT_ONCE = 500  # replayed between two pauses
VICTIMS_NAMED = 5
Replaying = Generator[None, None, Stepper]

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
    "replayed",
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
        return with_input(answer, simulation.scenario)
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
    end = index - 1 if before else index
    simulation = yield from replayed(simulate(scenario, trace=False), decisions, end)
    if not before or last is None:
        return with_input((yield from _explaining(simulation, pod, node, shown)), scenario)
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
    answer = yield from _with_cycle(answer, simulation, decisions[:index])
    return with_input(answer, scenario)


def with_input(answer: Explanation, scenario: Scenario) -> Explanation:
    """Return the answer with the warnings about its pod and, on the dumped cluster, the recorded one."""
    answer = replace(answer, warnings=warnings_about(scenario, answer.pod))
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


def replayed(simulation: Stepper, decisions: Sequence[Decision], end: int) -> Replaying:
    """Replay the first ``end`` decisions on a run that has just begun, pausing regularly; return the run."""
    for first in range(0, end, DECISIONS_AT_ONCE):
        yield
        simulation.replay(decisions[first : min(first + DECISIONS_AT_ONCE, end)])
    return simulation


def _before(scenario: Scenario, decisions: Sequence[Decision], index: int) -> Replaying:
    """Return a run of a scenario just before a cycle, with the operations of its step applied."""
    earlier = yield from replayed(simulate(scenario, reuse=False), decisions, index)
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
    answer = yield from _at_the_moment(simulation, pod, node, shown)
    return (yield from _with_cycle(answer, simulation, simulation.decisions))


def _at_the_moment(simulation: Stepper, pod: str, node: str | None, shown: int) -> Asking:
    cluster = simulation.cluster
    state = cluster.pods.get(pod)
    if state is None:
        return gone(simulation, pod)
    if state.node_name:
        placed = _placing(simulation, pod, state.node_name)
        if placed is not None:
            return (yield from _placed(simulation, placed, pod, node))
    return (yield from _standing(simulation, pod, node, shown))


def _with_cycle(answer: Explanation, simulation: Stepper, decisions: Sequence[Decision]) -> Asking:
    """Return the answer with what a cycle found for the pod's PodGroup, and what preemption evaluated."""
    together = EXPLAINERS[simulation.release].mates(simulation, answer.pod)
    at = preempting(answer.pod, together, answer.state, decisions)
    if at is None:
        return answer
    earlier = yield from _before(simulation.scenario, decisions, at)
    yield
    cycle = earlier.step()
    if cycle is None:
        return answer
    tried = preemption_section(cycle.preemption, cycle=cycle.index, of_choice=answer.asked is not None)
    made = _evicted(decisions[at], at + 1) if answer.state == "placed" else ""
    others = (one for one in answer.sections if tried is None or one.title != TITLE)
    sections = tuple(one for one in (*others, gang_section(cycle), tried) if one is not None)
    return replace(answer, summary=answer.summary + made, sections=sections)


def _evicted(decision: Decision, number: int) -> str:
    """Return a sentence, after a blank, on the victims of an earlier cycle; "" if they are too many."""
    if not 0 < len(decision.victims) <= VICTIMS_NAMED:
        return ""
    place = f" from {decision.nominated}" if decision.nominated else ""
    return f" Cycle {number:,} evicted {', '.join(decision.victims)}{place} for it."


def _placed(simulation: Stepper, index: int, pod: str, asked: str | None) -> Asking:
    if asked is not None and asked not in simulation.cluster.nodes:
        raise unknown_node(simulation, asked)
    yield
    earlier = yield from _before(simulation.scenario, simulation.decisions, index)
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
    answer = yield from EXPLAINERS[simulation.release].pending(simulation, here, shown, tried)
    if simulation.kueue is None:
        return answer
    from scheduler_core.explain.kueue.section import kueue_sections  # most runs have no Kueue

    held = kueue_sections(simulation.kueue, pod)
    return replace(answer, sections=(*held, *answer.sections))
