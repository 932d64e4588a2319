"""Why a pod is where it is by predicates: under v1.11, and in the scheduling framework with other schedulers.

A scheduler that keeps a run of its own there (:class:`scheduler_core.run.report.OwnRun`) answers itself.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from msgspec.structs import replace

from scheduler_core.explain.changes import search
from scheduler_core.explain.explanation import (
    Asking,
    Explanation,
    NodeVerdict,
    groups,
    refused_by_extender,
    verdict,
)
from scheduler_core.explain.hints import hints_of
from scheduler_core.explain.misspellings import near
from scheduler_core.explain.preemption import preemption_section
from scheduler_core.explain.story import story_of
from scheduler_core.explain.v1_37.beside import pending_beside, placed_beside
from scheduler_core.explain.v1_37.explanation import decide_too
from scheduler_core.explain.world import NodeVerdicts, snapshot
from scheduler_core.formats.manifest import to_manifest
from scheduler_core.record.cycle import Cycle
from scheduler_core.run import Stepper
from scheduler_core.schedulers.v1_11.attempt import NO_NODES
from scheduler_core.schedulers.v1_11.filters import error_message, fit_error_message


def placed(earlier: Stepper, pod: str, asked: str | None) -> Asking:
    """Explain a pod that the next cycle of ``earlier`` places, pausing regularly."""
    state = earlier.cluster.pods.get(pod)
    own = None if state is None else earlier.own_run_for(state.pod)
    standing = None if own is not None else NodeVerdicts(snapshot(earlier, pod))
    yield
    cycle = earlier.step()
    assert cycle is not None
    if cycle.scheduler:
        return _placed_by_custom(cycle, pod, asked)
    story = story_of(cycle, asked)
    by = "" if own is None else f" by {own.label} (kube-scheduler v1.37)"
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
        sections=() if standing is None else tuple(filter(None, (hints_of(standing, _spec(standing)),))),
    )
    if standing is None:
        return placed_beside(cycle, answer)
    if asked is None or asked == cycle.node:
        return answer
    if asked not in cycle.nodes:
        return replace(answer, summary=f"{summary} Node {asked} did not exist yet.")
    row = cycle.nodes.index(asked)
    node_verdict = verdict(standing, row)
    refused = refused_by_extender(cycle, row) if node_verdict.fits else ""
    how = refused or ("fitted too" if node_verdict.fits else f"did not fit: {node_verdict.because}")
    found = yield from search(standing, [row])
    text = f"{summary} {asked} {how}.{node_verdict.further}"
    return replace(answer, summary=text, nodes=(node_verdict,), changes=tuple(found))


def _placed_by_custom(cycle: Cycle, pod: str, asked: str | None) -> Explanation:
    """Return the answer for a pod that a custom scheduler placed; it has no predicates or priorities."""
    node = dict(cycle.decision.placements)[pod]
    summary = f"{pod} was placed on {node} in cycle {cycle.index:,} by the scheduler {cycle.scheduler}."
    return Explanation(
        pod, "placed", node, asked, cycle.index, cycle.step, summary, nodes_count=len(cycle.nodes)
    )


def pending(simulation: Stepper, here: Explanation, shown: int, tried: bool) -> Asking:
    """Explain a pod that is pending, or bound by its manifest, by filtering it on the current cluster.

    ``here`` has the fields of the moment; ``tried`` is true if the pod is the next one to be scheduled.
    """
    pod, node, asked = here.pod, here.node, here.asked
    state = simulation.cluster.pods[pod]
    own = simulation.own_run_for(state.pod)
    if own is not None:
        return pending_beside(own, here)
    standing = NodeVerdicts(snapshot(simulation, pod))
    names = standing.names
    if node and asked in (None, node):
        return replace(here, summary=f"{pod} is bound to {node} by its manifest: no cycle placed it.")
    rows = [names.index(asked)] if asked is not None else list(range(len(names)))
    verdicts = tuple(verdict(standing, row) for row in rows[:shown])
    # Asked about all nodes, a pod that fits on one of them needs no remedy.
    found = [] if asked is None and standing.fitting() else (yield from search(standing, rows))
    summary = _pending_summary(standing, pod, verdicts, asked)
    evicting = standing.preemption_record()
    sections = (
        hints_of(standing, _spec(standing)),
        preemption_section(evicting, of_choice=asked is not None),
    )
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
    elif report := simulation.custom_report(state.pod):
        name = state.pod.scheduler_name
        summary = (
            f"The scheduler {name} reports for {pod}: {report}. By kube-scheduler's predicates, {summary}"
        )
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
        sections=tuple(filter(None, sections)),
    )


def _spec(standing: NodeVerdicts) -> Mapping[str, Any]:
    """Return the pod's specification as v1.11 reads it, which knows no spread constraints."""
    spec: Mapping[str, Any] = to_manifest(standing.pod.pod)["spec"]
    return spec


def _message(standing: NodeVerdicts) -> str:
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


def _pending_summary(
    standing: NodeVerdicts, pod: str, verdicts: tuple[NodeVerdict, ...], asked: str | None
) -> str:
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
