"""The arguments of v1.37's plugins, declared for forms: path, type, default and limits of each.

Of ``pkg/scheduler/apis/config``: defaults are those of ``SetDefaults_…Args``, limits those of
``Validate…Args``.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from msgspec import Struct

STRATEGIES = ("LeastAllocated", "MostAllocated", "RequestedToCapacityRatio")
"""How NodeResourcesFit can score."""

CPU_AND_MEMORY = ({"name": "cpu", "weight": 1}, {"name": "memory", "weight": 1})

MOST = 2**31 - 1


class Argument(Struct, frozen=True):
    """A field of a plugin's arguments.

    ``path`` leads to it, with dots. ``type`` is ``choice`` (of ``choices``), ``integer`` (from ``least`` to
    ``most``), ``flag``, ``names``, ``shape`` (points of utilization in percent, and score from 0 to 10),
    ``resources`` (with weights up to ``most``), ``constraints`` of topology spread, or node ``affinity``.
    ``default`` is what is in force where the field is left out. The field only counts where each field of
    ``only`` has that value.
    """

    path: str
    type: str
    default: Any = None
    text: str = ""
    choices: tuple[str, ...] = ()
    least: int = 0
    most: int = MOST
    only: Mapping[str, str] = {}


_WITH_SHAPE = {"scoringStrategy.type": STRATEGIES[2]}

FIT = (
    Argument(
        "scoringStrategy.type", "choice", STRATEGIES[0], "which nodes score high: emptier ones, fuller ones, "
        "or those of the shape", STRATEGIES,
    ),
    Argument(
        "scoringStrategy.requestedToCapacityRatio.shape", "shape", text="the score, 0 to 10, at each "
        "utilization, which ascends from 0 to 100", only=_WITH_SHAPE,
    ),
    Argument(
        "scoringStrategy.resources", "resources", CPU_AND_MEMORY, "what is scored, with weights from 1 to "
        "100", least=1, most=100,
    ),
    Argument("ignoredResources", "names", (), "extended resources that Filter does not compare"),
    Argument("ignoredResourceGroups", "names", (), "prefixes before the / of such resources"),
)  # fmt: skip
BALANCED = (
    Argument(
        "resources", "resources", CPU_AND_MEMORY, "what is balanced; every weight is 1", least=1, most=1,
    ),
)  # fmt: skip
AFFINITY = (Argument("addedAffinity", "affinity", text="applies to every pod beside its own node affinity"),)
SPREAD = (
    Argument(
        "defaultingType", "choice", "System", "System: ScheduleAnyway with maxSkew 3 over "
        "kubernetes.io/hostname and 5 over topology.kubernetes.io/zone; List: the constraints below",
        ("System", "List"),
    ),
    Argument(
        "defaultConstraints", "constraints", (), "for pods that define none and belong to a Service or "
        "controller", least=1, only={"defaultingType": "List"},
    ),
)  # fmt: skip
INTER_POD = (
    Argument(
        "hardPodAffinityWeight", "integer", 1, "0 to 100: what a required term of a pod that is there weighs",
        most=100,
    ),
    Argument(
        "ignorePreferredTermsOfExistingPods", "flag", False, "preferred terms of pods that are there do not "
        "count, unless the pod has terms of its own",
    ),
)  # fmt: skip
PREEMPTION = (
    Argument(
        "minCandidateNodesPercentage", "integer", 10, "0 to 100: the share of nodes that a dry run inspects "
        "at least", most=100,
    ),
    Argument("minCandidateNodesAbsolute", "integer", 100, "how many nodes a dry run inspects at least"),
)  # fmt: skip
BINDING = (
    Argument(
        "shape", "shape", ({"utilization": 0, "score": 10}, {"utilization": 100, "score": 0}),
        "the score at each utilization of a volume's storage capacity",
    ),
    Argument("bindTimeoutSeconds", "integer", 600, "no effect here, where volumes are bound at once"),
)  # fmt: skip
