"""Node labels: what a selector or a required node affinity lacks on a node, and how to set or drop it."""

from __future__ import annotations

from collections.abc import Mapping

from scheduler_core.explain.edits import REQUIRED, Edit
from scheduler_core.explain.misspellings import (
    affinity_expressions,
    correct_affinity,
    correct_selector,
    selector_pairs,
)
from scheduler_core.explain.rules import Finding, PodOnNode
from scheduler_core.kubernetes.integers import parse_int
from scheduler_core.kubernetes.manifests import Manifest, part
from scheduler_core.kubernetes.model import Node, NodeSelectorTerm, Requirement
from scheduler_core.kubernetes.selectors import holds, term_matches, valid

IDENTITY = "kubernetes.io/hostname"  # a node is not renamed by its label
FACTS = (
    "kubernetes.io/arch",
    "kubernetes.io/os",
    "beta.kubernetes.io/arch",
    "beta.kubernetes.io/os",
    "failure-domain.beta.kubernetes.io/zone",
    "failure-domain.beta.kubernetes.io/region",
    "topology.kubernetes.io/zone",
    "topology.kubernetes.io/region",
    "node.kubernetes.io/instance-type",
    "beta.kubernetes.io/instance-type",
)
"""Labels that describe a machine: setting one does not change the machine."""


def set_labels(place: PodOnNode, wanted: Mapping[str, str | None]) -> Edit:
    """Set labels of the node; ``None`` removes one."""
    name = place.node.meta.name

    def mutate(document: Manifest) -> None:
        labels = part(document, "metadata", "labels")
        for key, value in wanted.items():
            if value is None:
                labels.pop(key, None)
            else:
                labels[key] = value

    given = [f"{key}={value}" for key, value in wanted.items() if value is not None]
    gone = [key for key, value in wanted.items() if value is None]
    actions = [f"set label {' and '.join(given)} on"] if given else []
    actions += [f"remove label {' and '.join(gone)} from"] if gone else []
    cost = "fact" if any(key in FACTS for key in wanted) else "label"
    if any(key in FACTS and place.node.meta.labels.get(key, value) != value for key, value in wanted.items()):
        cost = "moved"
    words = f"{' and '.join(actions)} node {name}"
    return Edit("Node", name, words, cost, "node", mutate, size=len(wanted) - 1)


def selector_finding(place: PodOnNode) -> Finding:
    """Set the labels that the pod selects by, or drop the requirements that the node does not meet."""
    pod, node = place.standing.pod.pod, place.node
    labels = node.meta.labels
    lacking = {key: value for key, value in pod.node_selector.items() if labels.get(key) != value}
    details = [f"label {key} is {_shown(labels.get(key))}, wanted {value}" for key, value in lacking.items()]
    wanted: dict[str, str | None] = dict(lacking)
    drops = [_drop_selector(place, lacking)] if lacking else []
    pairs = selector_pairs(place, lacking)
    corrected = [correct_selector(place, lacking, pairs)] if pairs else []
    settable: bool = IDENTITY not in lacking
    terms = pod.affinity.node_required if pod.affinity is not None else None
    if terms is not None and not any(term_matches(term, node) for term in terms):
        details += [_term_detail(term, node) for term in terms] or ["the required node affinity has no terms"]
        best = min(range(len(terms)), key=lambda n: len(_failing(terms[n], node)), default=None)
        labels_of_term = None if best is None else _labels_for(terms[best], node)
        settable = settable and labels_of_term is not None
        wanted |= labels_of_term or {}
        drops.append(_drop_term(place, terms, best))
        corrected += _corrected_term(place, terms)
    options: list[tuple[Edit, ...]] = [tuple(edits) for edits in (corrected, drops) if edits]
    if settable and wanted:
        options.append((set_labels(place, wanted),))
    return Finding(tuple(details), tuple(options))


def _corrected_term(place: PodOnNode, terms: tuple[NodeSelectorTerm, ...]) -> list[Edit]:
    """Correct the spelling of the term that is then closest to matching; empty if no term is misspelled."""
    failing = [_failing(term, place.node) for term in terms]
    corrected = [affinity_expressions(place, t.match_expressions, f) for t, f in zip(terms, failing)]
    misspelled = [n for n in range(len(terms)) if corrected[n]]
    if not misspelled:
        return []
    best = min(misspelled, key=lambda n: len(failing[n]) - len(corrected[n]))
    return [correct_affinity(place, best, terms[best].match_expressions, corrected[best])]


def _shown(value: str | None) -> str:
    return "missing" if value is None else value or "empty"


def _drop_selector(place: PodOnNode, lacking: Mapping[str, str]) -> Edit:
    def mutate(document: Manifest) -> None:
        selector = part(document, "spec", "nodeSelector")
        for key in lacking:
            selector.pop(key, None)

    listed = ", ".join(f"{key}={value}" for key, value in lacking.items())
    return place.edit_pod(f"drop {listed} from the pod's nodeSelector", "selector", mutate)


def _failing(term: NodeSelectorTerm, node: Node) -> list[int]:
    """Return the indexes of the expressions that do not hold; fields are numbered after the expressions."""
    failing = [
        n
        for n, r in enumerate(term.match_expressions)
        if not (valid(r) and holds(r, node.meta.labels.get(r.key)))
    ]
    count = len(term.match_expressions)
    fields = [
        count + n
        for n, r in enumerate(term.match_fields)
        if not term_matches(NodeSelectorTerm(match_fields=(r,)), node)
    ]
    return failing + fields


def _term_detail(term: NodeSelectorTerm, node: Node) -> str:
    requirements = (*term.match_expressions, *term.match_fields)
    unmet = []
    for number in _failing(term, node):
        r = requirements[number]
        have = node.meta.name if number >= len(term.match_expressions) else node.meta.labels.get(r.key)
        unmet.append(f"{_requirement(r)} ({_shown(have)})")
    return f"node affinity wants {' and '.join(unmet) or 'something'}"


def _requirement(requirement: Requirement) -> str:
    values = f" ({', '.join(requirement.values)})" if requirement.values else ""
    return f"{requirement.key} {requirement.operator}{values}"


def _labels_for(term: NodeSelectorTerm, node: Node) -> dict[str, str | None] | None:
    """Return labels with which a term holds, ``None`` if labels cannot satisfy it."""
    wanted: dict[str, str | None] = {}
    for number in _failing(term, node):
        if number >= len(term.match_expressions):
            return None
        r = term.match_expressions[number]
        if not valid(r) or r.key == IDENTITY:
            return None
        match r.operator:
            case "In":
                wanted[r.key] = r.values[0]
            case "NotIn" | "DoesNotExist":
                wanted[r.key] = None
            case "Exists":
                wanted[r.key] = ""
            case _:
                wanted[r.key] = str((parse_int(r.values[0]) or 0) + (1 if r.operator == "Gt" else -1))
    return wanted or None


def _drop_term(place: PodOnNode, terms: tuple[NodeSelectorTerm, ...], best: int | None) -> Edit:
    """Drop what fails of the term closest to matching; if that is all of it, drop the whole affinity."""
    failing = _failing(terms[best], place.node) if best is not None else []
    term = terms[best] if best is not None else NodeSelectorTerm()
    requirements = (*term.match_expressions, *term.match_fields)
    if not failing or len(failing) == len(requirements):

        def drop_all(document: Manifest) -> None:
            part(document, "spec", "affinity", "nodeAffinity").pop(REQUIRED, None)

        return place.edit_pod("drop the pod's required node affinity", "affinity", drop_all)
    count = len(term.match_expressions)

    def drop(document: Manifest) -> None:
        entry = part(document, "spec", "affinity", "nodeAffinity", REQUIRED, "nodeSelectorTerms", best or 0)
        for number in reversed(failing):
            name, place_in = (
                ("matchExpressions", number) if number < count else ("matchFields", number - count)
            )
            del entry[name][place_in]

    listed = ", ".join(_requirement(requirements[n]) for n in failing)
    return place.edit_pod(f"drop {listed} from the pod's node affinity", "selector", drop)
