"""The table of quirks: where kube-scheduler v1.11 deviates from its documentation.

The effect of a quirk on a cycle is determined by :mod:`scheduler_core.run.quirk_effects`.

Not listed: nondeterminism in v1.11, and the port tables that its copies of a node share, so that one
attempt leaks into the next (kubernetes/kubernetes#67456). Neither is reproduced.
"""

from __future__ import annotations

from scheduler_core.schedulers.quirks import Quirk, Upstream

QUIRKS = (
    Quirk(
        "last-anti-affinity-term",
        "MatchInterPodAffinity",
        "When any required anti-affinity term of an existing pod matches the incoming pod, the topology key "
        "of the last term in its list is compared, whichever term matched.",
        "Compare the topology key of the term that matched.",
        "predicates.getMatchingAntiAffinityTermsOfExistingPod",
        (
            Upstream(29379, "brought it in: every match keeps a pointer to the same loop variable"),
            Upstream(66948, "ended it: topology pairs of the terms that match take the pointers' place"),
            Upstream(68173, "settles that each term that matches counts by its own topology key"),
        ),
    ),
    Quirk(
        "anti-affinity-terms-anded",
        "MatchInterPodAffinity",
        "The incoming pod's required anti-affinity terms fail a node only if one existing pod matches all of "
        "them and shares all of their topology keys.",
        "Each required anti-affinity term excludes nodes on its own.",
        "predicates.podMatchesAffinityTermProperties",
        (
            Upstream(62567, "asked for it: a pod should match only if all terms do", pull=False),
            Upstream(68173, "took it back: any term that matches excludes the node"),
        ),
    ),
    Quirk(
        "self-match-needs-no-topology",
        "MatchInterPodAffinity",
        "If no pod matches the required affinity terms and the incoming pod matches them itself, it may go "
        "to any node, even to one that lacks the label of a topology key, where no second pod can follow.",
        "The first pod of a series goes to nodes that have the labels of all its topology keys.",
        "predicates.satisfiesPodsAffinityAntiAffinity",
        (Upstream(91168, "asks the topology keys of the first pod too"),),
    ),
    Quirk(
        "self-match-before-removal",
        "MatchInterPodAffinity",
        "Whether any pod matches the required affinity terms is known from before preemption's dry run: with "
        "the only matching pod removed the incoming pod still is not the first of its series.",
        "In a dry run, look at the pods that are left.",
        "predicates.predicateMetadata.RemovePod",
        (Upstream(67788, "keeps topology pairs instead, which go with their last pod"),),
    ),
    Quirk(
        "nominated-pods-are-no-targets",
        "MatchInterPodAffinity",
        "A nominated pod counts on its node for resources, ports and volumes, and its own anti-affinity "
        "acts, but it is no target of the incoming pod's affinity or anti-affinity terms.",
        "A nominated pod counts like a pod on the node.",
        "core.addNominatedPods",
        (Upstream(55933, "brought in the pass with nominated pods, which have no nodeName yet"),),
    ),
    Quirk(
        "nominated-pod-without-node",
        "CheckServiceAffinity",
        "If the first pod with matching labels is one that is only nominated, the attempt ends in the error "
        'node "" not found.',
        "Take the labels of the node that the pod is nominated to.",
        "predicates.ServiceAffinity.checkServiceAffinity",
    ),
    Quirk(
        "unrequested-resources-checked",
        "PodFitsResources",
        "A pod that requests any resource is checked against cpu, memory and ephemeral-storage all three: "
        "where memory is overcommitted, a pod that asks for cpu alone does not fit.",
        "Check the resources that the pod requests.",
        "predicates.PodFitsResources",
        (Upstream(116408, "leaves out what is not requested"),),
    ),
    Quirk(
        "ports-are-a-set",
        "PodFitsHostPorts",
        "Used host ports are a set: removing one of two pods that hold the same triple frees it.",
        "A port is free when no pod of the node holds it.",
        "schedulercache.HostPortInfo.Remove",
        (Upstream(55910, "brought in the sets by address"),),
    ),
    Quirk(
        "volume-limit-without-new-volume",
        "MaxEBSVolumeCount",
        "A node over the limit fails a pod even if all of the pod's volumes are attached there already; "
        "so do MaxGCEPDVolumeCount and MaxAzureDiskVolumeCount.",
        "A pod that adds no volume fits.",
        "predicates.MaxPDVolumeCountChecker.predicate",
    ),
    Quirk(
        "unknown-predicate-never-run",
        "Policy",
        "A predicate whose key is not in the static order (a custom name, or PodFitsPorts) is registered "
        "but never evaluated.",
        "Evaluate every predicate that the policy names.",
        "core.podFitsOnNode",
        (Upstream(57168, "brought it in with the order, and says so in a comment"),),
    ),
    Quirk(
        "service-spreading-takes-controllers",
        "ServiceSpreadingPriority",
        "It counts the pods of controllers too, because it takes the selectors computed once for "
        "both priorities.",
        "It spreads by services alone.",
        "priorities.getSelectors",
        (Upstream(12544, "promises services alone"),),
    ),
    Quirk(
        "affinity-scores-from-zero",
        "InterPodAffinityPriority",
        "The range that sums are scaled from always includes 0: where every feasible node has a sum "
        "above 0, or every one below, the scores differ less than they could.",
        "Scale from the lowest sum to the highest.",
        "priorities.InterPodAffinity.CalculateInterPodAffinityPriority",
        (Upstream(98096, "takes the lowest and the highest sum"),),
    ),
    Quirk(
        "first-victim-priority",
        "Preemption",
        "Candidates are compared by the priority of the first victim in the list, and victims that violate a "
        "PodDisruptionBudget stand in front.",
        "Compare the highest priority among the victims.",
        "core.pickOneNodeForPreemption",
        (
            Upstream(128307, "keeps the victims in order of priority"),
            Upstream(129136, "what was still wrong after that", pull=False),
        ),
    ),
    Quirk(
        "disruptions-not-counted-down",
        "Preemption",
        "A PodDisruptionBudget that allows one disruption is not violated by any number of victims.",
        "Each victim uses up one of the disruptions that the budget allows.",
        "core.filterPodsWithPDBViolation",
        (
            Upstream(82235, "counts the allowance down"),
            Upstream(91492, "lists what else preemption does to budgets", pull=False),
        ),
    ),
)

QUIRK_IDS = frozenset(row.id for row in QUIRKS)
