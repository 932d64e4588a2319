"""Inter-pod affinity and anti-affinity, in both directions."""

from __future__ import annotations

import numpy as np

from scheduler_core.cluster.podinfo import PodInfo, Term
from scheduler_core.cluster.pods import AffinityClass, PodQuery, PodState
from scheduler_core.cluster.reasons import Codes
from scheduler_core.cluster.topology import row_sums
from scheduler_core.cluster.view import Scope, View
from scheduler_core.cycle import BoolVector
from scheduler_core.predicates.base import FITS, Outcome, failing
from scheduler_core.quirks import quirk

GENERAL_REASON = "node(s) didn't match pod affinity/anti-affinity"
EXISTING_REASON = "node(s) didn't satisfy existing pods anti-affinity rules"
AFFINITY_REASON = "node(s) didn't match pod affinity rules"
ANTI_AFFINITY_REASON = "node(s) didn't match pod anti-affinity rules"


class MatchInterPodAffinity:
    """Existing pods' anti-affinity, then the pod's own affinity and anti-affinity; the first failure decides
    (predicates.PodAffinityChecker.InterPodAffinityMatches).
    """

    scope = Scope.CLUSTER

    def __call__(self, pod: PodInfo, view: View, state: PodState) -> Outcome:
        """Fail with the general reason and the one of the first check that fails."""
        failed: BoolVector | None = None
        codes: Codes | None = None
        for mask, reason in (
            (_refused_by_existing(view, state), EXISTING_REASON),
            (_affinity_unmet(pod, view), AFFINITY_REASON),
            (_anti_affinity_hit(pod, view), ANTI_AFFINITY_REASON),
        ):
            if mask is None:
                continue
            fresh = mask if failed is None else mask & ~failed
            codes = view.reasons.merge(codes, failing(fresh, view, GENERAL_REASON, reason).codes)
            failed = mask if failed is None else failed | mask
        return FITS if codes is None else Outcome(codes)


@quirk("last-anti-affinity-term")
def _refused_by_existing(view: View, state: PodState) -> BoolVector | None:
    """Where a pod with required anti-affinity refuses this one, by its last term's topology."""
    kind = state.kind
    by_key: dict[str, list[AffinityClass]] = {}
    for acting in view.cluster.index.acting_on(kind):
        terms = acting.terms.anti_required
        if not terms or not (acting.total or acting in view.changes.classes):
            continue
        if any(term.selects(kind.namespace, kind.labels) for term in terms):
            by_key.setdefault(terms[-1].topology_key, []).append(acting)
    refused: BoolVector | None = None
    for key, classes in by_key.items():
        domains = view.columns.topology((key,))
        sums = classes[0].sums(domains)
        for acting in classes[1:]:
            sums = sums + acting.sums(domains)
        here = row_sums(view, domains, sums, view.class_change(classes)) > 0
        refused = here if refused is None else refused | here
    return refused


def _affinity_unmet(pod: PodInfo, view: View) -> BoolVector | None:
    """Where no pod that matches all required terms shares all their topologies.

    If none matches in the whole cluster, a pod that matches its own terms may go anywhere.
    """
    terms = pod.terms.required
    if not terms:
        return None
    query = PodQuery.of_terms(terms)
    if not view.cluster.index.count(query).total and query.matches(pod.namespace, pod.labels):
        return None
    return ~_shares_topology(terms, query, view)


@quirk("anti-affinity-terms-anded")
def _anti_affinity_hit(pod: PodInfo, view: View) -> BoolVector | None:
    """Where a pod that matches all required anti-affinity terms shares all their topologies."""
    terms = pod.terms.anti_required
    return _shares_topology(terms, PodQuery.of_terms(terms), view) if terms else None


def _shares_topology(terms: tuple[Term, ...], query: PodQuery, view: View) -> BoolVector:
    keys = tuple(dict.fromkeys(term.topology_key for term in terms))
    domains = view.columns.topology(keys)
    sums = view.cluster.index.count(query).sums(domains)
    found = row_sums(view, domains, sums, view.query_change(query)) > 0
    return np.asarray(found, np.bool_)
