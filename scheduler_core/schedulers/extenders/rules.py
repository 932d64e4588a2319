"""In what releases of kube-scheduler differ when they ask their extenders.

Source: v1.11's core.HTTPExtender and generic_scheduler.go; v1.37's pkg/scheduler/extender.go,
schedule_one.go and framework/preemption/preemption.go.
"""

from __future__ import annotations

from msgspec import Struct

MAX_EXTENDER_PRIORITY = 10
"""The highest score that an extender is asked for (extenderv1.MaxExtenderPriority)."""

_LARGEST = 2**63


def bounded(score: int, weight: int) -> int:
    """Return a score whose product with the weight is a 64-bit integer; what overflows is cut off.

    kube-scheduler's product wraps around.
    """
    most = (_LARGEST - 1) // max(1, weight)
    return max(-most, min(most, score))


class ExtenderRules(Struct, frozen=True):
    """One release's rules; the texts are of its errors, with fields to fill in."""

    release: str
    wrong_status: str
    late: str
    no_such_node: str
    only_asked: bool
    """Whether names that were not asked about are an error of an extender with a node cache."""
    unresolvable_first: bool
    """Whether a node that is failed in both ways counts as unresolvable."""
    budgets: bool
    """Whether the numbers of violated budgets in an answer to preempt count."""
    victims_needed: bool
    """Whether a node without victims is an error; of an ignorable extender the node is left out."""
    binder_ignorable: bool
    """Whether the error of an ignorable extender lets the scheduler bind itself."""
    rebuilt: str
    """What becomes of nodes that come back as objects, "" for nothing."""


V1_11_RULES = ExtenderRules(
    release="v1.11",
    wrong_status="Failed {path} with extender at URL {url}, code {code}",
    late="Post {url}: net/http: request canceled (Client.Timeout exceeded while awaiting headers)",
    no_such_node="extender: {extender} claims to preempt on node: {node} but the node is not found",
    only_asked=False,
    unresolvable_first=False,
    budgets=False,
    victims_needed=False,
    binder_ignorable=False,
    rebuilt="",
)
V1_37_RULES = ExtenderRules(
    release="v1.37",
    wrong_status="failed {path} with extender at URL {url}, code {code}",
    late='Post "{url}": context deadline exceeded (Client.Timeout exceeded while awaiting headers)',
    no_such_node='nodeinfo not found for node name "{node}"',
    only_asked=True,
    unresolvable_first=True,
    budgets=True,
    victims_needed=True,
    binder_ignorable=True,
    rebuilt="the nodes that it returned are scored as if no pod ran on them and they had no image "
    "(kubernetes/kubernetes#141781)",
)
