"""Misspelled names: what a pod requests and nothing in the cluster has, though a similar name exists.

A word counts as misspelled only if it occurs nowhere in the cluster and a similar one does (:func:`near`).
Each correction is an :class:`Edit` like any other: it is run before it is shown.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from functools import partial

from msgspec.structs import replace

from scheduler_core.explain.edits import REQUIRED, Edit, Mutation
from scheduler_core.explain.rules import PodOnNode
from scheduler_core.explain.world import NodeVerdicts
from scheduler_core.kubernetes.manifests import Manifest, part
from scheduler_core.kubernetes.model import LabelSelector, PodAffinityTerm, Requirement, Taint, Toleration
from scheduler_core.kubernetes.selectors import holds, tolerates, valid
from scheduler_core.schedulers.columns.columns import BASIC_RESOURCES

SHORTEST = 3  # letters of the part that differs: zone-a and zone-b, or i3 and i4, are distinct names
COMPARED = 5_000  # known words that one word is compared with

Vocabulary = Mapping[str, Collection[str]]
"""Keys that occur in the cluster, each with its values."""


def near(word: str, known: Iterable[str]) -> str | None:
    """Return the known word that ``word`` misspells: case, prefix or one letter; ``None`` if it is known."""
    candidates = list(known)
    if not word or word in candidates:
        return None
    likely = sorted(candidates[:COMPARED], key=lambda candidate: candidate[:1] != word[0])
    for alike in (_same_letters, _same_name, _one_letter_off):
        for candidate in likely:
            if alike(word, candidate):
                return candidate
    return None


def _same_letters(word: str, other: str) -> bool:
    return word.casefold() == other.casefold()


def _same_name(word: str, other: str) -> bool:
    """Return whether two keys differ only in the part before the ``/``: zone, topology.kubernetes.io/zone."""
    if "/" not in word + other:
        return False
    return word.rpartition("/")[2] == other.rpartition("/")[2]


def _one_letter_off(word: str, other: str) -> bool:
    """Return whether one letter is missing, added, wrong or swapped; digits and short tokens never match."""
    if abs(len(word) - len(other)) > 1:
        return False
    start = 0
    while start < min(len(word), len(other)) and word[start] == other[start]:
        start += 1
    end = 0
    while end < min(len(word), len(other)) - start and word[-1 - end] == other[-1 - end]:
        end += 1
    one, two = word[start : len(word) - end], other[start : len(other) - end]
    if not (len(one) <= 1 and len(two) <= 1) and not (len(one) == 2 and one == two[::-1]):
        return False
    if any(not letter.isalpha() and letter not in "-_./" for letter in one + two):
        return False
    return all(len(_token(text, start)) >= SHORTEST for text in (word, other))


def _token(text: str, at: int) -> str:
    """Return the run of letters and digits around an index."""
    first = last = min(at, len(text) - 1)
    while first > 0 and text[first - 1].isalnum():
        first -= 1
    while last < len(text) and text[last].isalnum():
        last += 1
    return text[first:last]


# Labels of nodes


def node_labels(standing: NodeVerdicts) -> Vocabulary:
    """Return the label keys of all nodes with their values."""
    nodes = standing.cluster.columns.nodes
    return standing.once("node labels", lambda: _vocabulary(node.meta.labels for node in nodes))


def _vocabulary(listed: Iterable[Mapping[str, str]]) -> Vocabulary:
    found: dict[str, dict[str, None]] = {}
    for labels in listed:
        for key, value in labels.items():
            found.setdefault(key, {})[value] = None
    return found


def correct_pair(known: Vocabulary, key: str, value: str) -> tuple[str, str] | None:
    """Return the key and value that a pair misspells, ``None`` if it is not misspelled or none is similar."""
    right = key if key in known else near(key, known)
    if right is None:
        return None
    intended = value if value in known[right] else near(value, known[right])
    return None if intended is None or (right, intended) == (key, value) else (right, intended)


def correct_requirement(known: Vocabulary, requirement: Requirement) -> Requirement | None:
    """Return an expression with its key and values as they occur, ``None`` if nothing is misspelled."""
    key = requirement.key if requirement.key in known else near(requirement.key, known)
    if key is None:
        return None
    values = tuple(
        value if value in known[key] else near(value, known[key]) or value for value in requirement.values
    )
    corrected = replace(requirement, key=key, values=values)
    return None if corrected == requirement or not valid(corrected) else corrected


def selector_pairs(place: PodOnNode, lacking: Mapping[str, str]) -> dict[str, tuple[str, str]]:
    """Return the misspelled pairs of the pod's nodeSelector that this node has once they are corrected."""
    standing, labels = place.standing, place.node.meta.labels
    found = {
        key: standing.once(f"pair {key}={value}", partial(correct_pair, node_labels(standing), key, value))
        for key, value in lacking.items()
    }
    return {key: pair for key, pair in found.items() if pair is not None and labels.get(pair[0]) == pair[1]}


def correct_selector(
    place: PodOnNode, lacking: Mapping[str, str], pairs: Mapping[str, tuple[str, str]]
) -> Edit:
    """Correct the pairs of the nodeSelector to the nodes' labels."""

    def mutate(document: Manifest) -> None:
        selector = part(document, "spec", "nodeSelector")
        for key, (right, value) in pairs.items():
            selector.pop(key, None)
            selector[right] = value

    text = ", ".join(f"{key}={lacking[key]} to {right}={value}" for key, (right, value) in pairs.items())
    return place.edit_pod(f"correct the pod's nodeSelector {text}", "spelling", mutate)


def affinity_expressions(
    place: PodOnNode, expressions: Sequence[Requirement], failing: Iterable[int]
) -> dict[int, Requirement]:
    """Return the misspelled expressions of a node affinity term that hold here once corrected."""
    standing, labels = place.standing, place.node.meta.labels
    found = {
        n: standing.once(
            f"expression {expressions[n]}",
            partial(correct_requirement, node_labels(standing), expressions[n]),
        )
        for n in failing
        if n < len(expressions)
    }
    return {n: r for n, r in found.items() if r is not None and holds(r, labels.get(r.key))}


def correct_affinity(
    place: PodOnNode, term: int, expressions: Sequence[Requirement], corrected: Mapping[int, Requirement]
) -> Edit:
    """Correct the expressions of the required node affinity's term to the nodes' labels."""

    def mutate(document: Manifest) -> None:
        entry = part(document, "spec", "affinity", "nodeAffinity", REQUIRED, "nodeSelectorTerms", term)
        for number, right in corrected.items():
            entry["matchExpressions"][number] |= _expression(right)

    text = ", ".join(f"{_words(expressions[n])} to {_words(r)}" for n, r in corrected.items())
    return place.edit_pod(f"correct the pod's node affinity {text}", "spelling", mutate)


def _expression(requirement: Requirement) -> Manifest:
    values = {"values": list(requirement.values)} if requirement.values else {}
    return {"key": requirement.key, **values}


def _words(requirement: Requirement) -> str:
    values = f" ({', '.join(requirement.values)})" if requirement.values else ""
    return f"{requirement.key} {requirement.operator}{values}"


# Taints


def correct_toleration(place: PodOnNode, taint: Taint) -> Edit | None:
    """Correct a toleration that almost tolerates the taint; ``None`` if none is misspelled."""
    standing = place.standing
    known = standing.once("taints", lambda: _taints(standing))
    for number, toleration in enumerate(standing.pod.pod.tolerations):
        right = _toleration(known, toleration, taint)
        if right is not None:
            text = f"correct the pod's toleration of {_pair(toleration)} to {_pair(right)}"
            return place.edit_pod(text, "spelling", _write_toleration(number, right))
    return None


def _taints(standing: NodeVerdicts) -> Vocabulary:
    taints = (taint for node in standing.cluster.columns.nodes for taint in node.taints)
    return _vocabulary({taint.key: taint.value} for taint in taints)


def _toleration(known: Vocabulary, toleration: Toleration, taint: Taint) -> Toleration | None:
    key, value = toleration.key, toleration.value
    if key not in known:
        key = near(key, (taint.key,)) or key
    if value not in known.get(key, ()):
        value = near(value, (taint.value,)) or value
    right = replace(toleration, key=key, value=value)
    return right if right != toleration and tolerates((right,), taint) else None


def _pair(toleration: Toleration) -> str:
    return f"{toleration.key}={toleration.value}" if toleration.value else toleration.key


def _write_toleration(number: int, right: Toleration) -> Mutation:
    def mutate(document: Manifest) -> None:
        entry = part(document, "spec")["tolerations"][number]
        entry["key"] = right.key
        if right.value:
            entry["value"] = right.value

    return mutate


# Other pods


def correct_pod_affinity(place: PodOnNode) -> tuple[Edit, ...]:
    """Correct topology keys and labels of the required pod affinity to those of nodes and pods."""
    standing = place.standing
    affinity = standing.pod.pod.affinity
    edits = []
    for number, term in enumerate(affinity.pod_required if affinity is not None else ()):
        right = _term(standing, term)
        if right != term:
            text = ", ".join(_changed(term, right))
            edits.append(
                place.edit_pod(f"correct the pod's affinity {text}", "spelling", _write_term(number, right))
            )
    return tuple(edits)


def _term(standing: NodeVerdicts, term: PodAffinityTerm) -> PodAffinityTerm:
    key = near(term.topology_key, node_labels(standing)) or term.topology_key
    known = standing.once("pod labels", lambda: _pod_labels(standing))
    selector = term.selector
    if selector is not None:
        pairs = {k: correct_pair(known, k, v) or (k, v) for k, v in selector.match_labels.items()}
        expressions = tuple(correct_requirement(known, r) or r for r in selector.match_expressions)
        selector = LabelSelector(dict(pairs.values()), expressions)
    return replace(term, topology_key=key, selector=selector)


def _pod_labels(standing: NodeVerdicts) -> Vocabulary:
    return _vocabulary(pod.info.labels for pod in standing.cluster.pods.values() if pod is not standing.pod)


def _changed(term: PodAffinityTerm, right: PodAffinityTerm) -> Iterable[str]:
    if term.topology_key != right.topology_key:
        yield f"topologyKey {term.topology_key} to {right.topology_key}"
    if term.selector is None or right.selector is None:
        return
    old, new = term.selector.match_labels.items(), right.selector.match_labels.items()
    for (key, value), (other, intended) in zip(old, new):
        if (key, value) != (other, intended):
            yield f"label {key}={value} to {other}={intended}"
    for one, two in zip(term.selector.match_expressions, right.selector.match_expressions):
        if one != two:
            yield f"{_words(one)} to {_words(two)}"


def _write_term(number: int, right: PodAffinityTerm) -> Mutation:
    def mutate(document: Manifest) -> None:
        entry = part(document, "spec", "affinity", "podAffinity", REQUIRED, number)
        entry["topologyKey"] = right.topology_key
        selector = right.selector
        if selector is None:
            return
        if selector.match_labels:
            entry["labelSelector"]["matchLabels"] = dict(selector.match_labels)
        for place, requirement in enumerate(selector.match_expressions):
            entry["labelSelector"]["matchExpressions"][place] |= _expression(requirement)

    return mutate


# Resources and claims


def correct_resource(place: PodOnNode, name: str) -> Edit | None:
    """Request the nodes' extended resource of a similar name instead of the unknown one."""
    standing = place.standing
    if name in BASIC_RESOURCES:
        return None
    right = standing.once(f"resource {name}", lambda: near(name, _resources(standing)))
    if right is None:
        return None

    def mutate(document: Manifest) -> None:
        for field in ("containers", "initContainers"):
            for container in part(document, "spec").get(field) or ():
                for amounts in (container.get("resources") or {}).values():
                    if isinstance(amounts, dict) and name in amounts:
                        amounts[right] = amounts.pop(name)

    return place.edit_pod(f"correct the pod's request for {name} to {right}", "spelling", mutate)


def _resources(standing: NodeVerdicts) -> list[str]:
    nodes = standing.cluster.columns.nodes
    names = (name for node in nodes for name, amount in node.allocatable.items() if amount)
    return list(dict.fromkeys(name for name in names if name not in BASIC_RESOURCES))


def correct_claim(place: PodOnNode, name: str) -> Edit | None:
    """Mount the claim of the pod's namespace whose name is similar to the one that does not exist."""
    namespace = place.standing.pod.info.namespace
    claims = place.standing.cluster.storage.claims.values()
    right = near(name, [claim.meta.name for claim in claims if claim.meta.namespace == namespace])
    if right is None:
        return None

    def mutate(document: Manifest) -> None:
        for volume in part(document, "spec").get("volumes") or ():
            source = volume.get("persistentVolumeClaim") or {}
            if source.get("claimName") == name:
                source["claimName"] = right

    return place.edit_pod(f"correct the pod's claim {name} to {right}", "spelling", mutate)
