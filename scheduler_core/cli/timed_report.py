"""What became of a run in virtual time: the pods as ``kubectl get pods`` prints them, and the PodGroups."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from itertools import islice
from typing import TextIO

from scheduler_core.cli.availability_report import availability_lines
from scheduler_core.cli.descheduler_report import descheduler_lines
from scheduler_core.cli.input_files import counted, in_columns, print_lines
from scheduler_core.cli.kueue_report import kueue_lines
from scheduler_core.cli.several_report import report_several
from scheduler_core.kubernetes.model import Pod
from scheduler_core.kubernetes.times import seconds_of
from scheduler_core.record.cycle import Cycle, FinalState
from scheduler_core.run.simulation import TimedSimulation
from scheduler_core.schedulers.coscheduling.observer import phases_of

HEADER = ("NAME", "READY", "STATUS", "RESTARTS", "AGE", "NODE")
NONE = "<none>"
PHASES_SHOWN = 40  # per PodGroup: one that fails repeatedly repeats its phases


def report_timed(simulation: TimedSimulation, out: TextIO, *, brief: bool = False) -> None:
    """Print the final pods, why some are pending, the PodGroups over time, bounds hit, and totals.

    ``brief``: of the pods those that have no node, or another one than in the bundle.
    """
    framework = simulation.framework
    pods = sorted(framework.pods.values(), key=lambda pod: pod.meta.key)
    several = len({pod.meta.namespace for pod in pods}) > 1
    shown = list(_changed(simulation, pods)) if brief else pods
    rows = table([_row(simulation, pod, several=several) for pod in shown], several=several)
    print("Every pod is where it was." if brief and not shown else "\n".join(rows), file=out)
    pending = [pod.meta.key for pod in pods if not pod.node_name and not pod.terminal]
    if pending:
        print(file=out)
    for key in pending:
        print(f"{key}: {_why(simulation, key)}", file=out)
    for group, phases in phases_of(simulation.observers).items():
        print(f"\nPodGroup {group}, minMember {_min_member(simulation, group)}:", file=out)
        for time, phase in islice(phases, PHASES_SHOWN):
            print(f"  {time:>10.3f}s  {phase}", file=out)
        if len(phases) > PHASES_SHOWN:
            print(f"  and {len(phases) - PHASES_SHOWN:,} more changes", file=out)
    if simulation.contest is not None:
        report_several(simulation.contest, simulation.scenario.settings.design, out)
    print_lines(availability_lines(simulation.availability()), out)
    if simulation.descheduler is not None:
        print_lines(descheduler_lines(simulation.descheduler), out)
    if simulation.kueue is not None:
        print_lines(kueue_lines(simulation.kueue), out)
    print(file=out)
    for text in simulation.notes():
        print(text, file=out)
    for text in simulation.unsettled:
        print(f"note: {text}", file=out)
    print(totals(simulation), file=out)


def _changed(simulation: TimedSimulation, pods: Sequence[Pod]) -> Iterator[Pod]:
    """Yield the pods that wait, or are elsewhere than at the start; those that were not there too."""
    start = {obj.meta.key: obj.node_name for obj in simulation.scenario.objects if isinstance(obj, Pod)}
    return (pod for pod in pods if not pod.node_name or start.get(pod.meta.key) != pod.node_name)


def timed_outcomes(simulation: TimedSimulation) -> Iterator[dict[str, str]]:
    """Yield each pod's STATUS and node, and why it has none, in the order of their names."""
    for key in sorted(simulation.framework.pods):
        pod = simulation.framework.pods[key]
        pending = not pod.node_name and not pod.terminal
        why = _why(simulation, key) if pending else ""
        yield {"pod": key, "state": status(pod), "node": pod.node_name or "", "why": why}


def event_lines(recorded: Cycle | FinalState | None) -> Iterator[str]:
    """Yield what happened up to a cycle's end, or at the end of a run, by virtual second."""
    if isinstance(recorded, Cycle) and not recorded.happenings and not recorded.consequences:
        for event in recorded.events:  # time stands still
            yield event_line(recorded.time, event.reason, event.object, event.message)
        return
    consequences = recorded.consequences if isinstance(recorded, Cycle) else ()
    for one in (*recorded.happenings, *consequences) if recorded is not None else ():
        yield event_line(one.time, one.what, one.about, one.text)


def event_line(time: float, reason: str, about: str, text: str) -> str:
    """Return an event as a line."""
    return f"{time:>12.3f}s  {reason:<20}  {about:<40}  {text}".rstrip()


def totals(simulation: TimedSimulation) -> str:
    """Return the size of the run and the pods' final states in one line."""
    counts = Counter(status(pod) for pod in simulation.framework.pods.values())
    listed = ", ".join(f"{count:,} {name}" for name, count in counts.most_common()) or "no pods"
    size = (
        f"{counted(simulation.cluster.columns.size, 'node')}, {counted(simulation.index, 'cycle')}, "
        f"{simulation.time:,.3f} s of virtual time"
    )
    return f"{simulation.scenario.row.title}{size}: {listed}"


def table(rows: Sequence[Sequence[str]], *, several: bool) -> Iterator[str]:
    """Yield a header and rows, in columns as wide as their content, three spaces apart."""
    if not rows:
        yield "No resources found"
        return
    yield from in_columns([("NAMESPACE", *HEADER) if several else HEADER, *rows])


def status(pod: Pod) -> str:
    """Return the pod's STATUS as printed by kubectl."""
    if pod.terminal:
        return "Completed" if pod.phase == "Succeeded" else "Error"
    if pod.meta.deletion_timestamp is not None:
        return "Terminating"
    if not pod.node_name:
        return "Pending"
    if pod.phase == "Running" and not pod.ready and pod.restarts:
        return "CrashLoopBackOff"
    return "ContainerCreating" if pod.phase == "Pending" else pod.phase


def _row(simulation: TimedSimulation, pod: Pod, *, several: bool) -> tuple[str, ...]:
    count = max(1, len(pod.containers))
    ready = count if pod.phase == "Running" and pod.ready and pod.node_name else 0
    epoch = simulation.framework.manager.options.epoch
    created = seconds_of(pod.meta.creation_timestamp)
    row = (
        pod.meta.name,
        f"{ready}/{count}",
        status(pod),
        str(pod.restarts),
        age(simulation.time if created is None else epoch + simulation.time - created),
        pod.node_name or NONE,
    )
    return (pod.meta.namespace, *row) if several else row


def age(seconds: float) -> str:
    """Format a duration as kubectl does (duration.HumanDuration)."""
    whole = max(0, int(seconds))
    minutes, hours, days = whole // 60, whole // 3600, whole // 86_400
    if whole < 120:
        return f"{whole}s"
    if minutes < 10:
        return f"{minutes}m{whole % 60}s" if whole % 60 else f"{minutes}m"
    if minutes < 180:
        return f"{minutes}m"
    if hours < 8:
        return f"{hours}h{minutes % 60}m" if minutes % 60 else f"{hours}h"
    if hours < 48:
        return f"{hours}h"
    if days < 8:
        return f"{days}d{hours % 24}h" if hours % 24 else f"{days}d"
    if days < 730:
        return f"{days}d"
    return f"{days // 365}y{days % 365}d" if days % 365 else f"{days // 365}y"


def _why(simulation: TimedSimulation, key: str) -> str:
    pod = simulation.framework.pods[key]
    for waiting in simulation.waiting:
        if waiting.key == key:
            return f"waits at Permit on {waiting.node}"
    if not simulation.responsible(pod):
        return f"assigned to the scheduler {pod.scheduler_name}"
    queued = simulation.framework.queue.pods.get(key)
    if queued is not None and queued.place == "gated":
        return f"held by scheduling gates: {', '.join(pod.scheduling_gates)}"
    return simulation.messages.get(key, "not tried")


def _min_member(simulation: TimedSimulation, group: str) -> str:
    found = simulation.framework.groups.get(group)
    return NONE if found is None else str(found.min_member)
