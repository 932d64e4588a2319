"""Why a pod is where it is under kube-scheduler v1.37: its attempt, each node's failure, and what would help.

v1.37 ends a node's evaluation at its first failing plugin, which is its answer; plugins that would refuse the
node as well follow. Changes are proposed as under v1.11 and verified by v1.37
(:mod:`scheduler_core.explain.v1_37.proposals`).
"""

from __future__ import annotations

from collections.abc import Generator, Sequence

from msgspec.structs import replace

from scheduler_core.explain.changes import search
from scheduler_core.explain.explanation import (
    GROUP_NODES,
    GROUPS_SHOWN,
    Asking,
    Explanation,
    Group,
    NodeVerdict,
    facts_of,
    refused_by_extender,
)
from scheduler_core.explain.hints import hints_of
from scheduler_core.explain.preemption import preemption_section
from scheduler_core.explain.remedy import Remedy
from scheduler_core.explain.story import story_of
from scheduler_core.explain.v1_37.gang import coscheduled_section, is_in_gang, mates, placing_first
from scheduler_core.explain.v1_37.proposals import (
    V1_37Standing,
    standing_now,
    with_declared_reasons,
)
from scheduler_core.explain.world import PredicateFailure
from scheduler_core.run.v1_37.groups import group_text
from scheduler_core.run.v1_37.loop import V1_37Stepper
from scheduler_core.schedulers.extenders.configuration import Extender
from scheduler_core.schedulers.v1_37.attempt import fit_message
from scheduler_core.schedulers.v1_37.interface import PodAttempt
from scheduler_core.schedulers.v1_37.registrations import wakes
from scheduler_core.schedulers.v1_37.run import SchedulerRun


def attempt_on(run: SchedulerRun, pod: str) -> PodAttempt | None:
    """Schedule a pending pod on a run's cluster without any effect; None if no profile handles it.

    Extenders are not asked.
    """
    found = run.cluster.pods.get(pod)
    if found is None or found.node or run.scheduling.profile_of(found) is None:
        return None
    scheduling = run.scheduling
    start, extension = scheduling.start, scheduling.extension
    scheduling.extension = None  # nobody is called for an explanation
    try:
        return scheduling.schedule(found)
    finally:
        scheduling.start, scheduling.extension = start, extension


def held_on(run: SchedulerRun, pod: str) -> str:
    """Return where a pod waits at Permit, or for its binding; "" for any other."""
    found = run.cluster.pods.get(pod)
    if found is None or not found.node:
        return ""
    if run.queue.flights.holds(pod):
        return f"{pod} has a place on {found.node} and waits at Permit for the others of its PodGroup."
    return f"{pod} is assumed on {found.node}: its binding is not confirmed yet."


def placed(earlier: V1_37Stepper, pod: str, asked: str | None) -> Asking:
    """Explain a pod that the next cycle of ``earlier`` places, from the cluster that it sees."""
    standing = standing_now(earlier, pod)
    yield
    names, hints = standing.names, hints_of(standing, standing.attempt.pod.spec)
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
        sections=tuple(filter(None, (hints,))),
    )
    if asked is None or asked == node:
        return answer
    if asked not in names:
        return replace(answer, summary=f"{summary} Node {asked} did not exist yet.")
    row = names.index(asked)
    node_verdict = verdict_on(standing, row)
    if node_verdict.fits:
        refused = "" if asked not in cycle.nodes else refused_by_extender(cycle, cycle.nodes.index(asked))
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


def pending(simulation: V1_37Stepper, here: Explanation, shown: int, tried: bool) -> Asking:
    """Explain a pending pod, or one that its manifest binds, on the current cluster, pausing regularly.

    ``here`` has the fields of the moment.
    """
    del tried  # the answer is the same before the first attempt
    pod, asked = here.pod, here.asked
    if here.node:
        return replace(here, summary=f"{pod} is bound to {here.node} by its manifest: no cycle placed it.")
    attempt = attempt_on(simulation.run, pod)
    if attempt is None and (held := held_on(simulation.run, pod)):
        return replace(here, summary=held)
    if attempt is None:
        name = simulation.cluster.pods[pod].pod.scheduler_name
        return replace(here, summary=f"{pod} is assigned to the scheduler {name}.", state="other")
    yield
    standing = standing_now(simulation, pod)
    yield
    names = standing.names
    fitting = {name for row, name in enumerate(names) if standing.fits(row)}
    rows = [names.index(asked)] if asked is not None else list(range(len(names)))
    standing.every_failure([names[row] for row in rows[:shown]])  # found for all nodes at once, and kept
    verdicts = tuple(verdict_on(standing, row) for row in rows[:shown])
    if asked is not None:
        node_verdict = verdicts[0]
        summary = f"{pod} {'fits' if node_verdict.fits else 'does not fit'} on {asked}"
        summary += "." if node_verdict.fits else f": {_because(node_verdict)}.{node_verdict.further}"
    elif attempt.node is not None:
        word = " alone" if mates(simulation, pod) else ""
        summary = f"{pod}{word} fits on {len(fitting):,} of {len(names):,} nodes."
    else:
        summary = f"{pod} is pending: {attempt.error or fit_message(attempt)}"
    # Asked about all nodes, a pod that fits on one of them needs no change.
    needed = not verdicts[0].fits if asked is not None else attempt.node is None
    found, unsearched = (yield from changes_for(standing, rows)) if needed else ([], "")
    if found and is_in_gang(simulation, pod):
        found = yield from placing_first(simulation, here, found)
    gate = standing.trials.gate(pod)
    held = f"It is not tried before the plugin {gate} lets it into the queue." if gate else ""
    group = group_text(simulation.run, pod)
    unmade = simulation.unmade_claims.get(pod, "")
    held += f" Its ResourceClaims could not be made: {unmade}." if unmade else ""
    evicting = None if attempt.node is not None or mates(simulation, pod) else standing.preemption_record()
    sections = (
        coscheduled_section(simulation, pod),
        hints_of(standing, standing.attempt.pod.spec),
        preemption_section(evicting, of_choice=asked is not None),
    )
    extenders = decide_too(simulation.run.configuration.extenders)
    sentences = (summary, extenders, held, group, waking(simulation.run, pod), unsearched)
    return replace(
        here,
        summary=" ".join(filter(None, sentences)),
        nodes=verdicts,
        nodes_count=len(names),
        groups=groups_of(standing, names, fitting) if asked is None else (),
        changes=tuple(found),
        message="" if attempt.node is not None else attempt.error or fit_message(attempt),
        sections=tuple(filter(None, sections)),
    )


def decide_too(extenders: Sequence[Extender]) -> str:
    """Return a sentence on the extenders, whose answers an explanation leaves out; "" if there are none."""
    urls = ", ".join(extender.url for extender in extenders)
    return urls and f"Extenders decide too, which is not explained here but in the trace: {urls}."


def changes_for(
    standing: V1_37Standing, rows: Sequence[int]
) -> Generator[None, None, tuple[list[Remedy], str]]:
    """Return the changes that v1.37 confirms for these nodes, and a sentence on what was not searched."""
    found = yield from search(standing, rows)
    notes = []
    if standing.unsearched:
        notes.append(f"No change is searched for to satisfy: {', '.join(sorted(standing.unsearched))}.")
    if standing.exhausted:
        notes.append(f"The search for changes ended early, after {standing.trials.trials:,} trials.")
    return found, " ".join(notes)


def _because(verdict: NodeVerdict) -> str:
    failure = verdict.failures[0] if verdict.failures else None
    return f"{failure.predicate}: {verdict.because}" if failure and failure.predicate else verdict.because


def waking(run: SchedulerRun, pod: str) -> str:
    """Return what would wake a sleeping pod, as a sentence."""
    waiting = run.queue.unschedulable.get(pod)
    if waiting is None:
        return ""
    events = [
        f"{plugin}: {wakes(run.configuration, plugin, member.pod)}"
        for member in waiting.members
        for plugin in sorted(member.rejectors)
    ]
    return f"Waiting for one of these events: {'; '.join(events)}." if events else ""


def verdict_on(standing: V1_37Standing, row: int) -> NodeVerdict:
    """Return a node's verdict: its failing plugins, with the facts and numbers behind each."""
    (failures,) = standing.every_failure([standing.names[row]])
    facts = tuple(facts_of(standing, row, f, declared=with_declared_reasons(f)) for f in failures)
    return NodeVerdict(standing.names[row], standing.fits(row), facts)


def groups_of(standing: V1_37Standing, nodes: tuple[str, ...], fitting: set[str]) -> tuple[Group, ...]:
    """Return the evaluated nodes grouped by their failures, the largest group first."""
    found: dict[tuple[PredicateFailure, ...], list[str]] = {}
    for node, failures in zip(nodes, standing.every_failure(nodes), strict=True):
        if failures or node in fitting:
            found.setdefault(failures, []).append(node)
    ordered = sorted(found.items(), key=lambda group: -len(group[1]))
    return tuple(
        Group(shared, len(rows), tuple(rows[:GROUP_NODES])) for shared, rows in ordered[:GROUPS_SHOWN]
    )
