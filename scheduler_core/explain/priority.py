"""A PriorityClass as a remedy: with it preemption makes room for the pod, which is run before it is said."""

from __future__ import annotations

from collections.abc import Iterator

from msgspec.structs import replace

from scheduler_core.explain.deletions import breaking, consequences, preempted_budget
from scheduler_core.explain.edits import Edit, apply, class_manifest, is_daemon, patches
from scheduler_core.explain.notes import notes
from scheduler_core.explain.plans import VICTIMS_TRIED
from scheduler_core.explain.pod_findings import deletion
from scheduler_core.explain.remedy import Remedy
from scheduler_core.explain.world import NodeVerdicts, ObjectsAtMoment
from scheduler_core.kubernetes.manifests import Manifest, part
from scheduler_core.kubernetes.model import ObjectMeta, Pod, PriorityClass
from scheduler_core.kubernetes.problems import BundleError

CLASSES_TRIED = 4
STEP = 1_000  # values of new classes are multiples of it
HIGHEST = 1_000_000_000  # of a class that is not the system's
VICTIMS_NAMED = 5


def prioritized(standing: NodeVerdicts, rows: list[int]) -> Remedy | None:
    """Return the remedy of the lowest PriorityClass with which preemption makes room on one of the rows."""
    for name, value, is_new in _classes(standing.world):
        try:
            found = _tried(standing, rows, name, value, is_new=is_new)
        except BundleError:  # the pod's manifest is not valid with it
            continue
        if found is not None:
            return found
    return None


def _classes(world: ObjectsAtMoment) -> Iterator[tuple[str, int, bool]]:
    """Yield classes of a higher priority than the pod's, the lowest first; for a DaemonSet then a new one.

    Other pods find room on other nodes; one for each of them would only move the question.
    """
    pod = _pod(world)
    higher = (one for one in world.classes if pod.priority < one.value <= HIGHEST and _preempts(one))
    for one in sorted(higher, key=lambda one: one.value)[:CLASSES_TRIED]:
        yield one.meta.name, one.value, False
    if not is_daemon(pod):
        return
    others = [obj.priority for obj in world.objects.values() if isinstance(obj, Pod)]
    value = (max((one for one in others if one < HIGHEST), default=0) // STEP + 1) * STEP
    name = f"{pod.meta.controller.name if pod.meta.controller else ''}-priority"
    if value <= HIGHEST and all(one.meta.name != name for one in world.classes):
        yield name, value, True


def _preempts(one: PriorityClass) -> bool:
    return one.preemption_policy != "Never"


def _pod(world: ObjectsAtMoment) -> Pod:
    pod = world.objects["Pod", world.pod]
    assert isinstance(pod, Pod)
    return pod


def _tried(standing: NodeVerdicts, rows: list[int], name: str, value: int, *, is_new: bool) -> Remedy | None:
    key, world = ("Pod", standing.world.pod), standing.world
    pod = replace(_pod(world), priority=value, preemption_policy="", priority_class_name=name)
    spec = {"priorityClassName": name, "priority": value, "preemptionPolicy": None}
    raised = replace(world.with_objects({key: pod}), edited={**world.edited, key: {"spec": spec}})
    with standing.trial(raised) as tried:
        node, victims = tried.preemption()
        if node not in [standing.names[row] for row in rows] or not 0 < len(victims) <= VICTIMS_TRIED:
            return None
        states = [tried.cluster.pods[victim] for victim in victims]
        pods, gone = [state.pod for state in states], [deletion(state, "victim") for state in states]
        with tried.trial(apply(raised, gone)) as without:
            if not without.fits(standing.names.index(node)):
                return None
            after = consequences(without, pods, ())
    if after is None:
        return None
    broken = [preempted_budget(*one) for one in breaking(standing, pods)]
    edits = [*([_created(name, value)] if is_new else []), _named(key[1], name, value, node, victims)]
    patched = tuple(patches(world, edits))
    return Remedy(
        node,
        tuple(edit.words for edit in edits),
        patched,
        edits[-1].effort + after.effort + len(broken),
        float(is_new),
        (),
        chosen=node,
        live=tuple(patches(world, edits, templates=False)),
        notes=(*notes(world, edits, patched), *broken, *after.notes),
    )


def _created(name: str, value: int) -> Edit:
    manifest = class_manifest(PriorityClass(ObjectMeta(name), value))
    words = f"create the PriorityClass {name} with the value {value:,}"
    return Edit("PriorityClass", name, words, "priority", "pod", create=manifest)


def _named(pod: str, name: str, value: int, node: str, victims: list[str]) -> Edit:
    more = f" and {len(victims) - VICTIMS_NAMED:,} more" if len(victims) > VICTIMS_NAMED else ""
    listed = ", ".join(victims[:VICTIMS_NAMED]) + more

    def mutate(document: Manifest) -> None:
        spec = part(document, "spec")
        spec["priorityClassName"] = name
        for resolved in ("priority", "preemptionPolicy"):  # admission resolves them from the class
            spec.pop(resolved, None)

    words = f"give the pod priorityClassName {name} ({value:,}): preemption then evicts {listed} from {node}"
    return Edit("Pod", pod, words, "priority", "pod", mutate)
