"""Why a pod is on its node or on none, and the smallest change that would make it fit.

:func:`explain` returns the answer in one call; :func:`asking` does the same work as a generator with pauses,
for callers that serve others meanwhile.
"""

from __future__ import annotations

from collections.abc import Generator, Sequence

from msgspec.structs import replace

from scheduler_core.explain.changes import Remedy, search
from scheduler_core.explain.cooperative import finished
from scheduler_core.explain.explanation import (
    NODES_SHOWN,
    ExplainError,
    Explanation,
    Group,
    Verdict,
    groups,
    verdict,
)
from scheduler_core.explain.missing_pod import gone, unknown_node
from scheduler_core.explain.recorded_answer import DumpFacts, SimulatedOutcome, is_before_operations
from scheduler_core.explain.spelling import near
from scheduler_core.explain.story import Story, story_of
from scheduler_core.explain.v1_37.beside import pending_beside, placed_beside, serving
from scheduler_core.explain.v1_37.explanation import (
    changes_for,
    decide_too,
    groups_of,
    pending_now,
    run_of,
    verdict_on,
)
from scheduler_core.explain.v1_37.standing import standing_now
from scheduler_core.explain.world import Standing, snapshot
from scheduler_core.record.cycle import Cycle, Decision
from scheduler_core.run import Stepper, simulate
from scheduler_core.run.v1_37.record import release_record
from scheduler_core.run.v1_37.simulation import V1_37Simulation
from scheduler_core.scenario.scenario import Scenario
from scheduler_core.schedulers.extenders.configuration import is_extender
from scheduler_core.schedulers.v1_11.attempt import NO_NODES
from scheduler_core.schedulers.v1_11.filtering import error_message, fit_error_message

DECISIONS_AT_ONCE = 500  # replayed between two pauses

Asking = Generator[None, None, Explanation]

__all__ = [
    "Asking",
    "ExplainError",
    "Explanation",
    "Group",
    "Remedy",
    "Story",
    "Verdict",
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
    if scenario.row.reads_manifests:
        simulation.step()
        member = simulation.members.get(pod)
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
    alone = run_of(earlier)
    if alone is not None:
        return (yield from _placed_by_v1_37(alone, pod, asked))
    peer = serving(earlier, earlier.cluster.pods[pod].pod) if pod in earlier.cluster.pods else None
    standing = None if peer is not None else Standing(snapshot(earlier, pod))
    yield
    cycle = earlier.step()
    assert cycle is not None
    if cycle.scheduler:
        return _placed_beside(cycle, pod, asked)
    story = story_of(cycle, asked)
    by = "" if peer is None else f" by {peer.label} (kube-scheduler v1.37)"
    summary = f"{pod} was placed on {cycle.node} in cycle {cycle.index:,}{by}. {' '.join(story.sentences)}"
    answer = Explanation(
        pod,
        "placed",
        cycle.node,
        asked,
        cycle.index,
        cycle.step,
        summary,
        story=story,
        nodes_count=len(cycle.nodes),
        groups=groups(standing) if asked is None and standing is not None else (),
    )
    if standing is None:
        return placed_beside(cycle, answer)
    if asked is None or asked == cycle.node:
        return answer
    if asked not in cycle.nodes:
        return replace(answer, summary=f"{summary} Node {asked} did not exist yet.")
    row = cycle.nodes.index(asked)
    node_verdict = verdict(standing, row)
    refused = _refused_by_extender(cycle, row) if node_verdict.fits else ""
    how = refused or ("fitted too" if node_verdict.fits else f"did not fit: {node_verdict.because}")
    found = yield from search(standing, [row])
    text = f"{summary} {asked} {how}.{node_verdict.further}"
    return replace(answer, summary=text, nodes=(node_verdict,), changes=tuple(found))


def _refused_by_extender(cycle: Cycle, row: int) -> str:
    """Return which extender failed a node that passed the predicates or filters; "" if none did."""
    matrix = cycle.matrix
    if matrix is None:
        return ""
    rows = [number for number, name in enumerate(matrix.order) if is_extender(name)]
    number = next((number for number in rows if matrix.codes[number, row] > 0), None)
    if number is None:
        return ""
    reasons = ", ".join(matrix.reasons[int(matrix.codes[number, row])]) or "without a reason"
    rules = "filters" if release_record(cycle) is not None else "predicates"
    return f"passed the {rules}, but {matrix.order[number]} refused it: {reasons}"


def _placed_by_v1_37(earlier: V1_37Simulation, pod: str, asked: str | None) -> Asking:
    """Return the answer for a pod that v1.37 placed, from the cluster of the cycle that did."""
    standing = standing_now(earlier, pod)
    yield
    names = standing.names
    cycle = earlier.step()
    assert cycle is not None
    node = dict(cycle.decision.placements)[pod]
    story = story_of(cycle, asked)
    member = earlier.members.get(pod)
    together = f" with {member.with_it:,} more pods of PodGroup {member.group}" if member else ""
    summary = f"{pod} was placed on {node} in cycle {cycle.index:,} by kube-scheduler v1.37{together}."
    if cycle.pod == pod:
        summary = f"{summary} {' '.join(story.sentences)}"
    answer = Explanation(
        pod,
        "placed",
        node,
        asked,
        cycle.index,
        cycle.step,
        summary,
        story=story if cycle.pod == pod else None,
        nodes_count=len(names),
        groups=groups_of(standing, names, {name for row, name in enumerate(names) if standing.fits(row)}),
    )
    if asked is None or asked == node:
        return answer
    if asked not in names:
        return replace(answer, summary=f"{summary} Node {asked} did not exist yet.")
    row = names.index(asked)
    node_verdict = verdict_on(standing, row)
    if node_verdict.fits:
        refused = "" if asked not in cycle.nodes else _refused_by_extender(cycle, cycle.nodes.index(asked))
        text = f"{summary} {asked} {refused or 'fitted too'}."
        return replace(answer, summary=text, nodes=(node_verdict,))
    found, unsearched = yield from changes_for(standing, [row])
    plugin = (
        f"{node_verdict.failures[0].predicate} ({node_verdict.because})"
        if node_verdict.failures
        else node_verdict.because
    )
    text = " ".join(
        filter(None, (f"{summary} {asked} did not fit: {plugin}.{node_verdict.further}", unsearched))
    )
    return replace(answer, summary=text, nodes=(node_verdict,), changes=tuple(found))


def _placed_beside(cycle: Cycle, pod: str, asked: str | None) -> Explanation:
    """Return the answer for a pod that a custom scheduler placed; it has no predicates or priorities."""
    node = dict(cycle.decision.placements)[pod]
    summary = f"{pod} was placed on {node} in cycle {cycle.index:,} by the scheduler {cycle.scheduler}."
    return Explanation(
        pod, "placed", node, asked, cycle.index, cycle.step, summary, nodes_count=len(cycle.nodes)
    )


def _standing(simulation: Stepper, pod: str, asked: str | None, shown: int, *, tried: bool = False) -> Asking:
    """Explain a pod that is pending, or bound by its manifest, by filtering it on the current cluster.

    ``tried`` is true if the pod is the next one to be scheduled.
    """
    if asked is not None and asked not in simulation.cluster.nodes:
        raise unknown_node(simulation, asked)
    yield
    state = simulation.cluster.pods[pod]
    node = state.node_name or None
    alone = run_of(simulation)
    if alone is not None:
        known = "bound" if node else "pending"
        moment = Explanation(pod, known, node, asked, simulation.index, _step(simulation), "")
        return (yield from pending_now(alone, pod, asked, moment, shown))
    here = Explanation(
        pod, "bound" if node else "pending", node, asked, simulation.index, _step(simulation), ""
    )
    peer = serving(simulation, state.pod)
    if peer is not None:
        return pending_beside(peer, here)
    standing = Standing(snapshot(simulation, pod))
    names = standing.names
    if node and asked in (None, node):
        return replace(here, summary=f"{pod} is bound to {node} by its manifest: no cycle placed it.")
    rows = [names.index(asked)] if asked is not None else list(range(len(names)))
    verdicts = tuple(verdict(standing, row) for row in rows[:shown])
    # Asked about all nodes, a pod that fits on one of them needs no remedy.
    found = [] if asked is None and standing.fitting() else (yield from search(standing, rows))
    summary = _pending_summary(standing, pod, verdicts, asked)
    if simulation.profile_of(state.pod).extenders:
        summary += f" {decide_too(simulation.profile_of(state.pod).extenders)}"
    if node:
        summary = f"{pod} is bound to {node} by its manifest. {summary}"
    elif not simulation.responsible(state.pod):
        here = replace(here, state="other")
        name = state.pod.scheduler_name
        meant = near(name, simulation.profiles)
        hint = f" (no profile has this name; did you mean {meant}?)" if meant else ""
        summary = f"{pod} is assigned to the scheduler {name}{hint}. {summary}"
    elif not tried and all(decision.pod != pod for decision in simulation.decisions):
        summary = f"{pod} has not been tried yet. {summary}"
    if state.nominated:
        summary = f"{summary} It is nominated to {state.nominated}."
    return replace(
        here,
        summary=summary,
        nodes=verdicts,
        nodes_count=len(names),
        groups=groups(standing) if asked is None else (),
        changes=tuple(found),
        message=_message(standing),
    )


def _message(standing: Standing) -> str:
    """Return the scheduler's message for a pod that fits nowhere, "" if it fits somewhere."""
    filtered = standing.filtered
    if standing.early is not None:
        return standing.early
    if filtered.errors:
        return error_message(filtered.errors.values())
    if standing.fitting() or (filtered.failed is None and standing.names):
        return ""
    if filtered.failed is None:
        return NO_NODES
    return fit_error_message(filtered.failed, standing.cluster.reasons)


def _pending_summary(standing: Standing, pod: str, verdicts: tuple[Verdict, ...], asked: str | None) -> str:
    if asked is not None:
        node_verdict = verdicts[0]
        return f"{pod} {'fits' if node_verdict.fits else 'does not fit'} on {asked}" + (
            "." if node_verdict.fits else f": {node_verdict.because}.{node_verdict.further}"
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
