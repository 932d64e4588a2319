"""What operators do to a cluster, in their own words, as operations of a scenario.

``drain n1``, ``drain zone=a@90``, ``scale deploy/web=10``: a target, a value where the verb needs one, and
the virtual second at which it happens, :data:`DEFAULT_SECOND` if none is given. A node is named, or all nodes
with a label are; a workload is named as in kubectl, with its namespace if that is not ``default``.
:data:`VERBS` has a row for each, of which command line, menus and palette are made.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any, Literal

from msgspec import Struct

from scheduler_core.authoring import verb_words as words
from scheduler_core.authoring.revisions import RESTARTED
from scheduler_core.authoring.verb_targets import (
    Targets,
    VerbError,
    VerbTarget,
    named,
    split_second,
    targets_of,
)
from scheduler_core.cluster.controllers.annotations import DRAIN, EVICT, FAILS, FORCE, RECOVERS, seconds
from scheduler_core.formats.difference import merge_patch
from scheduler_core.kubernetes.manifests import Document, Manifest
from scheduler_core.scenario.history import landed_at
from scheduler_core.scenario.history_entries import patching, with_entries
from scheduler_core.settings.descheduler import DESCHEDULE

DEFAULT_SECOND = "60"
_COUNT = re.compile(r"\d{1,6}")

Patch = dict[str, Any]


class VerbCall(Struct, frozen=True):
    """A verb's use on one target, the ``number``-th of all, with its value and the virtual second."""

    target: VerbTarget
    value: str
    at: str
    number: int = 0


Changes = Callable[[VerbCall], Iterable[tuple[float, Patch]]]
"""Return merge patches of the target, each with its delay in seconds."""


class Value(Struct, frozen=True):
    """What is given beside the target: its name in help, its label, an example; what it is if left out."""

    name: str
    label: str
    example: str
    default: str = ""


class Annotating(Struct, frozen=True):
    """The change that sets an annotation, by which a patch is known to stand for the verb.

    ``value`` is "" for the virtual second; a ``scheduled`` verb happens at that second, whenever written.
    It annotates the object, or its pod template (``templated``); ``beside`` is the rest of the patch.
    """

    annotation: str
    value: str = ""
    scheduled: bool = False
    templated: bool = False
    beside: Patch = {}

    def __call__(self, call: VerbCall) -> list[tuple[float, Patch]]:
        """Return the patch."""
        return [(0.0, self.patch(call.at))]

    def patch(self, at: str = "") -> Patch:
        """Return the patch that is made at a virtual second."""
        annotated = {"metadata": {"annotations": {self.annotation: self.value or at}}}
        return {**self.beside, **({"spec": {"template": annotated}} if self.templated else annotated)}

    def found(self, patch: Any) -> str:
        """Return what a patch sets the annotation to, "" if it does not set it."""
        path = ("spec", "template", "metadata") if self.templated else ("metadata",)
        for step in (*path, "annotations", self.annotation):
            patch = patch.get(step) if isinstance(patch, Mapping) else None
        return str(patch or "")


class Verb(Struct, frozen=True):
    """One row: its name in menus, its help, the kinds it is for, the changes it makes, and its sentence.

    ``timed`` verbs need controllers. ``icon`` is the workbench's; a verb without one is for the command line.
    ``question`` is how its what-if is asked. A node in the state ``idle`` is left as it is.
    """

    title: str
    help: str
    kinds: tuple[str, ...]
    changes: Changes
    says: words.Sentence
    value: Value | None = None
    timed: bool = False
    about: Literal["any", "one", "domain"] = "any"
    """Whether it is for single objects alone, or for all nodes of a label alone."""
    icon: str = ""
    question: str = ""
    idle: Literal["", "cordoned", "schedulable", "answering"] = ""
    needs: Literal["", "descheduler"] = ""
    """What has to run in the scenario beside a scheduler with controllers."""


class Asked(Struct, frozen=True):
    """A verb that somebody wants: its name, what it is about, and its value."""

    verb: str
    targets: tuple[str, ...]
    value: str = ""


# --- the changes


def _always(patch: Patch) -> Changes:
    return lambda _call: [(0.0, patch)]


def _upgrade(call: VerbCall) -> Iterator[tuple[float, Patch]]:
    """Yield a drain in turn, and its end as by ``--timeout``, with the uncordon."""
    pause = seconds(call.value)
    if not pause:
        raise VerbError(f"{call.value[:40]!r} is not a number of seconds: write 120, for example", "value")
    yield call.number * pause, _DRAIN.patch()
    yield (call.number + 1) * pause, {**_UNCORDON, "metadata": {"annotations": {DRAIN: None}}}


def _scale(call: VerbCall) -> Iterator[tuple[float, Patch]]:
    if not _COUNT.fullmatch(call.value):
        raise VerbError(f"{call.value[:40]!r} is not a number of replicas: write 10, for example", "value")
    yield 0.0, {"spec": {"parallelism" if call.target.key[0] == "Job" else "replicas": int(call.value)}}


def _image(call: VerbCall) -> Iterator[tuple[float, Patch]]:
    if not call.value or any(letter.isspace() for letter in call.value):
        raise VerbError(
            f"{call.value[:80]!r} is not an image: write registry.example/web:2, for example", "value"
        )
    containers = _template(call.target.manifest)["spec"]["containers"]
    yield (
        0.0,
        {
            "spec": {
                "template": {
                    "spec": {"containers": [{**containers[0], "image": call.value}, *containers[1:]]}
                }
            }
        },
    )


def _undo(call: VerbCall) -> Iterator[tuple[float, Patch]]:
    previous = _previous(call.target)
    template = merge_patch(_template(call.target.manifest), previous)
    yield 0.0, {"spec": {"template": template}}


def _previous(target: VerbTarget) -> Manifest:
    """Return the pod template of the revision before the last, as ``kubectl rollout undo`` chooses it.

    A template that was gone back to is the newest revision.
    """
    spec = target.manifest["spec"]
    if spec.get("paused"):
        raise VerbError(f"{named(target.key)} is paused: resume its rollout before it is undone")
    revisions: list[Manifest] = []
    for template in map(_template, target.manifests):
        revisions = [one for one in revisions if one != template] + [template]
    if len(revisions) < 2 or spec.get("revisionHistoryLimit") == 0:
        raise VerbError(f"{named(target.key)} has no revision before this one that could be rolled back to")
    return revisions[-2]


def _template(manifest: Document) -> Manifest:
    template: Manifest = manifest["spec"]["template"]
    return template


def _back_to(call: VerbCall) -> str:
    containers = (_previous(call.target).get("spec") or {}).get("containers") or [{}]
    image = containers[0].get("image")
    return f"its previous pod template{f', with image {image}' if image else ''}"


_NODES = ("Node",)
_ROLLED = ("Deployment", "StatefulSet", "DaemonSet")
_SCALED = ("Deployment", "ReplicaSet", "StatefulSet", "ReplicationController", "Job")
_CORDON: Patch = {"spec": {"unschedulable": True}}
_UNCORDON: Patch = {"spec": {"unschedulable": None}}
_DRAIN = Annotating(DRAIN, "true", beside=_CORDON)
VERBS: Mapping[str, Verb] = {
    "cordon": Verb(
        "Cordon",
        "no further pod is placed on the node",
        _NODES,
        _always(_CORDON),
        words.cordons,
        icon="hand",
        idle="cordoned",
    ),
    "uncordon": Verb(
        "Uncordon",
        "pods are placed on the node again",
        _NODES,
        _always(_UNCORDON),
        words.plain("Uncordons {what}: pods are placed there again."),
        icon="check",
        idle="schedulable",
    ),
    "drain": Verb(
        "Drain",
        "cordon the node and evict its pods as budgets allow; DaemonSet pods stay",
        _NODES,
        _DRAIN,
        words.drains,
        timed=True,
        icon="inbox",
        question="it is drained",
    ),
    "force-drain": Verb(
        "Drain with force",
        "drain, and delete pods without a controller, too",
        _NODES,
        Annotating(DRAIN, FORCE, beside=_CORDON),
        words.force_drains,
        timed=True,
        icon="inbox",
    ),
    "fail": Verb(
        "Fail",
        "the node stops answering",
        _NODES,
        Annotating(FAILS, scheduled=True),
        words.fails,
        timed=True,
        about="one",
        icon="cross",
        question="it fails",
    ),
    "lose": Verb(
        "Lose",
        "all nodes of a domain stop answering, as in zone=a",
        _NODES,
        Annotating(FAILS, scheduled=True),
        words.fails,
        timed=True,
        about="domain",
        icon="cross",
        question="it is lost",
    ),
    "recover": Verb(
        "Recover",
        "the failed node answers again",
        _NODES,
        Annotating(RECOVERS, scheduled=True),
        words.plain("Recovers {what}: the failure's taints are removed, and pods are placed there again."),
        timed=True,
        icon="redo",
        idle="answering",
    ),
    "upgrade": Verb(
        "Upgrade one by one",
        "drain each node for 120 s, one after the other, and uncordon it; '*' is all nodes",
        _NODES,
        _upgrade,
        words.upgrades,
        Value("SECONDS", "Seconds for each node", "120", "120"),
        timed=True,
        about="domain",
        icon="spark",
        question="it is upgraded node by node",
    ),
    "scale": Verb(
        "Scale",
        "set the number of replicas",
        _SCALED,
        _scale,
        words.scales,
        Value("REPLICAS", "Replicas", "5"),
        icon="plus",
    ),
    "set-image": Verb(
        "Set image",
        "give the first container another image",
        (*_ROLLED, "ReplicaSet", "ReplicationController"),
        _image,
        words.rolls("Gives the first container of {what} the image {value}"),
        Value("IMAGE", "Image", "registry.example/web:2"),
        icon="edit",
    ),
    "restart": Verb(
        "Restart rollout",
        "replace all pods, as kubectl rollout restart does",
        _ROLLED,
        Annotating(RESTARTED, templated=True),
        words.rolls("Restarts {what}"),
        icon="redo",
    ),
    "undo": Verb(
        "Undo rollout",
        "go back to the previous pod template, as kubectl rollout undo does",
        _ROLLED,
        _undo,
        words.rolls("Rolls {what} back to {words}"),
        icon="undo",
    ),
    "evict": Verb(
        "Evict",
        "evict the pod, once, if its budget allows it",
        ("Pod",),
        Annotating(EVICT),
        words.evicts,
        timed=True,
        icon="external",
    ),
    "deschedule": Verb(
        "Deschedule",
        "run the bundle's descheduler once, over the whole cluster, whichever node is named",
        _NODES,
        Annotating(DESCHEDULE),
        words.plain("Runs a pass of the descheduler over the whole cluster, at {what}."),
        timed=True,
        about="one",
        icon="spot",
        needs="descheduler",
    ),
}
"""The verbs by name. One of the command line, of a menu or of the palette is a row here."""


# --- using them


def verb_in(patch: Any) -> tuple[str, str]:
    """Return the verb that a patch stands for, and the second it is scheduled for; "" where there is none.

    Of verbs with the same annotation it is the one with that value, else the first.
    """
    found = [
        (change.value != value, name, value if change.scheduled else "")
        for name, verb in VERBS.items()
        if isinstance(change := verb.changes, Annotating) and (value := change.found(patch))
    ]
    _, name, second = min(found, key=lambda one: one[0], default=(False, "", ""))
    return name, second


def verb_of(asked: Asked) -> Verb:
    """Return the row of a verb. Raises VerbError."""
    row = VERBS.get(asked.verb)
    if row is None:
        raise VerbError(f"{asked.verb[:40]!r} is not a verb; it is one of {', '.join(VERBS)}")
    return row


def chosen(documents: Sequence[Document], asked: Asked, count: int) -> Targets:
    """Return what a verb is about, as the first ``count`` operations have left it. Raises VerbError."""
    return targets_of(verb_of(asked).kinds, asked.targets, documents, count)


def entries(asked: Asked, targets: Targets, at: str) -> list[tuple[float, Manifest]]:
    """Return the operations of a verb without their moment, each with its delay in seconds after it.

    Raises:
        VerbError: The value is none, or there is no revision to undo.
    """
    row = verb_of(asked)
    calls = [VerbCall(target, _value(row, asked), at, number) for number, target in enumerate(targets.found)]
    return [
        (delay, patching(call.target.key, call.target.manifest, "merge", patch))
        for call in calls
        for delay, patch in row.changes(call)
    ]


def sentence(asked: Asked, targets: Targets, seen: words.SeenCluster | None = None) -> str:
    """Return what a verb will do, in one sentence, with the pods of a running cluster if it is given.

    Raises:
        VerbError: As :func:`entries`.
    """
    row, value = verb_of(asked), _value(verb_of(asked), asked)
    call = VerbCall(targets.found[0], value, "0")
    list(row.changes(call))
    back = _back_to(call) if row.changes is _undo else ""
    return row.says(words.Effect(targets, value, back, seen))


def _value(row: Verb, asked: Asked) -> str:
    return asked.value.strip() or (row.value.default if row.value is not None else "")


def operations(documents: Sequence[Document], asked: Iterable[tuple[str, str]]) -> list[Patch]:
    """Return the operations, in order of time, of verbs each with its target as on the command line.

    Raises:
        VerbError: A target does not exist, or a value is not one.
    """
    return [operation for _, _, made in planned(documents, asked) for operation in made]


def planned(
    documents: Sequence[Document], asked: Iterable[tuple[str, str]]
) -> list[tuple[float, str, list[Patch]]]:
    """Return the second, the sentence and the operations of verbs, each as on the command line, in order.

    Raises:
        VerbError: A target does not exist, or a value is not one.
    """
    read = [(float(at), at, one) for at, one in (_read(verb, written) for verb, written in asked)]
    found: list[tuple[float, str, list[Patch]]] = []
    for second, at, one in sorted(read, key=lambda row: row[0]):
        targets = chosen(documents, one, landed_at(documents, second))
        made = [{"time": round(second + delay, 6), **entry} for delay, entry in entries(one, targets, at)]
        found.append((second, sentence(one, targets), made))
        documents = with_entries(documents, made)
    return found


def _read(verb: str, written: str) -> tuple[str, Asked]:
    target, at = split_second(written, DEFAULT_SECOND)
    value, row = "", VERBS[verb]
    if row.value is not None and not row.value.default:
        target, separator, value = target.partition("=")
        if not separator:
            raise VerbError(f"{verb} {written[:80]!r}: write {target}={row.value.name}")
    return at, Asked(verb, (target,), value)
