"""Operators' verbs in a draft: what each will do at a moment, and the text with its operations."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from msgspec import Struct
from msgspec.structs import replace

from playground.edits.drafts import written
from playground.edits.edit_operations import LONGEST, ObjectError
from playground.playback.playback import Playback
from playground.protocol.answers import VerbSentenceWire
from playground.storage import bundles
from scheduler_core.authoring.verb_targets import Targets, VerbError
from scheduler_core.authoring.verb_words import SeenCluster, SeenPod, counted
from scheduler_core.authoring.verbs import Asked, chosen, entries, sentence, verb_of
from scheduler_core.cluster.controllers.annotations import seconds as seconds_of
from scheduler_core.compare.again import MIRROR
from scheduler_core.kubernetes.admission import healthy_pods
from scheduler_core.kubernetes.manifests import Manifest
from scheduler_core.kubernetes.model import KubernetesObject, Pod, PodDisruptionBudget, Workload
from scheduler_core.kubernetes.problems import BundleError
from scheduler_core.kubernetes.selectors import matches
from scheduler_core.scenario.history import (
    HistoryError,
    Moment,
    all_placed,
    all_placed_at,
    check,
    landed_at,
    landed_by,
    objects_at,
    with_operations,
)
from scheduler_core.scenario.scenario import Scenario

AT_ONCE = 1000  # operations that one verb makes


class VerbWish(Struct, frozen=True):
    """A verb that a visitor wants at a moment, or at a second of virtual time.

    ``at`` are the virtual seconds of the moment, as far as they are known.
    """

    asked: Asked
    moment: Moment | None = None
    seconds: str = ""
    at: str = "0"

    @property
    def second(self) -> float:
        """The virtual second at which it happens. Raises HistoryError."""
        found = seconds_of(self.seconds or self.at)
        if found is None or found > LONGEST:
            message = f"{self.seconds[:40]!r} is not a time: write virtual seconds, such as 12.5."
            raise HistoryError(message, "seconds")
        return found


def previewed(playback: Playback, index: int, wish: VerbWish) -> VerbSentenceWire:
    """Return what a verb will do at the cycle ``index``, how many operations it makes, and what is wrong."""
    try:
        targets, made = _read(playback.scenario, wish)
        words = sentence(wish.asked, targets, seen_at(playback, index))
    except VerbError as error:
        return {"sentence": "", "operations": 0, "errors": [{"field": error.field, "message": str(error)}]}
    return {"sentence": words, "operations": len(made), "errors": []}


def done(text: str, wish: VerbWish) -> dict[str, Any]:
    """Return the text with a verb's operations, and a description.

    Raises BundleError for a text that cannot be parsed, VerbError, HistoryError, ObjectError, TooLargeError.
    """
    scenario = bundles.parse([("", text)])
    targets, made = _read(scenario, wish)
    documents = with_operations(scenario.documents, _placed(scenario, wish, made))
    try:
        answer = written(text, scenario, documents)
    except BundleError as error:
        raise ObjectError.of_whole(error) from error
    title = verb_of(wish.asked).title.lower()
    step = None if wish.seconds or wish.moment is None else str(wish.moment)
    return {**answer, "step": step, "words": f"{title}: {targets.phrase}"}


def _read(scenario: Scenario, wish: VerbWish) -> tuple[Targets, list[tuple[float, Manifest]]]:
    row = verb_of(wish.asked)
    if row.timed and not scenario.row.has_controllers:
        raise VerbError(
            f"{row.title} needs controllers, and under {scenario.release} no time passes: choose v1.37"
        )
    if wish.moment is not None:
        check(scenario, wish.moment)
    by_time = bool(wish.seconds) or wish.moment is None
    count = landed_at(scenario.documents, wish.second) if by_time else landed_by(scenario, _moment(wish))
    targets = chosen(scenario.documents, wish.asked, count)
    made = entries(wish.asked, targets, wish.seconds or wish.at)
    if len(made) > AT_ONCE:
        raise VerbError(f"It makes {counted(len(made), 'operation')}; at most {AT_ONCE:,} are added at once")
    return targets, made


def _moment(wish: VerbWish) -> Moment:
    if wish.moment is None:
        raise HistoryError("Specify the step, a cycle's major.minor such as 3.4.")
    return wish.moment


def _placed(scenario: Scenario, wish: VerbWish, made: Sequence[tuple[float, Manifest]]) -> list[Manifest]:
    """Insert the entries of now at the moment, and those with a delay at their second."""
    now = [entry for delay, entry in made if not delay or wish.seconds]
    later = [(round(wish.second + delay, 6), entry) for delay, entry in made if delay or wish.seconds]
    if wish.seconds or wish.moment is None:
        return all_placed_at(scenario, later)[0]
    operations = all_placed(scenario, wish.moment, now)
    if not later:
        return operations
    between = replace(scenario, documents=with_operations(scenario.documents, operations))
    return all_placed_at(between, later)[0]


# --- the cluster at a moment


def seen_at(playback: Playback, index: int) -> SeenCluster:
    """Return the pods with their nodes after a cycle, and what budgets allow then."""
    with playback.after(index) as simulation:
        objects = simulation.controlled_objects()
        if objects is not None:
            return _seen(objects.values(), None)
    names = [node.meta.name for node in playback.tables.nodes]
    placement = playback.trail.placement_before(index + 1)
    nodes = {
        pod.meta.key: names[place]
        for pod, place in zip(playback.tables.pods, placement.tolist())
        if place >= 0
    }
    pods, scenario = playback.tables.pods, playback.scenario
    if any(pod.terminal for pod in pods):  # a placement knows of none of them
        there = objects_at(scenario, Moment.parse(playback.trail.step(index)))
        pods = [pod for pod in pods if not pod.terminal or ("Pod", pod.meta.key) in there]
    others = [obj for obj in scenario.objects if not isinstance(obj, Pod)]
    return _seen([*others, *pods], nodes)


def _seen(objects: Iterable[KubernetesObject], nodes: Mapping[str, str] | None) -> SeenCluster:
    """Return what is seen of objects; ``nodes`` are those of the pods, if the objects do not know them."""
    listed = list(objects)
    pods = [one for one in listed if isinstance(one, Pod) and not one.terminal]
    finished = [one for one in listed if isinstance(one, Pod) and one.terminal]
    budgets = [one for one in listed if isinstance(one, PodDisruptionBudget)]
    places = {pod.meta.key: pod.node_name for pod in pods} if nodes is None else nodes
    return SeenCluster(
        [
            SeenPod(pod.meta.key, places[pod.meta.key], _owner(pod), _covering(pod, budgets))
            for pod in pods
            if places.get(pod.meta.key)
        ],
        _allowed(budgets, pods, listed, places) if nodes is not None else _known(budgets),
        [SeenPod(pod.meta.key, pod.node_name, _owner(pod)) for pod in finished],
    )


def _owner(pod: Pod) -> str:
    """Return the kind of a pod's controller; of a mirror pod the Node, whose kubelet runs it."""
    controller = pod.meta.controller
    if controller is None:
        return "Node" if MIRROR in pod.meta.annotations else ""
    return controller.kind


def _covering(pod: Pod, budgets: Iterable[PodDisruptionBudget]) -> tuple[str, ...]:
    return tuple(
        budget.meta.key
        for budget in budgets
        if budget.meta.namespace == pod.meta.namespace and matches(budget.selector, pod.meta.labels)
    )


def _known(budgets: Iterable[PodDisruptionBudget]) -> dict[str, int]:
    return {budget.meta.key: budget.disruptions_allowed for budget in budgets}


def _allowed(
    budgets: Iterable[PodDisruptionBudget],
    pods: Sequence[Pod],
    objects: Iterable[KubernetesObject],
    places: Mapping[str, str],
) -> dict[str, int]:
    """Return the disruptions that budgets would allow if each pod with a node were ready."""
    scale = {
        (one.kind, one.meta.namespace, one.meta.name): one.replicas
        for one in objects
        if isinstance(one, Workload)
    }
    found = {}
    for budget in budgets:
        healthy, desired = healthy_pods(budget, pods, scale, healthy=lambda pod: pod.meta.key in places)
        found[budget.meta.key] = max(0, healthy - desired)
    return found
