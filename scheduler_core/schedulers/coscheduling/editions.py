"""The two editions of Coscheduling and their differences, as one table.

classic is scheduler-plugins v0.22.6 (late 2021), current its main branch of April 2026. Code whose behaviour
differs between the editions reads a column of this table; the PodGroup controller's rules are in
:mod:`scheduler_core.schedulers.coscheduling.controller`.
"""

from __future__ import annotations

from typing import Literal

from msgspec import Struct

PluginCode = Literal["Success", "Wait", "Unschedulable", "UnschedulableAndUnresolvable"]


class CoschedulingArgument(Struct, frozen=True):
    """A plugin argument: its name in pluginConfig, its default, and the range validation accepts."""

    name: str
    default: int
    low: int | None = None  # None: not validated
    high: int | None = None
    text: str = ""  # the validation error for a value out of range


class Edition(Struct, frozen=True):
    """A column of the table."""

    id: Literal["classic", "current"]
    implementation: str  # its name in conformance records
    kubernetes: str  # the release it is built against
    api_group: str
    pod_label: str
    arguments: tuple[CoschedulingArgument, ...]
    denies: bool  # groups that fail are denied for a while
    backs_off: bool  # podGroupBackoffSeconds
    counts_gated: bool  # PreFilter checks scheduling gates
    keeps_assigned: bool  # the plugin keeps a set of pod names; else members are counted in the snapshot
    failure_sorts: bool  # a failed group sorts by the time of its last failure
    wakes_siblings: Literal["each", "first"]  # which member that begins to wait activates its siblings
    pre_filter_code: PluginCode
    reject_percentage: int | None  # fixed; None: set by an argument
    post_bind: bool


CLASSIC = Edition(
    id="classic",
    implementation="v0.22.6",
    kubernetes="1.22",
    api_group="scheduling.sigs.k8s.io",
    pod_label="pod-group.scheduling.sigs.k8s.io",
    arguments=(
        CoschedulingArgument("permitWaitingTimeSeconds", 60),
        CoschedulingArgument("deniedPGExpirationTimeSeconds", 20),
    ),
    denies=True,
    backs_off=False,
    counts_gated=False,
    keeps_assigned=False,
    failure_sorts=False,
    wakes_siblings="each",
    pre_filter_code="Unschedulable",
    reject_percentage=10,
    post_bind=True,
)
CURRENT = Edition(
    id="current",
    implementation="main-2026-04",
    kubernetes="1.35",
    api_group="scheduling.x-k8s.io",
    pod_label="scheduling.x-k8s.io/pod-group",
    arguments=(
        CoschedulingArgument("permitWaitingTimeSeconds", 60, 0, None, "must be greater than 0"),
        CoschedulingArgument("podGroupBackoffSeconds", 0, 0, None, "must be greater than 0"),
        CoschedulingArgument("podGroupRejectPercentage", 10, 0, 100, "must be between 0 and 100"),
    ),
    denies=False,
    backs_off=True,
    counts_gated=True,
    keeps_assigned=True,
    failure_sorts=True,
    wakes_siblings="first",
    pre_filter_code="UnschedulableAndUnresolvable",
    reject_percentage=None,
    post_bind=False,
)
EDITIONS: dict[str, Edition] = {
    name: edition for edition in (CLASSIC, CURRENT) for name in (edition.id, edition.implementation)
}
"""Both editions, by their id and by the implementation name in conformance records."""
