"""Changes proposed for a predicate without a rule in :mod:`findings`, from the fields that it declares.

A predicate's ``reads`` name the fields that its result depends on. So the metadata of a node that passes can
be copied, and the pod's annotations dropped; whether that helps is verified by running it.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from scheduler_core.explain.edits import Edit
from scheduler_core.explain.rules import Finding, PodOnNode
from scheduler_core.explain.world import PredicateFailure
from scheduler_core.kubernetes.manifests import Manifest, part
from scheduler_core.schedulers.columns.reads import CLASS_FIELDS, Reads

PROPOSED = 5  # annotations of a pod, each dropped on its own
METADATA = ("annotations", "labels")  # of a node


def by_declaration(place: PodOnNode, failure: PredicateFailure) -> Finding:
    """Name the fields that the predicate reads, and propose changes of annotations and labels among them."""
    profile = place.standing.world.profile
    if failure.predicate not in profile.order:
        return Finding()
    number = profile.order.index(failure.predicate)
    reads = profile.predicates[number].reads
    return Finding(
        (f"{failure.predicate} reads {_listed(reads)}",),
        (*_of_the_node(place, number, reads), *_of_the_pod(place, reads)),
    )


def _listed(reads: Reads) -> str:
    pod, node = ", ".join(reads.pod), ", ".join(reads.node)
    parts = [*([f"the pod's {pod}"] if pod else []), *([f"the node's {node}"] if node else [])]
    return " and ".join((*parts, *reads.objects)) or "nothing"


def _of_the_node(place: PodOnNode, number: int, reads: Reads) -> Iterator[tuple[Edit, ...]]:
    """Copy a metadata field of the first node that passes."""
    codes = place.standing.filtered.unabridged
    passing = [] if codes is None else [row for row, code in enumerate(codes[number].tolist()) if not code]
    if not passing:
        return
    name, model = place.node.meta.name, place.standing.node(passing[0])
    for field in METADATA:
        have: Mapping[str, str] = getattr(place.node.meta, field)
        wanted: Mapping[str, str] = getattr(model.meta, field)
        if field not in reads.node or have == wanted:
            continue
        changed = {key: wanted.get(key) for key in {**have, **wanted} if have.get(key) != wanted.get(key)}

        def mutate(
            document: Manifest, field: str = field, changed: Mapping[str, str | None] = changed
        ) -> None:
            held = part(document, "metadata", field)
            for key, value in changed.items():
                if value is None:
                    held.pop(key, None)
                else:
                    held[key] = value

        words = f"give node {name} the {field} of node {model.meta.name} ({', '.join(sorted(changed))})"
        yield (Edit("Node", name, words, "fact", "node", mutate, size=len(changed) - 1),)


def _of_the_pod(place: PodOnNode, reads: Reads) -> Iterator[tuple[Edit, ...]]:
    """Drop one of the pod's annotations."""
    if "annotations" not in set(reads.pod) - CLASS_FIELDS:
        return
    for key in sorted(place.standing.pod.pod.meta.annotations)[:PROPOSED]:

        def mutate(document: Manifest, key: str = key) -> None:
            part(document, "metadata", "annotations").pop(key, None)

        yield (place.edit_pod(f"drop the pod's annotation {key}", "selector", mutate),)
