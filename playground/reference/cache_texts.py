"""The texts of the equivalence cache's reference page that accompany the engine's table."""

from __future__ import annotations

from collections.abc import Mapping

from scheduler_core.schedulers.quirks import Upstream
from scheduler_core.schedulers.v1_11.equivalence.classes import Definition

DEFINITIONS: Mapping[Definition, tuple[str, str]] = {
    "controller": (
        (
            "Pods of one controller that use the same claims are equivalent. A pod without an owner that has "
            "controller: true has no class."
        ),
        "The proposal’s choice, and v1.9’s; the default here.",
    ),
    "attributes": (
        "Pods that agree in these fields are equivalent, whoever made them. Every pod has a class.",
        "The proposal’s other option, and what v1.10 to v1.12 did.",
    ),
}
"""When two pods are equivalent under each definition, and the definition's origin."""

FIELDS: Mapping[str, str] = {
    "controller": "kind, namespace, name and uid of the owner with controller: true",
    "claims": "the names of the PersistentVolumeClaims that the pod uses",
    "namespace": "metadata.namespace",
    "labels": "metadata.labels",
    "affinity": "spec.affinity: node affinity, pod affinity and anti-affinity",
    "containers": "image, requests and host ports of each container, in their order",
    "initContainers": "the same of each init container",
    "nodeName": "spec.nodeName",
    "nodeSelector": "spec.nodeSelector",
    "tolerations": "spec.tolerations, in their order",
    "volumes": "spec.volumes, in their order",
}
"""The pod fields from which each field of a class is read."""

MODES: Mapping[str, str] = {
    "off": "Every predicate is evaluated on every node that it reaches.",
    "designed": "The rows of the proposal. The audit finds what they miss.",
    "v1.11": "The rows of that version’s code, with its bugs.",
    "sound": (
        "All rows that are needed for decisions to be those of off. Classes by controller are split by the "
        "attributes here, because no event tells that two pods of one controller differ."
    ),
    "batching": "No results are kept, but a ranking: see below.",
}

LOOKUP: tuple[str, ...] = (
    "The pod has a class, and nothing below makes it bypass the cache.",
    "All three keys are there: the node, the predicate by the policy’s name for it, and the class’s hash.",
    "The entry is valid: no row of the table has cleared it since it was written.",
)

LEVELS: tuple[tuple[str, str], ...] = (
    ("node", "its name; all entries of a node go with it"),
    ("predicate", "the key in the policy; a bundle such as GeneralPredicates is one key"),
    ("equivalenceHash", "a uint64 of the class"),
)

BYPASSES: tuple[tuple[str, str], ...] = (
    ("no class", "By controller, a pod that no controller owns is evaluated on every node."),
    (
        "nominated pods",
        (
            "A node to which preemption nominated pods of equal or higher priority is checked in two passes, "
            "once with these pods added. Neither pass reads or writes the cache there (v1.10+)."
        ),
    ),
    (
        "preemption",
        (
            "Its dry runs take pods away and put them back; the results are of a cluster that is not there, "
            "and are not kept."
        ),
    ),
    (
        "not reached",
        (
            "Evaluation stops at a node’s first failure, cached or evaluated: later predicates are neither "
            "looked up nor written there."
        ),
    ),
)
"""When the cache is neither read nor written: a name and the rule."""

REMEDIES: tuple[tuple[str, str, str, int], ...] = (
    (
        "none",
        "The result is written. It stays until the next event that clears it.",
        "The race: evaluated, invalidated, and then written.",
        62921,
    ),
    (
        "isUpToDate",
        "The result is not written on a node that changed, or whose pods did, since the evaluation began.",
        "What an event elsewhere makes untrue, as for MatchInterPodAffinity, is written all the same.",
        63040,
    ),
    (
        "generations",
        (
            "Every invalidation counts up a number of the node and predicate; a result is written only if "
            "the number is what it was before the evaluation."
        ),
        "Needs the table to name the event: what no row invalidates counts nothing up. The default.",
        67308,
    ),
)
"""The setting ``staleWrites``: its value, its effect, the remaining problem, and the upstream issue."""

BATCHING: tuple[tuple[str, str], ...] = (
    (
        "signature",
        (
            "Everything that the rules in use read of a pod. A pod has none where its inter-pod affinity, or "
            "a priority or predicate by service or controller, depends on pods of other nodes."
        ),
    ),
    (
        "ranking",
        (
            "The nodes ranked for one pod are kept, best first, without the one that it took. The next pod "
            "with the same signature is offered the best that is left; only that node and the one chosen "
            "before are evaluated."
        ),
    ),
    (
        "one pod fills a node",
        (
            "While the node selected before still has room for another pod, its new score is unknown: the "
            "ranking is discarded and recomputed."
        ),
    ),
    (
        "no event counts",
        "Changes in the cluster are ignored; the ranking is bounded by its age only.",
    ),
)

UPSTREAM: tuple[Upstream, ...] = (
    Upstream(
        67680, "pods with anti-affinity end on one node: Pod ADD leaves MatchInterPodAffinity", pull=False
    ),
    Upstream(70991, "a policy that lists PodFitsResources overcommits nodes; closed, the cache was to go"),
    Upstream(61512, "a test of preemption fails now and then: a stale result was written", pull=False),
    Upstream(62921, "the race behind it: evaluated, invalidated, written", pull=False),
    Upstream(63040, "asks before writing whether the node is up to date"),
    Upstream(67308, "counts invalidations, so that a result that was overtaken is not written"),
    Upstream(59335, "invalidates on updates of volumes and claims"),
    Upstream(65616, "invalidates when a storage class whose claims wait is deleted"),
    Upstream(66106, "invalidates CheckVolumeBinding on any update of a volume"),
)
KEP = ("https://github.com/kubernetes/enhancements/issues/5598", "KEP-5598", "opportunistic batching")
